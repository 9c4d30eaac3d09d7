import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createBot } from '../../shared/bots/bot/create-bot.ts';
import { deployBot } from '../../shared/bots/bot/deploy-bot.ts';
import type { Accepted } from '../../shared/bots/run/claim.ts';
import type { RunRequest } from '../../shared/bots/run/contract.ts';
import { executeBot } from '../../shared/bots/run/execute.ts';
import { runJob } from '../../shared/bots/run/run-job.ts';
import {
  type DeployServices,
  type ExecuteServices,
  emptyBotMemory,
  type Invoked,
  type JobEvent,
} from '../../shared/bots/run/services.ts';
import { fileDataKeys } from '../../shared/carry/keys/data-keys.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import { type Caller, callerOf } from '../../shared/identity/gate/access-token.ts';
import { createClient } from '../../shared/identity/memberships/clients.ts';
import { endLogin } from '../../shared/identity/sign-in/logins.ts';
import { cancelJob, readJob } from '../../shared/records/read/read-job.ts';
import { updateActions } from '../../shared/store/items/change.ts';
import { disturbed, faults } from '../faults/inject.ts';
import { ringOf } from '../setup/key-rings.ts';
import { getItem, newProject, newResource, type Stage, startStage } from './stage.ts';
import { storedResource } from './stored.ts';

const minute = 60_000;

let stage: Stage;
let services: ExecuteServices & DeployServices;
let caller: Caller<'administrator'>;
let botId: string;
/** Events that wait for the jobs function. */
let events: JobEvent[];
let runs: RunRequest[] = [];
let next: (() => Promise<Invoked>) | undefined;
let starts: 'started' | 'refused' | 'fault';

beforeAll(async () => {
  stage = await startStage();
  services = {
    ...stage.services,
    runTokenKeys: ringOf(Buffer.alloc(32, 1)),
    dataKeys: async () => fileDataKeys(Buffer.alloc(32, 2)),
    botMemory: emptyBotMemory(),
    jobs: {
      async start(event) {
        if (starts === 'fault') throw new Error('the function is not there');
        if (starts === 'started') events.push(event);
        return starts;
      },
    },
    invoker: {
      async compile({ source }) {
        return { kind: 'result', result: { kind: 'compiled', format: 'cjs', text: source } };
      },
      async invoke(run) {
        runs.push(run);
        const value = { type: 'json', text: '1' } as const;
        const result = {
          outcome: { kind: 'returned', value },
          log: [],
          logTruncated: false,
          durationMs: 1,
        } as const;
        return next ? next() : { kind: 'result', result: { ...result, log: [] } };
      },
    },
  };
  caller = await newProject(stage);
  const body = { name: 'Bot' };
  botId = (await createBot(services, caller, body)).id;
  await deployBot(services, caller, { botId, body: { code: 'exports.handler = 1' }, traceId: 't' });
});
afterAll(() => stage.stop());

beforeEach(() => {
  events = [];
  runs = [];
  next = undefined;
  starts = 'started';
});

async function accept(idempotencyKey?: string, by: Caller = caller): Promise<string> {
  const key = idempotencyKey === undefined ? {} : { idempotencyKey };
  const request = {
    contentType: 'text/plain',
    body: Buffer.from('x'),
    headers: {},
    traceId: 't',
    isAsync: true,
  };
  const { jobId } = (await executeBot(services, by, { id: botId }, { ...request, ...key })) as Accepted;
  return jobId;
}

const event = (jobId: string) => ({ project: caller.project, jobId });
const read = (id: string) => readJob(services, caller, { id });
const kindOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error) => error.kind,
  );

async function limit(concurrentRuns: number | undefined): Promise<void> {
  await services.table.update({
    Key: keys.resource(caller.project, 'Project', caller.project),
    UpdateExpression: concurrentRuns === undefined ? 'REMOVE concurrentRuns' : 'SET concurrentRuns = :runs',
    ...(concurrentRuns === undefined ? {} : { ExpressionAttributeValues: { ':runs': concurrentRuns } }),
  });
}

