import type { Subscription } from '@medplum/fhirtypes';
import { useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { Badge, type BadgeKind } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { DeliveryList } from './delivery-list.tsx';
import { expressionOf, setStatus, whenOf } from './subscription.ts';

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
