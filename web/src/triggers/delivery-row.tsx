import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Moment } from '../ui/moment.tsx';
import type { Attempt, Delivery } from './deliveries.ts';

interface Props {
  delivery: Delivery;
  isBusy: boolean;
  onRedeliver(last: Attempt): void;
}

const deeds: Readonly<Record<string, string>> = { create: 'created', update: 'changed', delete: 'deleted' };

/** A delivery, how it ended, and each attempt. */
export function DeliveryRow({ delivery: { attempts }, isBusy, onRedeliver }: Props) {
  const [last] = attempts;
  const count = attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`;
  return (
    <>
      <details className="record">
        <summary>
          <span className="row-main">
            <span className="row-title">
              {last.record} {deeds[last.interaction] ?? last.interaction}
            </span>
            <span className="row-more">
              <Moment at={last.at} />, {count}
            </span>
          </span>
          <Badge kind={last.kind}>{last.outcome}</Badge>
        </summary>
        <ol className="attempts">
          {attempts.map((attempt) => (
            <li key={attempt.id}>
              <AttemptLine attempt={attempt} />
            </li>
          ))}
        </ol>
      </details>
      <Button
        aria-label={`Deliver again: ${last.record} ${deeds[last.interaction] ?? last.interaction}`}
        isPending={isBusy}
        onPress={() => onRedeliver(last)}
      >
        Deliver again
      </Button>
    </>
  );
}

function AttemptLine({ attempt: one }: { attempt: Attempt }) {
  return (
    <>
      Attempt {one.attempt}
      {one.redelivery > 0 && `, begun anew ${one.redelivery === 1 ? 'once' : `${one.redelivery} times`}`}:{' '}
      {one.outcome}
      {one.durationMs !== undefined && `, ${one.durationMs} ms`}, <Moment at={one.at} />
    </>
  );
}