/** When all places that were taken are free again. */
async function limitAfresh(concurrentRuns: number): Promise<void> {
  stage.clock.nowMs += 30 * minute;
  await limit(concurrentRuns);
}

test('who is shut out while their code is checked deploys nothing', async () => {
  const leaving = await newProject(stage);
  const bot = await createBot(services, leaving, { name: 'Bot' });
  const { invoker } = services;
  const shutting: DeployServices = {
    ...services,
    invoker: {
      ...invoker,
      async invoke(run) {
        await endLogin(services.table, leaving.loginId);
        return invoker.invoke(run);
      },
    },
  };
  const sent = { botId: bot.id, body: { code: 'exports.handler = 2' }, traceId: 't' };
  await expect(deployBot(shutting, leaving, sent)).rejects.toMatchObject({ kind: 'unauthorized' });
  const head = await getItem(services, keys.resource(leaving.project, 'Bot', bot.id));
  expect([head?.pk, head?.codeVersion]).toEqual([expect.any(String), undefined]);
});

test('the function is told the id of the job, and nothing else', async () => {
  const jobId = await accept();
  expect(events).toEqual([event(jobId)]);
  expect(runs).toEqual([]);
  expect((await read(jobId)).status).toBe('accepted');
});

test('of many that begin a job one runs it', async () => {
  const jobId = await accept();
  await Promise.all(Array.from({ length: 5 }, () => runJob(services, event(jobId))));
  expect([runs.length, (await read(jobId)).status]).toEqual([1, 'completed']);
  expect(runs[0]?.deadlineAtMs).toBe(stage.clock.nowMs + 850_000);
  expect(runs[0]?.limits.timeoutMs).toBe(840_000);
});

test('a job is begun, whichever answer of the table is lost: nobody begins it again', async () => {
  const fault = faults['is not answered'];
  for (let n = 1, attempts = 1; n <= attempts; n += 1) {
    runs = [];
    const jobId = await accept();
    const met = await disturbed(stage.client, { n, fault }, () => runJob(services, event(jobId)));
    attempts = met.attempts - 1;
    expect([n, runs.length, (await read(jobId)).status]).toEqual([n, 1, 'completed']);
  }
});

test('a job of a person whose login has gone idle since runs; they ask for no other', async () => {
  const { project, membershipId, subject } = caller;
  const head = keys.resource(project, 'Project', project);
  await services.table.put({
    ...keys.login('of-a-person'),
    ...{ kind: 'person', subject, clientId: '', scope: 'openid', createdAtMs: stage.clock.nowMs },
    ...{ project, membershipId },
  });
  await services.table.update({
    Key: head,
    UpdateExpression: 'SET idleMinutes = :ten',
    ExpressionAttributeValues: { ':ten': 10 },
  });
  const person = { ...caller, loginId: 'of-a-person', clientId: '' };
  stage.clock.nowMs += 9 * minute;
  const jobId = await accept(undefined, person);
  stage.clock.nowMs += 2 * minute;
  await runJob(services, event(jobId));
  expect([runs.length, (await read(jobId)).status]).toEqual([1, 'completed']);
  expect(await kindOf(accept(undefined, person))).toBe('unauthorized');
  await services.table.update({ Key: head, UpdateExpression: 'REMOVE idleMinutes' });
});

test('a job that was cancelled does not run', async () => {
  const jobId = await accept();
  await cancelJob(services, caller, { id: jobId });
  await runJob(services, event(jobId));
  expect([runs.length, (await read(jobId)).status]).toEqual([0, 'cancelled']);
  await cancelJob(services, caller, { id: jobId });
});

test('a job that nobody began in time is an error to whoever asks, and does not run afterwards', async () => {
  const jobId = await accept();
  stage.clock.nowMs += 5 * minute;
  expect((await read(jobId)).status).toBe('accepted');
  stage.clock.nowMs += 2 * minute;
  await runJob(services, event(jobId));
  const job = await read(jobId);
  expect([runs.length, job.status, JSON.stringify(job.output)]).toEqual([
    0,
    'error',
    expect.stringContaining('was not started in time'),
  ]);
});

