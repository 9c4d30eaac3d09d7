import type { Subscription } from '@medplum/fhirtypes';
import { useCallback, useState } from 'react';
import { useAction, useApi, useLoad } from '../api/use-api.ts';
import { Badge, type BadgeKind, Button, Empty, Failure, Loading, Moment, Notice } from '../ui/basics.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Select } from '../ui/fields.tsx';
import {
  type Attempt,
  byDelivery,
  type Delivery,
  expressionOf,
  listAttempts,
  setStatus,
  untilRedelivered,
  whenOf,
} from './subscriptions.ts';

const states: Readonly<Record<Subscription['status'], readonly [BadgeKind, string]>> = {
  requested: ['waiting', 'Starting'],
  active: ['good', 'On'],
  error: ['bad', 'Error'],
  off: ['plain', 'Off'],
};

/** A Subscription in words, with its switch, its error and its deliveries. */
export function SubscriptionRow({
  subscription: one,
  onChange,
}: {
  subscription: Subscription;
  onChange(): void;
}) {
  const api = useApi();
  const [isOpen, setOpen] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const [kind, word] = states[one.status];
  const change = useAction(async (status: 'active' | 'off') => {
    await setStatus(api, one, status);
    onChange();
  });
  const remove = useAction(async () => {
    await api.fetch(`fhir/R4/Subscription/${one.id}`, { method: 'DELETE' });
    setAsking(false);
    onChange();
  });
  const expression = expressionOf(one);
  const isOff = one.status === 'off' || one.status === 'error';
  return (
    <article className="trigger" aria-label={one.criteria}>
      <div className="card-head">
        <div className="row-main">
          <h3 className="row-title">{whenOf(one)}</h3>
          <code>{one.criteria}</code>
          {expression && (
            <span className="row-more">
              only if <code>{expression}</code>
            </span>
          )}
          <span className="row-more">{one.reason}</span>
        </div>
        <Badge kind={kind}>{word}</Badge>
      </div>
      {one.status === 'error' && (
        <Notice kind="bad">
          {one.error ?? 'Its deliveries failed.'} Turned on again, it delivers what has waited since; what
          failed is delivered again below.
        </Notice>
      )}
      <Failure message={change.message} />
      <div className="buttons">
        {isOff ? (
          <Button isPending={change.isBusy} onPress={() => change.run('active')}>
            Turn on{one.status === 'error' ? ' again' : ''}
          </Button>
        ) : (
          <Button isPending={change.isBusy} onPress={() => change.run('off')}>
            Turn off
          </Button>
        )}
        <Button aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
          Deliveries
        </Button>
        <Button kind="danger" onPress={() => setAsking(true)}>
          Delete
        </Button>
      </div>
      {isOpen && <DeliveryList subscription={one} />}
      <Confirm
        isOpen={isAsking}
        title="Delete this Subscription?"
        deed="Delete it for good"
        isBusy={remove.isBusy}
        message={remove.message}
        onConfirm={() => remove.run()}
        onClose={() => {
          setAsking(false);
          remove.clear();
        }}
      >
        <ul>
          <li>{one.criteria} no longer wakes this Bot.</li>
          <li>Deliveries that wait are dropped; its list of deliveries can no longer be seen.</li>
        </ul>
      </Confirm>
    </article>
  );
}

const outcomes = [
  { value: '', label: 'All' },
  { value: 'failure', label: 'Failed' },
  { value: 'success', label: 'Delivered' },
  { value: 'unknown', label: 'Unknown' },
] as const;
type Outcome = (typeof outcomes)[number]['value'];

/** What a Subscription has delivered, newest first; any of it can be delivered again. */
function DeliveryList({ subscription }: { subscription: Subscription }) {
  const api = useApi();
  const id = subscription.id ?? '';
  const [outcome, setOutcome] = useState<Outcome>('');
  const load = useCallback(
    (signal: AbortSignal) => listAttempts(api, id, { outcome, signal }),
    [api, id, outcome],
  );
  const loaded = useLoad(load);
  return (
    <div className="stack">
      <div className="filters">
        <Select label="Deliveries that" value={outcome} options={outcomes} onChange={setOutcome} />
        <Button className="filter-button" onPress={loaded.reload} isPending={loaded.state === 'loading'}>
          Refresh
        </Button>
      </div>
      <Loading of={loaded}>
        {(first) =>
          first.attempts.length === 0 ? (
            <Empty title="None" />
          ) : (
            <Deliveries
              key={`${outcome} ${first.attempts[0]?.id}`}
              subscriptionId={id}
              first={first}
              onRedelivered={loaded.reload}
            />
          )
        }
      </Loading>
    </div>
  );
}

interface DeliveryListProps {
  subscriptionId: string;
  first: Awaited<ReturnType<typeof listAttempts>>;
  onRedelivered(): void;
}

function Deliveries({ subscriptionId, first, onRedelivered }: DeliveryListProps) {
  const api = useApi();
  const [{ attempts, next }, setListed] = useState(first);
  const more = useAction(async () => {
    if (next === undefined) return;
    const page = await listAttempts(api, subscriptionId, { from: next });
    setListed({ attempts: [...attempts, ...page.attempts], next: page.next });
  });
  const [asked, setAsked] = useState<string>();
  const redeliver = useAction(async (last: Attempt) => {
    setAsked(undefined);
    await api.send('POST', `fhir/R4/Subscription/${subscriptionId}/$redeliver`, { delivery: last.delivery });
    setAsked(`${last.record} is being delivered again.`);
    await untilRedelivered(api, subscriptionId, last);
    onRedelivered();
  });
  return (
    <>
      <ul className="rows" aria-label="Deliveries">
        {byDelivery(attempts).map((delivery) => (
          <li className="row" key={delivery.id}>
            <DeliveryRow delivery={delivery} isBusy={redeliver.isBusy} onRedeliver={redeliver.run} />
          </li>
        ))}
      </ul>
      <Failure message={redeliver.message ?? more.message} />
      {asked && <Notice kind="good">{asked}</Notice>}
      {next !== undefined && (
        <div>
          <Button onPress={() => more.run()} isPending={more.isBusy}>
            Show more
          </Button>
        </div>
      )}
    </>
  );
}

interface DeliveryRowProps {
  delivery: Delivery;
  isBusy: boolean;
  onRedeliver(last: Attempt): void;
}

const deeds: Readonly<Record<string, string>> = { create: 'created', update: 'changed', delete: 'deleted' };

/** A delivery, how it ended, and each attempt. */
function DeliveryRow({ delivery: { attempts }, isBusy, onRedeliver }: DeliveryRowProps) {
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
