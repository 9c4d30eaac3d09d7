import type { Subscription } from '@medplum/fhirtypes';
import { useState } from 'react';
import { useAction, useApi } from '../api/use-api.ts';
import { usePages } from '../api/use-pages.ts';
import {
  ActionButton,
  Badge,
  type BadgeKind,
  Button,
  counted,
  Failure,
  Moment,
  Notice,
} from '../ui/basics.tsx';
import { Select } from '../ui/fields.tsx';
import { PagedRows } from '../ui/lists.tsx';
import { ConfirmedButton } from '../ui/page.tsx';
import {
  type AttemptedDelivery,
  byDelivery,
  type DeliveryAttempt,
  expressionOf,
  listAttempts,
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
export function SubscriptionRow({ subscription: one }: { subscription: Subscription }) {
  const api = useApi();
  const [isOpen, setOpen] = useState(false);
  const [kind, word] = states[one.status];
  const isOff = one.status === 'off' || one.status === 'error';
  const path = `fhir/R4/Subscription/${one.id}`;
  const turn = useAction(() => {
    const patch = [{ op: 'replace', path: '/status', value: isOff ? 'active' : 'off' }];
    return api.change('PATCH', path, patch, one.meta?.versionId);
  });
  const expression = expressionOf(one);
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
      <Failure message={turn.message} />
      <div className="buttons">
        <ActionButton
          label={isOff ? `Turn on${one.status === 'error' ? ' again' : ''}` : 'Turn off'}
          action={turn}
        />
        <Button aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
          Deliveries
        </Button>
        <ConfirmedButton
          label="Delete"
          title="Delete this Subscription?"
          deed="Delete it for good"
          act={() => api.change('DELETE', path)}
        >
          <ul>
            <li>{one.criteria} no longer wakes this Bot.</li>
            <li>Deliveries that wait are dropped; its list of deliveries can no longer be seen.</li>
          </ul>
        </ConfirmedButton>
      </div>
      {isOpen && <DeliveryList id={one.id ?? ''} />}
    </article>
  );
}

const outcomes = { '': 'All', failure: 'Failed', success: 'Delivered', unknown: 'Unknown' };

function DeliveryList({ id }: { id: string }) {
  const api = useApi();
  const [outcome, setOutcome] = useState('');
  const pages = usePages(outcome, (asked) => listAttempts(api, id, { outcome, ...asked }));
  const [asked, setAsked] = useState<string>();
  const redeliver = useAction(async (last: DeliveryAttempt) => {
    setAsked(undefined);
    await api.send('POST', `fhir/R4/Subscription/${id}/$redeliver`, { delivery: last.delivery });
    setAsked(`${last.record} is being delivered again.`);
    await untilRedelivered(api, id, last);
    setAsked(undefined);
    pages.reload();
  });
  return (
    <div className="stack">
      <div className="filters">
        <Select label="Deliveries that" value={outcome} options={outcomes} onChange={setOutcome} />
        <Button className="filter-button" onPress={pages.reload} isPending={pages.isLoading}>
          Refresh
        </Button>
      </div>
      <PagedRows
        label="Deliveries"
        pages={{ ...pages, value: pages.value && byDelivery(pages.value) }}
        keyOf={(delivery) => delivery.id}
        empty="None"
        row={(delivery) => (
          <DeliveryRow delivery={delivery} isBusy={redeliver.isBusy} onRedeliver={redeliver.run} />
        )}
      />
      <Failure message={redeliver.message} />
      {asked && <Notice kind="good">{asked}</Notice>}
    </div>
  );
}

interface DeliveryRowProps {
  delivery: AttemptedDelivery;
  isBusy: boolean;
  onRedeliver(last: DeliveryAttempt): void;
}

const deeds: Readonly<Record<string, string>> = { create: 'created', update: 'changed', delete: 'deleted' };

function DeliveryRow({ delivery: { attempts }, isBusy, onRedeliver }: DeliveryRowProps) {
  const [last] = attempts;
  const title = `${last.record} ${deeds[last.interaction] ?? last.interaction}`;
  return (
    <>
      <details className="record">
        <summary>
          <span className="row-main">
            <span className="row-title">{title}</span>
            <span className="row-more">
              <Moment at={last.at} />, {counted(attempts.length, 'attempt')}
            </span>
          </span>
          <Badge kind={last.kind}>{last.outcome}</Badge>
        </summary>
        <ol className="attempts">
          {attempts.map(({ id, attempt, redelivery, outcome, durationMs, at }) => (
            <li key={id}>
              Attempt {attempt}
              {redelivery > 0 && `, begun anew ${redelivery === 1 ? 'once' : `${redelivery} times`}`}:{' '}
              {outcome}
              {durationMs !== undefined && `, ${durationMs} ms`}, <Moment at={at} />
            </li>
          ))}
        </ol>
      </details>
      <Button aria-label={`Deliver again: ${title}`} isPending={isBusy} onPress={() => onRedeliver(last)}>
        Deliver again
      </Button>
    </>
  );
}