test('a job that was cut off is an error after its deadline; a late end changes nothing', async () => {
  const jobId = await accept();
  const hanging = Promise.withResolvers<Invoked>();
  next = () => hanging.promise;
  const running = runJob(services, event(jobId));
  while (runs.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  stage.clock.nowMs += 14 * minute;
  expect((await read(jobId)).status).toBe('active');
  stage.clock.nowMs += 2 * minute;
  const reads = await Promise.all([read(jobId), read(jobId), read(jobId)]);
  for (const job of reads) {
    expect([job.status, JSON.stringify(job.output)]).toEqual([
      'error',
      expect.stringContaining('may have run'),
    ]);
  }
  hanging.resolve({ kind: 'unknown', reason: 'late' });
  await running;
  expect(await read(jobId)).toEqual(reads[0]);
});

test('rights that ended before it began end it', async () => {
  const jobId = await accept();
  const login = keys.login(caller.loginId);
  const item = await getItem(services, login);
  await services.table.put({ ...login, membershipId: caller.membershipId, revoked: true });
  await runJob(services, event(jobId));
  await services.table.put({ ...login, ...item });
  expect([runs.length, (await read(jobId)).status]).toEqual([0, 'error']);
});

test.each<[string, () => Promise<Invoked>, RegExp]>([
  ['an invoker that is full', async () => ({ kind: 'throttled' }), /was not started/],
  ['an invoker that died', async () => ({ kind: 'unknown', reason: 'x' }), /may have run/],
])('%s ends it with an error', async (_name, invoke, said) => {
  const jobId = await accept();
  next = invoke;
  await runJob(services, event(jobId));
  const job = await read(jobId);
  expect([job.status, JSON.stringify(job.output)]).toEqual(['error', expect.stringMatching(said)]);
});

test('one Idempotency-Key is one job, also while it runs', async () => {
  const jobId = await accept('key-1');
  expect(await accept('key-1')).toBe(jobId);
  await runJob(services, event(jobId));
  expect(await accept('key-1')).toBe(jobId);
  expect(events).toHaveLength(1);
  const request = { contentType: 'text/plain', body: Buffer.from('x'), headers: {}, traceId: 't' };
  const waiting = executeBot(services, caller, { id: botId }, { ...request, idempotencyKey: 'key-1' });
  expect(await kindOf(waiting)).toBe('unprocessable');
});

const failure: Invoked = {
  kind: 'result',
  result: {
    outcome: { kind: 'threw', name: 'Error', message: 'no' },
    log: [],
    logTruncated: false,
    durationMs: 1,
  },
};

test.each<[string, (jobId: string) => Promise<unknown>]>([
  [
    'failed',
    (jobId) => {
      next = async () => failure;
      return runJob(services, event(jobId));
    },
  ],
  [
    'was not started by an invoker that is full',
    (jobId) => {
      next = async () => ({ kind: 'throttled' });
      return runJob(services, event(jobId));
    },
  ],
  ['was cancelled', (jobId) => cancelJob(services, caller, { id: jobId })],
  [
    'nobody began in time',
    (jobId) => {
      stage.clock.nowMs += 7 * minute;
      return read(jobId);
    },
  ],
])('the key of a job that %s is free again', async (name, end) => {
  const jobId = await accept(`free-${name}`);
  await end(jobId);
  next = undefined;
  const again = await accept(`free-${name}`);
  expect(again).not.toBe(jobId);
  await runJob(services, event(again));
  expect(await accept(`free-${name}`)).toBe(again);
});

test.each<[string, (jobId: string) => Promise<unknown>]>([
  [
    'nobody knows the end of',
    (jobId) => {
      next = async () => ({ kind: 'unknown', reason: 'lost' });
      return runJob(services, event(jobId));
    },
  ],
  [
    'broke off',
    async (jobId) => {
      next = () => Promise.reject(new Error('crash'));
      await runJob(services, event(jobId)).catch(() => undefined);
      stage.clock.nowMs += 16 * minute;
      return read(jobId);
    },
  ],
])('the key of a job that %s stays taken', async (name, end) => {
  const jobId = await accept(`taken-${name}`);
  await end(jobId);
  next = undefined;
  expect(await accept(`taken-${name}`)).toBe(jobId);
  const { status, output } = await read(jobId);
  expect([status, JSON.stringify(output)]).toEqual(['error', expect.stringContaining('"outcome-unknown"')]);
});

test('an event that is refused leaves neither a place taken nor the key', async () => {
  await limit(1);
  starts = 'refused';
  expect(await kindOf(accept('key-2'))).toBe('throttled');
  starts = 'started';
  const jobId = await accept('key-2');
  expect(await kindOf(accept('key-3'))).toBe('throttled');
  await runJob(services, event(jobId));
  await cancelJob(services, caller, { id: await accept('key-3') });
  expect(await kindOf(accept('key-4'))).toBe('done');
  await limit(undefined);
});

test('an event that cannot be sent leaves neither a place taken nor the key', async () => {
  await limitAfresh(1);
  starts = 'fault';
  await expect(accept('key-5')).rejects.toThrow('the function is not there');
  starts = 'started';
  const jobId = await accept('key-5');
  await runJob(services, event(jobId));
  expect([runs.length, (await read(jobId)).status]).toEqual([1, 'completed']);
  await limit(undefined);
});

test('a job that cannot be stored leaves neither a place taken nor the key', async () => {
  await limitAfresh(1);
  const { table } = services;
  const failing = { ...table, put: table.put, transact: () => Promise.reject(new Error('no table')) };
  const request = {
    contentType: 'text/plain',
    body: Buffer.from('x'),
    headers: {},
    traceId: 't',
    isAsync: true,
  };
  const asked = executeBot(
    { ...services, table: failing },
    caller,
    { id: botId },
    { ...request, idempotencyKey: 'key-6' },
  );
  await expect(asked).rejects.toThrow('no table');
  await runJob(services, event(await accept('key-6')));
  expect(runs.length).toBe(1);
  await limit(undefined);
});

test('a job that was cut off gives its place back to the first who asks', async () => {
  await limitAfresh(1);
  const lost = await accept();
  stage.clock.nowMs += 7 * minute;
  expect(await kindOf(accept())).toBe('throttled');
  expect((await read(lost)).status).toBe('error');
  await runJob(services, event(await accept()));
  expect(runs.length).toBe(1);
  await limit(undefined);
});

test('a fault is logged and thrown without its text; the job ends by its deadline, run once', async () => {
  const jobId = await accept();
  next = () => Promise.reject(new Error('arn:aws:iam::1:role/x may not'));
  const logged: unknown[] = [];
  const log = { ...services.log, error: (...entry: unknown[]) => void logged.push(entry) };
  await expect(runJob({ ...services, log }, event(jobId))).rejects.toThrow(/^The job broke off$/);
  expect(logged).toEqual([['job broke off', { jobId, error: 'Error' }]]);
  await runJob(services, event(jobId));
  expect([runs.length, (await read(jobId)).status]).toEqual([1, 'active']);
  stage.clock.nowMs += 16 * minute;
  expect((await read(jobId)).status).toBe('error');
});

test('a Bot that is gone, or not enabled any more, ends it', async () => {
  const botKey = keys.resource(caller.project, 'Bot', botId);
  const bot = (await getItem(services, botKey)) as Item;
  const key = keys.resource(caller.project, 'ProjectMembership', String(bot.membershipId));
  const membership = (await getItem(services, key)) as Item;
  const [first, second] = [await accept(), await accept()];
  const refused: Record<string, unknown>[] = [];
  const { put } = services.table;
  const table = {
    ...services.table,
    put: (item: Item) => {
      const event = storedResource(item);
      if (event?.resourceType === 'AuditEvent') refused.push(event);
      return put(item);
    },
  };
  await services.table.put({ ...membership, deleted: true });
  await runJob({ ...services, table }, event(first));
  await services.table.put({ ...bot, deleted: true });
  await runJob({ ...services, table }, event(second));
  for (const item of [membership, bot]) await services.table.put(item);
  const ended = [await read(first), await read(second)];
  expect([runs.length, ...ended.map(({ status }) => status)]).toEqual([0, 'error', 'error']);
  expect(refused.map(({ outcomeDesc }) => outcomeDesc)).toEqual(['400', '404']);
  expect(JSON.stringify(refused)).toContain(`Bot/${botId}`);
});

test('what came of it is for who may execute the Bot at the time, and within the same rights', async () => {
  const policy = await newResource(stage, caller.project, {
    ...{ resourceType: 'AccessPolicy', resource: [{ resourceType: 'Bot' }] },
  });
  const made = await createClient(services, caller, { name: 'Asker', accessPolicy: { reference: policy } });
  const membershipId = String((await getItem(services, keys.client(made.id)))?.membershipId);
  const { admission: _, ...admin } = caller;
  const claims = {
    ...{ ...admin, loginId: services.newId(), membershipId, clientId: made.id, subject: made.id },
    profile: `ClientApplication/${made.id}`,
  };
  await services.table.put({ ...keys.login(claims.loginId), membershipId });
  const asker = callerOf(claims, 'member');
  const scoped = callerOf({ ...claims, scope: 'system/Bot.ru' }, 'member');
  const jobId = await accept(undefined, asker);
  await runJob(services, event(jobId));
  const readAs = (who: Caller) => kindOf(readJob(services, who, { id: jobId }));
  expect([await readAs(asker), await readAs(scoped)]).toEqual(['done', 'done']);

  await change('Bot', botId, { runAsUser: true });
  expect([await readAs(asker), await readAs(scoped)]).toEqual(['done', 'not-found']);
  await change('Bot', botId, { runAsUser: false });

  const policyId = policy.slice('AccessPolicy/'.length);
  await change('AccessPolicy', policyId, { resource: [{ resourceType: 'Patient' }] });
  expect([await readAs(asker), (await read(jobId)).status]).toEqual(['forbidden', 'completed']);
  expect(await kindOf(cancelJob(services, asker, { id: jobId }))).toBe('done');
});

async function change(type: string, id: string, fields: Record<string, unknown>): Promise<void> {
  const stored = storedResource(await getItem(services, keys.resource(caller.project, type, id)));
  if (!stored) throw new Error(`No ${type}/${id}`);
  const meta = { ...stored.meta, versionId: services.newId() };
  await services.table.transact(updateActions(caller.project, { ...stored, ...fields, meta }, stored));
}

test('a result that no answer can hold ends it with an error that says so', async () => {
  const jobId = await accept();
  // Half of it three bytes a character, half of it twice as long inside JSON.
  const text = '\u20ac'.repeat(900_000) + '"'.repeat(1_450_000);
  next = async () => ({
    kind: 'result',
    result: {
      outcome: { kind: 'returned', value: { type: 'string', text } },
      log: [],
      logTruncated: false,
      durationMs: 1,
    },
  });
  await runJob(services, event(jobId));
  const job = await read(jobId);
  expect([job.status, JSON.stringify(job.output)]).toEqual(['error', expect.stringContaining('too long')]);
});

test('what is staged holds no credential, and is forgotten after a day', async () => {
  const headers = { authorization: 'Bearer Quokka', cookie: 'Quokka', 'x-note': 'kept' };
  const request = { contentType: 'text/plain', body: Buffer.from('x'), headers, traceId: 't', isAsync: true };
  const { jobId } = (await executeBot(services, caller, { id: botId }, request)) as Accepted;
  const item = await getItem(services, keys.job(caller.project, jobId));
  expect(JSON.stringify(item)).not.toContain('Quokka');
  expect(item?.headers).toEqual({ 'x-note': 'kept' });
  expect(Number(item?.ttl) * 1000 - stage.clock.nowMs).toBe(24 * 60 * minute);
});
