import { randomUUID } from 'node:crypto';
import type { Context, ScheduledEvent, SQSEvent } from 'aws-lambda';
import { type FunctionName, routes } from '../../../functions/routes.ts';
import type { QueueConsumer } from '../../../infra/deployed-functions.ts';
import { lambdaContext } from '../../../infra/local/context.ts';
import { sampleEvents } from '../../../infra/local/invoke.ts';
import { simulatedEvents } from '../../../infra/local/services/mailbox.ts';
import { type DeployedFunction, permissions } from '../../../infra/permissions.ts';
import { sqsQueue } from '../../../shared/aws/sqs.ts';
import { typedKeys } from '../../../shared/base/values.ts';
import { keys } from '../../../shared/carry/table/keys.ts';
import { openTable } from '../../../shared/carry/table/table.ts';
import type { Purpose } from '../../../shared/carry/work/queue.ts';
import { queueVariables } from '../../../shared/composition/queues.ts';
import type { ReindexProgress } from '../../../shared/store/items/reindex.ts';
import type { ExampleGround } from '../../spec/calling-routes.ts';
import { execute } from '../../spec/running.ts';
import { newAddress } from '../../spec/signing-in.ts';
import { newSubscription, put, secret } from '../../spec/subscribing.ts';
import { batchOf } from './batch.ts';
import { exportedId } from './exporting.ts';
import { carriedOut, dispatcher, followUp, sentBy, taken, writesOf } from './follow-up.ts';
import { provisionSubjects } from './provision-subjects.ts';
import type { StillStack } from './still-stack.ts';
import type { Said, Subject } from './trial.ts';

type Prepare = () => Promise<() => Promise<Said>>;
type Labelled = Record<string, Prepare | Omit<Subject, 'name'>>;

/** What no route calls: the stream, queues, schedules and operators do. */
type Called = Exclude<DeployedFunction, FunctionName>;

export const otherFunctions = typedKeys(permissions).filter((name) => !(name in routes));

const schedule = { source: 'aws.events', 'detail-type': 'Scheduled Event' } as ScheduledEvent;
/** Longer than any claim, lease or pause before the next attempt. */
const againAfterMs = 15 * 60_000;

/** More than go into one transaction. */
function codes(word: string) {
  const concept = Array.from({ length: 120 }, (_, n) => ({ code: `${word}-${n}` }));
  return { resourceType: 'CodeSystem', status: 'active', content: 'complete', concept };
}

