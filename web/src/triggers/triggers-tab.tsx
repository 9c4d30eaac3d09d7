import type { Bot, Bundle, Resource, Subscription } from '@medplum/fhirtypes';
import { useCallback, useEffect, useState } from 'react';
import { typedEntries } from '../../../shared/base/values.ts';
import { type Api, useAction, useApi, useLoad } from '../api/use-api.ts';
import { listExecutions } from '../executions/executions.ts';
import { Button, Empty, Failure, Loading, Notice } from '../ui/basics.tsx';
import { Select, TextField } from '../ui/fields.tsx';
import { Form } from '../ui/form.tsx';
import { ScheduleCard } from './schedule-card.tsx';
import { SubscriptionRow } from './subscription-row.tsx';
import { createSubscription, moments, subscriptionsOf, type When } from './subscriptions.ts';

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

const whens = typedEntries(moments).map(([value, label]) => ({ value, label }));

/** A new Subscription: what it would have matched is said before it is saved. */
function NewSubscription({ bot, onCreated }: { bot: Bot; onCreated(): void }) {
  const api = useApi();
  const [criteria, setCriteria] = useState('');
  const [when, setWhen] = useState<When>('');
  const [expression, setExpression] = useState('');
  const [reason, setReason] = useState(`Wakes ${bot.name ?? 'a Bot'}`);
  const [tried, setTried] = useState<Tried & { criteria: string }>();
  const isTried = tried !== undefined && tried.criteria === criteria;
  const attempt = useAction(async () => {
    setTried(undefined);
    setTried({ ...(await tryCriteria(api, criteria)), criteria });
  });
  const save = useAction(async () => {
    await createSubscription(api, bot, { criteria: criteria.trim(), when, expression, reason });
    onCreated();
  }, ['criteria', 'reason', 'extension']);
  return (
    <Form
      label="New Subscription"
      fieldErrors={save.fieldErrors}
      onSubmit={() => (isTried ? save.run() : attempt.run())}
    >
      <TextField
        label="Records"
        name="criteria"
        help="A search of one type, as Observation?code=1234-5&status=final, or the type alone."
        isCode
        spellCheck="false"
        autoComplete="off"
        value={criteria}
        onChange={setCriteria}
        isRequired
      />
      <div className="form-pair">
        <Select label="When one is" value={when} options={whens} onChange={setWhen} />
        <TextField label="Reason" name="reason" value={reason} onChange={setReason} isRequired />
      </div>
      <TextField
        label="And only if (FHIRPath)"
        name="extension"
        help="Optional. %previous is the record before the change, %current the record after it."
        isCode
        spellCheck="false"
        autoComplete="off"
        value={expression}
        onChange={setExpression}
      />
      <Failure message={attempt.message ?? save.message} />
      {isTried && <TriedText tried={tried} hasExpression={expression !== ''} />}
      <div className="buttons">
        <Button type="submit" kind="primary" isPending={attempt.isBusy || save.isBusy}>
          {isTried ? 'Save the Subscription' : 'Try it on existing records'}
        </Button>
      </div>
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

/** How many of the latest records of its type criteria would have matched. */
interface Tried {
  type: string;
  checked: number;
  matched: number;
}

const latestCount = 100;

/**
 * Two searches: the records changed last, and those of them that the criteria match, found by the code that
 * matches a change.
 * @throws what the service says of the criteria
 */
async function tryCriteria(api: Api, criteria: string): Promise<Tried> {
  const [type = '', query = ''] = criteria.trim().split(/\?(.*)/s);
  if (!/^[A-Z][A-Za-z]+$/.test(type)) throw new Error('Begin with a type of record, as Patient?active=true.');
  const look = async (more: string) => {
    const paging = `_sort=-_lastUpdated&_count=${latestCount}&_elements=id,meta`;
    const path = `fhir/R4/${type}?${more}${paging}`;
    return ((await api.get<Bundle>(path)).entry ?? []).flatMap(({ resource }) => resource ?? []);
  };
  const latest = await look('');
  const oldest = latest.at(-1)?.meta?.lastUpdated;
  if (oldest === undefined) return { type, checked: 0, matched: 0 };
  const matching = query === '' ? latest : await look(`${query}&_lastUpdated=ge${oldest}&`);
  const ids = new Set(latest.map(idOf));
  return { type, checked: latest.length, matched: matching.filter((one) => ids.has(idOf(one))).length };
}

function idOf({ id }: Resource): string | undefined {
  return id;
}
