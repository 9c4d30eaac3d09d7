import type { Bot, Bundle, Subscription } from '@medplum/fhirtypes';
import { useState } from 'react';
import { resourcesIn } from '../api/fhir.ts';
import { type Api, useApi, useLoad, useReloading } from '../api/use-api.ts';
import { listExecutions } from '../bots/executions.tsx';
import { Button, Card, Empty, Loading, Notice } from '../ui/basics.tsx';
import { Select, TextField } from '../ui/fields.tsx';
import { Form, useForm } from '../ui/form.tsx';
import { ScheduleCard } from './schedule-card.tsx';
import { SubscriptionRow } from './subscription-row.tsx';
import { createSubscription, moments, type NewTrigger, subscriptionsOf } from './subscriptions.ts';

const startingMs = 3_000;

/** What wakes a Bot: changes of records, and the clock. */
export function TriggersTab({ bot }: { bot: Bot }) {
  const api = useApi();
  const id = bot.id ?? '';
  const loaded = useLoad(id, async (signal) => {
    const [now, subscriptions, { items }] = await Promise.all([
      api.get<Bot>(`fhir/R4/Bot/${id}`, signal),
      subscriptionsOf(api, id, signal),
      listExecutions(api, id, { signal, count: 1 }),
    ]);
    return { bot: now, subscriptions, stopped: stoppedSince(now, items[0]) };
  });
  const isStarting = loaded.value?.subscriptions.some(({ status }) => status === 'requested');
  useReloading(loaded, isStarting ? startingMs : undefined);
  return (
    <Loading of={loaded}>
      {({ stopped, ...found }) => (
        <>
          <Subscriptions {...found} />
          <ScheduleCard bot={found.bot} stopped={stopped} />
        </>
      )}
    </Loading>
  );
}

function Subscriptions({ bot, subscriptions }: { bot: Bot; subscriptions: readonly Subscription[] }) {
  const [isAdding, setAdding] = useState(false);
  const [done, setDone] = useState(false);
  return (
    <Card label="Subscriptions">
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
          }}
        />
      )}
      {done && <Notice kind="good">The Subscription is saved.</Notice>}
      {subscriptions.length === 0 && !isAdding && (
        <Empty
          title="No Subscriptions"
          hint="A Subscription wakes the Bot when a record is created, changed or deleted."
        />
      )}
      {subscriptions.map((one) => (
        <SubscriptionRow key={one.id} subscription={one} />
      ))}
    </Card>
  );
}

/** The last run says so; a Bot that was saved since has its schedule again. */
function stoppedSince(bot: Bot, last: { time: string; outcome: string } | undefined): string | undefined {
  const [, why] = /^schedule stopped: (.*)$/.exec(last?.outcome ?? '') ?? [];
  return last && why && last.time > (bot.meta?.lastUpdated ?? '') ? why : undefined;
}

function NewSubscription({ bot, onCreated }: { bot: Bot; onCreated(): void }) {
  const api = useApi();
  const [tried, setTried] = useState<Tried & { criteria: string }>();
  const begin: NewTrigger = { criteria: '', when: '', extension: '', reason: `Wakes ${bot.name ?? 'a Bot'}` };
  const form = useForm(begin, async (trigger) => {
    const { criteria } = trigger;
    if (tried?.criteria !== criteria) {
      setTried(undefined);
      return setTried({ ...(await tryCriteria(api, criteria)), criteria });
    }
    await createSubscription(api, bot, trigger);
    onCreated();
  });
  const { criteria, extension } = form.values;
  const isTried = tried?.criteria === criteria;
  return (
    <Form
      label="New Subscription"
      action={form}
      submit={isTried ? 'Save the Subscription' : 'Try it on existing records'}
    >
      <TextField label="Records" isCode {...form.field('criteria')} isRequired>
        A search of one type, as Observation?code=1234-5&status=final, or the type alone.
      </TextField>
      <div className="form-pair">
        <Select label="When one is" options={moments} {...form.field('when')} />
        <TextField label="Reason" {...form.field('reason')} isRequired />
      </div>
      <TextField label="And only if (FHIRPath)" isCode {...form.field('extension')}>
        Optional. %previous is the record before the change, %current the record after it.
      </TextField>
      {tried && isTried && <TriedText tried={tried} hasExpression={extension !== ''} />}
    </Form>
  );
}

function TriedText({ tried, hasExpression }: { tried: Tried; hasExpression: boolean }) {
  const { type, checked, matched } = tried;
  const sentence =
    checked === 0
      ? `There is no ${type} yet, so nothing could be tried.`
      : `It would have matched ${matched} of the last ${checked} records of type ${type}.`;
  return (
    <Notice kind="good">
      <p>
        {sentence} {hasExpression && 'The FHIRPath was not tried: it looks at changes, not at records. '}
        Once saved, it takes effect after about ten seconds.
      </p>
    </Notice>
  );
}

type Tried = Awaited<ReturnType<typeof tryCriteria>>;

const latestCount = 100;

/**
 * Two searches: the records changed last, and those of them that the criteria match, found by the code that
 * matches a change.
 * @throws what the service says of the criteria
 */
async function tryCriteria(api: Api, criteria: string) {
  const [type = '', query = ''] = criteria.trim().split(/\?(.*)/s);
  if (!/^[A-Z][A-Za-z]+$/.test(type)) throw new Error('Begin with a type of record, as Patient?active=true.');
  const look = async (more: string) => {
    const paging = `_sort=-_lastUpdated&_count=${latestCount}&_elements=id,meta`;
    const path = `fhir/R4/${type}?${more}${paging}`;
    return resourcesIn(await api.get<Bundle>(path));
  };
  const latest = await look('');
  const oldest = latest.at(-1)?.meta?.lastUpdated;
  if (oldest === undefined) return { type, checked: 0, matched: 0 };
  const matching = query === '' ? latest : await look(`${query}&_lastUpdated=ge${oldest}&`);
  const ids = new Set(latest.map(({ id }) => id));
  return { type, checked: latest.length, matched: matching.filter(({ id }) => ids.has(id)).length };
}