export function functionSubjects(stack: StillStack, ground: ExampleGround): Subject[] {
  const { portico, bot } = ground;
  const project = String(portico.projects[0]?.id);

  const consumer = (name: QueueConsumer, event: () => Promise<SQSEvent>): Omit<Subject, 'name'> => ({
    againAfterMs,
    async prepare() {
      const given = await event();
      return async () => taken((await stack.load(name))(given));
    },
  });
  /** A schedule calls, and what its consumer has given up lies there. */
  const swept = (name: QueueConsumer, purpose: Purpose, before: () => Promise<SQSEvent | undefined>) => ({
    againAfterMs,
    isRepeated: true,
    async prepare() {
      const givenUp = (await before())?.Records.map(({ body }) => ({ body: JSON.parse(body) })) ?? [];
      await sqsQueue(String(stack.queues[queueVariables(purpose).deadLetters])).send(givenUp);
      return async () => carriedOut(async () => (await stack.load(name))(schedule));
    },
  });

  const patient = () => put(portico, { resourceType: 'Patient', gender: 'other' });
  const invite = (email = newAddress()) => {
    const body = { resourceType: 'Practitioner', firstName: 'Ann', lastName: 'Lee', email };
    return portico.api('POST', `admin/projects/${project}/invite`, { body });
  };
  /** An endpoint is told with a signature. */
  const save = (endpoint: string) => {
    const signed = endpoint === stack.hookUrl ? { extension: [secret('a key to sign with')] } : {};
    return put(portico, newSubscription(endpoint, 'Patient', signed));
  };
  const saved = (endpoint = stack.hookUrl) => followUp(stack, 'subscription-status', () => save(endpoint));
  /** A Subscription that is on. */
  async function subscribe(endpoint: string): Promise<void> {
    await (await stack.load('subscription-status'))(await saved(endpoint));
  }
  async function candidate(endpoint = stack.hookUrl): Promise<SQSEvent> {
    await subscribe(endpoint);
    return followUp(stack, 'subscriptions', patient);
  }
  async function delivery(endpoint = stack.hookUrl): Promise<SQSEvent> {
    const event = await candidate(endpoint);
    return sentBy(stack, 'deliveries', async () => (await stack.load('match'))(event));
  }
  /** A change of more index items than go into one transaction. */
  async function changed(): Promise<SQSEvent> {
    const body = await put(portico, codes('code'));
    return followUp(stack, 'index-upkeep', () => put(portico, { ...codes('other'), id: body.id }));
  }
  /** A write of several steps of which nobody did the rest. */
  const cutOff = async (): Promise<undefined> => {
    const create = () => put(portico, codes('code'));
    await stack.ways.during({ n: 4, kind: 'does not arrive, nor anything after it' }, create);
  };
  async function begun(): Promise<SQSEvent> {
    await patient();
    return followUp(stack, 'exports', () => exportedId(portico));
  }
  async function due(): Promise<void> {
    const { json } = await portico.api('GET', `fhir/R4/Bot/${bot}`);
    await put(portico, { ...json, cronString: '* * * * *' });
  }

  const subjects: Record<Called, Labelled> = {
    dispatch: {
      'of an invitation, a Subscription and a record': async () => {
        await subscribe(stack.hookUrl);
        const writes = await writesOf(stack, async () => {
          await invite();
          await patient();
          await save(stack.hookUrl);
        });
        return async () => {
          const from = await dispatcher()(writes);
          return from === undefined
            ? { status: 200, text: '' }
            : { status: 503, text: `from ${from}`, isLater: true };
        };
      },
    },
    outbox: {
      'a mail': consumer('outbox', () => followUp(stack, 'mail', invite)),
      sweep: swept('outbox', 'mail', () => followUp(stack, 'mail', invite)),
      'a bounce': async () => {
        const to = `bounce+${randomUUID()}@simulator.amazonses.com`;
        const { json } = await invite(to);
        const tags = { project, membership: json.id, generation: '1' };
        const [event] = simulatedEvents({ id: '1', to: [to], tags } as never);
        return async () => carriedOut(async () => event && (await stack.load('outbox'))(event));
      },
      'a complaint': async () => {
        const to = `complaint+${randomUUID()}@simulator.amazonses.com`;
        const { json } = await invite(to);
        const tags = { project, membership: json.id, generation: '1' };
        const [event] = simulatedEvents({ id: '1', to: [to], tags } as never);
        return async () => carriedOut(async () => event && (await stack.load('outbox'))(event));
      },
    },
    'index-upkeep': {
      'a change': consumer('index-upkeep', changed),
      sweep: { ...swept('index-upkeep', 'index-upkeep', cutOff), afterMs: againAfterMs },
    },
    audit: {
      'an entry': consumer('audit', () => followUp(stack, 'audit', invite)),
      sweep: swept('audit', 'audit', () => followUp(stack, 'audit', invite)),
    },
    match: {
      'a record': consumer('match', candidate),
      sweep: swept('match', 'subscriptions', candidate),
    },
    'subscription-status': {
      'a new one': consumer('subscription-status', saved),
      'one that has failed': consumer('subscription-status', async () => {
        await subscribe(stack.hookUrl);
        const { json } = await portico.api('GET', 'fhir/R4/Subscription?_sort=-_lastUpdated&_count=1');
        const { id } = json.entry[0].resource;
        return batchOf([JSON.stringify({ project, id, failed: 'It did not answer' })]);
      }),
      sweep: swept('subscription-status', 'subscription-status', saved),
    },
    bus: {
      'an event': consumer('bus', () => followUp(stack, 'bus', invite)),
      sweep: swept('bus', 'bus', () => followUp(stack, 'bus', invite)),
    },
    deliver: {
      'to a hook': consumer('deliver', delivery),
      'to a Bot': consumer('deliver', () => delivery(`Bot/${bot}`)),
      sweep: swept('deliver', 'deliveries', delivery),
    },
    export: {
      'of a Project': consumer('export', begun),
      sweep: swept('export', 'exports', begun),
    },
    tick: {
      'a Bot that is due': {
        isRepeated: true,
        afterMs: 2 * 60_000,
        async prepare() {
          await due();
          return () => carriedOut(async () => (await stack.load('tick'))(schedule));
        },
      },
    },
    jobs: {
      'a run that nobody waits for': {
        isOnce: true,
        async prepare() {
          await execute(portico, bot, 'x', 'text/plain', { headers: { prefer: 'respond-async' } });
          const event = stack.jobs.at(-1);
          if (!event) throw new Error('No job was started');
          return () => carriedOut(async () => (await stack.load('jobs'))(event));
        },
      },
    },
    provision: provisionSubjects(stack, portico),
    reindex: {
      'all again': {
        againAfterMs,
        async prepare() {
          await (await stack.load('reindex'))({});
          type Reindex = (event: { again: boolean }, at: Context) => Promise<ReindexProgress>;
          const reindex = async () => (await stack.load('reindex')) as Reindex;
          return () =>
            carriedOut(async () => {
              const context = lambdaContext('portico-reindex', 60_000);
              const progress = await (await reindex())({ again: true }, context);
              if (!progress.done) throw new Error('It is to be called until it is done');
            });
        },
      },
    },
    'stage-keys': {
      'ensure, where two are not there': async () => {
        const table = openTable(stack.client, stack.tableName, Date.now);
        await table.write([], [keys.stageKey('drafts'), keys.stageKey('totp')]);
        stack.ways.noteWrite();
        return () => carriedOut(async () => (await stack.load('stage-keys'))({ ensure: true }));
      },
      prepare: async () => {
        const event = { purpose: 'drafts', step: 'prepare' } as const;
        return () => carriedOut(async () => (await stack.load('stage-keys'))(event));
      },
    },
    canary: { 'a look': async () => () => carriedOut(async () => (await stack.load('canary'))(schedule)) },
    'access-records': {
      'no lines': async () => {
        const event = (await sampleEvents['access-records']({} as never)) as never;
        return () => carriedOut(async () => (await stack.load('access-records'))(event));
      },
    },
  };
  return Object.entries(subjects).flatMap(([name, labelled]) =>
    Object.entries(labelled).map(
      ([label, one]): Subject => ({
        name: `${name}: ${label}`,
        ...(typeof one === 'function' ? { prepare: one } : one),
      }),
    ),
  );
}
