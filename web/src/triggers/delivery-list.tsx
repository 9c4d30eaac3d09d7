import type { Subscription } from '@medplum/fhirtypes';
import { useCallback, useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import { Button } from '../ui/button.tsx';
import { Empty, Loading } from '../ui/loading.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { Select } from '../ui/select.tsx';
import { type Attempt, byDelivery, listAttempts } from './deliveries.ts';
import { DeliveryRow } from './delivery-row.tsx';
import { untilRedelivered } from './until-redelivered.ts';

const outcomes = [
  { value: '', label: 'All' },
  { value: 'failure', label: 'Failed' },
  { value: 'success', label: 'Delivered' },
  { value: 'unknown', label: 'Unknown' },
] as const;
type Outcome = (typeof outcomes)[number]['value'];

/** What a Subscription has delivered, newest first; any of it can be delivered again. */
export function DeliveryList({ subscription }: { subscription: Subscription }) {
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

interface Props {
  subscriptionId: string;
  first: Awaited<ReturnType<typeof listAttempts>>;
  onRedelivered(): void;
}

function Deliveries({ subscriptionId, first, onRedelivered }: Props) {
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
