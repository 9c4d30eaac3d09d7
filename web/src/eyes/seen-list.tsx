import { useEffect, useRef } from 'react';
import { nameOf } from '../records/name-of.ts';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';
import { Output } from '../ui/output.tsx';
import type { Explanation, SeenRecord } from './explain.ts';

interface Props {
  name: string;
  explanation: Explanation;
  isBusy: boolean;
  onMore: (() => void) | undefined;
}

/** What the member sees, each record with the rules that say so. */
export function SeenList({ name, explanation: { seen, why }, isBusy, onMore }: Props) {
  const list = useRef<HTMLElement>(null);
  // The answer may lie below the window.
  useEffect(() => {
    if (seen.length > 0) list.current?.scrollIntoView({ block: 'nearest' });
  }, [seen]);
  return (
    <section ref={list} aria-label={`What ${name} sees`}>
      {why ? (
        <Notice kind="plain" key={why} takesFocus>
          <strong>{name} sees nothing here.</strong> {why}
        </Notice>
      ) : (
        <p role="status">
          {seen.length === 1 ? '1 record' : `${seen.length} records`}
          {onMore && ', and there are more'}
        </p>
      )}
      {seen.length > 0 && (
        <ul className="rows" aria-label="Records">
          {seen.map((one) => (
            <li className="row" key={`${one.resource.resourceType}/${one.resource.id}`}>
              <Seen seen={one} />
            </li>
          ))}
        </ul>
      )}
      {onMore && (
        <Button isPending={isBusy} onPress={onMore}>
          Show more
        </Button>
      )}
    </section>
  );
}

function Seen({ seen: { resource, hidden, rules } }: { seen: SeenRecord }) {
  return (
    <details className="record">
      <summary>
        <span className="row-title">{nameOf(resource)}</span>
        {rules.map((rule) => (
          <span className="row-more" key={rule}>
            {rule}
          </span>
        ))}
        {hidden.length > 0 && <span className="row-more">Hidden from them: {hidden.join(', ')}</span>}
      </summary>
      <Output label={nameOf(resource)} text={JSON.stringify(resource, undefined, 2)} />
    </details>
  );
}
