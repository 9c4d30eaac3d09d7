import { TextWithPlaces } from '../workbench/places.tsx';
import type { RunLog } from './executions.ts';

const time = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** What a run wrote on its console. */
export function LogView({ log }: { log: RunLog | 'waiting' | 'missing' }) {
  if (log === 'waiting') return <p className="muted">Waiting for the record…</p>;
  if (log === 'missing') return <p className="muted">The record is not there yet: see Executions.</p>;
  if (log.entries.length === 0) return <p className="muted">Nothing was logged.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className="output log" tabIndex={0} aria-label="Log">
      <ol>
        {log.entries.map(({ at, level, text }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines of a log that is complete
          <li key={index} className={`log-${level}`}>
            <time dateTime={at}>{time.format(new Date(at))}</time>{' '}
            <code>
              <TextWithPlaces text={text} />
            </code>
          </li>
        ))}
      </ol>
      {log.isTruncated && <p className="muted">The rest was cut off.</p>}
    </section>
  );
}
