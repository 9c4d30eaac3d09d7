import { createContext, type ReactNode, useContext } from 'react';
import { Button } from 'react-aria-components';
import { Scrolling } from '../ui/basics.tsx';

/** Leads to a line and column of the code; both count from 1. */
export type GoTo = (line: number, column: number) => void;

/** Of the editor beside, with the name of its file; nothing where there is none. */
export const CodePlaces = createContext<{ filename: string; goTo: GoTo } | undefined>(undefined);

const placed = /([\w.-]+\.[cm]?[jt]s):(\d+)(?::(\d+))?|\(line (\d+)(?:, column (\d+))?\)/g;

/** A text in which places of the code beside lead there. */
export function TextWithPlaces({ text }: { text: string }) {
  const places = useContext(CodePlaces);
  if (!places) return <>{text}</>;
  const parts: ReactNode[] = [];
  let from = 0;
  for (const found of text.matchAll(placed)) {
    const [whole, file, line = found[4], column = found[5] ?? '1'] = found;
    if (file !== undefined && file !== places.filename) continue;
    parts.push(<span key={`t${from}`}>{text.slice(from, found.index)}</span>);
    from = found.index + whole.length;
    parts.push(
      <Button key={from} className="link place" onPress={() => places.goTo(Number(line), Number(column))}>
        {whole}
      </Button>,
    );
  }
  return (
    <>
      {parts}
      {text.slice(from)}
    </>
  );
}

export interface RunLog {
  entries: { at: string; level: string; text: string }[];
  isTruncated: boolean;
}

const time = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** What a run wrote on its console. */
export function LogView({ log }: { log: RunLog | 'waiting' | 'missing' }) {
  if (log === 'waiting') return <p className="muted">Waiting for the record…</p>;
  if (log === 'missing') return <p className="muted">The record is not there yet: see Executions.</p>;
  if (log.entries.length === 0) return <p className="muted">Nothing was logged.</p>;
  return (
    <Scrolling label="Log" className="output log">
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
    </Scrolling>
  );
}
