import type { Bot, Subscription } from '@medplum/fhirtypes';
import { useCallback, useEffect, useState } from 'react';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import { listExecutions } from '../executions/executions.ts';
import { Button } from '../ui/button.tsx';
import { Empty, Loading } from '../ui/loading.tsx';
import { Notice } from '../ui/notice.tsx';
import { NewSubscription } from './new-subscription.tsx';
import { ScheduleCard } from './schedule-card.tsx';
import { subscriptionsOf } from './subscription.ts';
import { SubscriptionRow } from './subscription-row.tsx';

/** How often it is asked whether a Subscription has begun. */
const startingMs = 3_000;

/** What wakes a Bot: changes of records, and the clock. */
export function TriggersTab({ bot }: { bot: Bot }) {
  const api = useApi();
  const id = bot.id ?? '';
  const load = useCallback(
    async (signal: AbortSignal) => {
      const [now, subscriptions, { executions }] = await Promise.all([
        api.get<Bot>(`fhir/R4/Bot/${id}`, signal),
        subscriptionsOf(api, id, signal),
        listExecutions(api, id, { signal, count: 1 }),
      ]);
      return { bot: now, subscriptions, stopped: stoppedSince(now, executions[0]) };
    },
    [api, id],
  );
  const loaded = useLoad(load);
  const isStarting = loaded.value?.subscriptions.some(({ status }) => status === 'requested') ?? false;
  const { reload, state } = loaded;
  useEffect(() => {
    if (!isStarting || state === 'loading') return;
    const timer = setTimeout(reload, startingMs);
    return () => clearTimeout(timer);
  }, [isStarting, state, reload]);
  return (
    <Loading of={loaded}>
      {(value) => (
        <>
          <Subscriptions bot={value.bot} subscriptions={value.subscriptions} onChange={reload} />
          <ScheduleCard bot={value.bot} stopped={value.stopped} onChange={reload} />
        </>
      )}
    </Loading>
  );
}

interface Props {
  bot: Bot;
  subscriptions: readonly Subscription[];
  onChange(): void;
}

function Subscriptions({ bot, subscriptions, onChange }: Props) {
  const [isAdding, setAdding] = useState(false);
  const [done, setDone] = useState(false);
  return (
    <section className="card" aria-label="Subscriptions">
      <div className="card-head">
        <h2>Subscriptions</h2>
        <Button
          aria-expanded={isAdding}
          onPress={() => {
            setDone(false);
            setAdding(!isAdding);
          }}
        >
          {isAdding ? 'Close' : 'Add a Subscription'}
        </Button>
      </div>
      {isAdding && (
        <NewSubscription
          bot={bot}
          onCreated={() => {
            setAdding(false);
            setDone(true);
            onChange();
          }}
        />
      )}
      {done && <Notice kind="good">The Subscription is saved.</Notice>}
      {subscriptions.length === 0 && !isAdding && (
        <Empty title="No Subscriptions">
          <p>A Subscription wakes the Bot when a record is created, changed or deleted.</p>
        </Empty>
      )}
      {subscriptions.map((one) => (
        <SubscriptionRow key={one.id} subscription={one} onChange={onChange} />
      ))}
    </section>
  );
}

/** The last run says so; a Bot that was saved since has its schedule again. */
function stoppedSince(bot: Bot, last: { time: string; outcome: string } | undefined): string | undefined {
  const [, why] = /^schedule stopped: (.*)$/.exec(last?.outcome ?? '') ?? [];
  return last && why && last.time > (bot.meta?.lastUpdated ?? '') ? why : undefined;
}
