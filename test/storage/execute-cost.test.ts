import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { changeSecrets } from '../../functions/bots/change-secrets.ts';
import { createBot } from '../../functions/bots/create-bot.ts';
import { deployBot } from '../../functions/bots/deploy-bot.ts';
import { createClient } from '../../functions/members/create-client.ts';
import { provision } from '../../functions/provision/provision.ts';
import { type DataKeys, fileDataKeys } from '../../shared/auth/data-keys.ts';
import type { Caller } from '../../shared/auth/token.ts';
import type { RunRequest, RunResult } from '../../shared/bot/contract.ts';
import { type Executed, executeBot } from '../../shared/bot/execute-bot.ts';
import { type ExecuteServices, emptyBotMemory } from '../../shared/bot/execute-services.ts';
import type { BotTarget } from '../../shared/bot/gather-run.ts';
import type { Invoked } from '../../shared/bot/invoker.ts';
import { keys } from '../../shared/table/keys.ts';
import { resourceOf, updateActions } from '../../shared/table/resource-item.ts';
import type { Item } from '../../shared/table/table.ts';
import { callsOf, getItem, newProject, newResource, type Stage, startStage } from './stage.ts';

let stage: Stage;
let services: ExecuteServices;
let caller: Caller;
/** Every run that reached the invoker. */
const runs: RunRequest[] = [];
/** What the invoker does with the next run; answers its code when undefined. */
let next: (() => Invoked) | undefined;

const fileKeys = fileDataKeys(Buffer.alloc(32, 2));
/** How often a wrapped key was opened: on AWS each is a call to KMS. */
let opened = 0;
const countedKeys: DataKeys = {
  make: fileKeys.make,
  async open(wrapped, context) {
    opened++;
    return fileKeys.open(wrapped, context);
  },
};

beforeAll(async () => {
  stage = await startStage();
  services = {
    ...stage.services,
    runSecret: async () => Buffer.alloc(32, 1),
    dataKeys: async () => countedKeys,
    botMemory: emptyBotMemory(),
    jobs: { start: async () => 'started' },
    invoker: {
      async invoke(run) {
        runs.push(run);
        const made = next?.();
        next = undefined;
        return made ?? { kind: 'result', result: resultOf(run) };
      },
    },
  };
  caller = await newProject(stage);
});
afterAll(() => stage.stop());

function resultOf(run: RunRequest): RunResult {
  const value = { type: 'string', text: run.code.text } as const;
  return { outcome: { kind: 'returned', value }, log: [], logTruncated: false, durationMs: 1 };
}

async function newBot(code: string, value?: string): Promise<string> {
  const body = { name: 'Bot', ...(value === undefined ? {} : { identifier: [{ system: 's', value }] }) };
  const { id } = await createBot(services, caller, { projectId: caller.project, body });
  await deploy(id, code);
  return id;
}

function deploy(botId: string, code: string) {
  return deployBot(services, caller, { botId, body: { code }, traceId: 't' });
}

async function run(target: BotTarget, as = caller): Promise<string> {
  const request = { contentType: 'text/plain', body: Buffer.from('x'), headers: {}, traceId: 't' };
  const { output } = (await executeBot(services, as, target, request)) as Executed;
  return output.kind === 'text' ? output.text : output.kind;
}

/** What the Bot answered, and the calls that it cost. */
async function costOf(target: BotTarget, as = caller): Promise<[string, string[]]> {
  let text = '';
  const calls = await callsOf(stage.client, async () => {
    text = await run(target, as).catch((error) => String(error.kind));
  });
  return [text, calls];
}

const least = ['BatchGetItem', 'PutItem'];
const oneMore = ['BatchGetItem', ...least];

async function newReader(resource: unknown): Promise<{ as: Caller; policy: string }> {
  const policy = await newResource(stage, caller.project, { resourceType: 'AccessPolicy', resource });
  const made = await createClient(services, caller, {
    projectId: caller.project,
    body: { name: 'Reader', accessPolicy: { reference: policy } },
  });
  const credential = await getItem(services, keys.client(made.id));
  const membershipId = String(credential?.membershipId);
  const as: Caller = {
    ...caller,
    loginId: services.newId(),
    membershipId,
    profile: `ClientApplication/${made.id}`,
    clientId: made.id,
    subject: made.id,
  };
  await services.table.put({ ...keys.login(as.loginId), membershipId });
  return { as, policy: policy.slice('AccessPolicy/'.length) };
}

async function change(type: string, id: string, fields: Record<string, unknown>): Promise<void> {
  const stored = resourceOf(await getItem(services, keys.resource(caller.project, type, id)));
  if (!stored) throw new Error(`No ${type}/${id}`);
  const meta = { ...stored.meta, versionId: services.newId() };
  await services.table.transact(updateActions(caller.project, { ...stored, ...fields, meta }, stored));
}

describe('a warm execute costs one read before the run and one write after it', () => {
  test('by id', async () => {
    const id = await newBot('by id');
    expect(await run({ id })).toBe('by id');
    expect(await costOf({ id })).toEqual(['by id', least]);
  });

  test('by identifier', async () => {
    await newBot('by identifier', 'warm');
    const target = { system: 's', value: 'warm' };
    expect(await run(target)).toBe('by identifier');
    expect(await costOf(target)).toEqual(['by identifier', least]);
  });

  test('by a caller whose policy narrows which Bots', async () => {
    const id = await newBot('narrow');
    const rule = { resourceType: 'Bot', interaction: ['execute'], criteria: `Bot?_id=${id}` };
    const { as } = await newReader([rule]);
    expect(await run({ id }, as)).toBe('narrow');
    expect(await costOf({ id }, as)).toEqual(['narrow', least]);
  });

  test('the read comes first, the write last', async () => {
    const id = await newBot('order');
    await run({ id });
    const before = runs.length;
    let atRun: string[] = [];
    const seen: string[] = [];
    stage.client.middlewareStack.add(
      (call, context) => (args) => {
        seen.push(String(context.commandName));
        return call(args);
      },
      { step: 'initialize', name: 'order' },
    );
    next = () => {
      atRun = [...seen];
      return { kind: 'result', result: resultOf(runs.at(-1) as RunRequest) };
    };
    await run({ id }).finally(() => stage.client.middlewareStack.remove('order'));
    expect([atRun, seen.length, runs.length - before]).toEqual([['BatchGetItemCommand'], 2, 1]);
  });
});

test('secrets cost no call more, and their keys are opened once', async () => {
  const id = await newBot('secret');
  const holder = { projectId: caller.project };
  const secret = (name: string, valueString: string) => ({ name, valueString });
  await changeSecrets(services, caller, {
    ...holder,
    body: [secret('A', 'project'), secret('B', 'project')],
  });
  await changeSecrets(services, caller, { ...holder, botId: id, body: [secret('B', 'bot')] });
  await run({ id });
  const before = opened;
  expect(await costOf({ id })).toEqual(['secret', least]);
  expect(opened).toBe(before);
  expect(runs.at(-1)?.event.secrets).toEqual({ A: secret('A', 'project'), B: secret('B', 'bot') });
  await changeSecrets(services, caller, { ...holder, body: [] });
});

test('a limit to concurrent runs costs one write before the run, and one to give the place back', async () => {
  const id = await newBot('limited');
  await run({ id });
  const project = keys.resource(caller.project, 'Project', caller.project);
  const limit = (set: string, values?: object) =>
    services.table.update({
      Key: project,
      UpdateExpression: set,
      ...(values ? { ExpressionAttributeValues: values } : {}),
    });
  await limit('SET concurrentRuns = :runs', { ':runs': 5 });
  expect(await costOf({ id })).toEqual(['limited', ['BatchGetItem', 'UpdateItem', 'PutItem', 'UpdateItem']]);
  await limit('REMOVE concurrentRuns');
});

test('a record is kept as long as the Project says', async () => {
  const admin = { email: 'days@example.com', firstName: 'A', lastName: 'B', password: 'correct horse' };
  await expect(provision(services, { name: 'P', admin, executionDays: 0 })).rejects.toThrow('executionDays');
  await expect(provision(services, { name: 'P', admin, concurrentRuns: 1.5 })).rejects.toThrow(
    'concurrentRuns',
  );
  const kept: Item[] = [];
  const keeping = {
    ...services,
    table: { ...services.table, put: async (item: Item) => void kept.push(item) },
  };
  const id = await newBot('kept');
  const request = { contentType: undefined, body: undefined, headers: {}, traceId: 't' };
  for (const [days, expected] of [
    [undefined, 365],
    [7, 7],
  ] as const) {
    if (days !== undefined) {
      await services.table.update({
        Key: keys.resource(caller.project, 'Project', caller.project),
        UpdateExpression: 'SET executionDays = :days',
        ExpressionAttributeValues: { ':days': days },
      });
    }
    await executeBot(keeping, caller, { id }, request);
    expect(Number(kept.at(-1)?.ttl) - Math.floor(stage.clock.nowMs / 1000)).toBe(expected * 86_400);
  }
});

describe('a stale hint costs one more read and gives the right answer', () => {
  test('when the identifier moved to another Bot', async () => {
    const target = { system: 's', value: 'moving' };
    await newBot('from', 'moving');
    const to = await newBot('to');
    expect([await run(target), await run({ id: to })]).toEqual(['from', 'to']);
    await services.table.put({ ...keys.botIdentifier(caller.project, 's', 'moving'), botId: to });
    expect(await costOf(target)).toEqual(['to', oneMore]);
    expect(await costOf(target)).toEqual(['to', least]);
  });

  test('when new code was deployed', async () => {
    const id = await newBot('old');
    await run({ id });
    await deploy(id, 'new');
    expect(await costOf({ id })).toEqual(['new', oneMore]);
    expect(await costOf({ id })).toEqual(['new', least]);
    await deploy(id, 'old');
    expect(await costOf({ id })).toEqual(['old', least]);
  });

  test('when the membership names another policy', async () => {
    const id = await newBot('guarded');
    const { as } = await newReader([{ resourceType: 'Bot' }]);
    expect(await run({ id }, as)).toBe('guarded');
    const none = await newResource(stage, caller.project, { resourceType: 'AccessPolicy', resource: [] });
    await change('ProjectMembership', as.membershipId, { accessPolicy: { reference: none } });
    expect(await costOf({ id }, as)).toEqual(['forbidden', ['BatchGetItem', 'BatchGetItem']]);
    expect(await costOf({ id }, as)).toEqual(['forbidden', ['BatchGetItem']]);
  });

  test('not even that when the policy itself changed', async () => {
    const id = await newBot('policed');
    const { as, policy } = await newReader([{ resourceType: 'Bot' }]);
    expect(await run({ id }, as)).toBe('policed');
    await change('AccessPolicy', policy, { resource: [] });
    expect(await costOf({ id }, as)).toEqual(['forbidden', ['BatchGetItem']]);
  });
});

describe('nothing runs and nothing is written', () => {
  test.each<[string, BotTarget]>([
    ['an id that there is not', { id: 'nobody' }],
    ['an id that is none', { id: '../x' }],
    ['an identifier that there is not', { system: 's', value: 'nobody' }],
  ])('for %s, after one read', async (_name, target) => {
    const before = runs.length;
    expect(await costOf(target)).toEqual(['not-found', ['BatchGetItem']]);
    expect(runs.length).toBe(before);
  });

  test('for a Bot that was deleted, warm or not', async () => {
    const id = await newBot('gone', 'gone');
    const target = { system: 's', value: 'gone' };
    await run(target);
    await services.table.update({
      Key: keys.resource(caller.project, 'Bot', id),
      UpdateExpression: 'SET deleted = :yes',
      ExpressionAttributeValues: { ':yes': true },
    });
    expect(await costOf({ id })).toEqual(['not-found', ['BatchGetItem']]);
    expect(await costOf(target)).toEqual(['not-found', ['BatchGetItem']]);
  });

  test('for a run that the invoker did not start', async () => {
    const id = await newBot('throttled');
    await run({ id });
    next = () => ({ kind: 'throttled' });
    expect(await costOf({ id })).toEqual(['throttled', ['BatchGetItem']]);
  });
});

test('a run whose outcome nobody knows is recorded, and not run again', async () => {
  const id = await newBot('unknown');
  await run({ id });
  const before = runs.length;
  next = () => ({ kind: 'unknown', reason: 'ECONNRESET' });
  expect(await costOf({ id })).toEqual(['conflict', least]);
  expect(runs.length - before).toBe(1);
});

test('an answer stands when its record cannot be written, which the log then holds', async () => {
  const id = await newBot('unrecorded');
  const lines: unknown[] = [];
  const failing: ExecuteServices = {
    ...services,
    table: { ...services.table, put: () => Promise.reject(new Error('down')) },
    log: { ...services.log, error: (message, fields) => lines.push([message, fields]) },
  };
  const request = { contentType: 'text/plain', body: Buffer.from('Zebra'), headers: {}, traceId: 'trace-9' };
  const { output } = (await executeBot(failing, caller, { id }, request)) as Executed;
  expect(output).toMatchObject({ kind: 'text', text: 'unrecorded' });
  expect(lines).toEqual([
    [
      'execution record lost',
      expect.objectContaining({ bot: `Bot/${id}`, outcome: 'returned', traceId: 'trace-9' }),
    ],
  ]);
  expect(JSON.stringify(lines)).not.toContain('Zebra');
});

test("another Project's memory is never used", async () => {
  const id = await newBot('ours', 'shared');
  await run({ system: 's', value: 'shared' });
  const other = await newProject(stage);
  expect(await costOf({ id }, other)).toEqual(['not-found', ['BatchGetItem']]);
  expect(await costOf({ system: 's', value: 'shared' }, other)).toEqual(['not-found', ['BatchGetItem']]);
});

describe('with an Idempotency-Key', () => {
  const target = async (code: string) => ({ id: await newBot(code) });

  function runOnce(bot: BotTarget, idempotencyKey: string, text = 'x') {
    const body = Buffer.from(text);
    const request = { contentType: 'text/plain', body, headers: {}, traceId: 't', idempotencyKey };
    return executeBot(services, caller, bot, request);
  }

  test('an execute costs one write more, before the run; a repeat one read more and no run', async () => {
    const bot = await target('once');
    await run(bot);
    const before = runs.length;
    const first = await callsOf(stage.client, () => runOnce(bot, 'k1'));
    expect(first).toEqual(['BatchGetItem', 'PutItem', 'TransactWriteItems']);
    expect(runs.length).toBe(before + 1);
    const second = await callsOf(stage.client, async () => {
      expect(await runOnce(bot, 'k1')).toMatchObject({ isReplay: true, output: { text: 'once' } });
    });
    expect(second).toEqual(['BatchGetItem', 'PutItem', 'BatchGetItem']);
    expect(runs.length).toBe(before + 1);
  });

  test('of 20 at once one runs', async () => {
    const bot = await target('one');
    const before = runs.length;
    const ended = await Promise.allSettled(Array.from({ length: 20 }, () => runOnce(bot, 'k2')));
    expect(runs.length).toBe(before + 1);
    for (const one of ended) {
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ kind: 'conflict' });
    }
  });

  test('another input is refused, another Bot too', async () => {
    const bot = await target('input');
    await runOnce(bot, 'k3');
    await expect(runOnce(bot, 'k3', 'y')).rejects.toMatchObject({ kind: 'unprocessable' });
    await expect(runOnce(await target('input'), 'k3')).rejects.toMatchObject({ kind: 'unprocessable' });
  });

  test('a run that was not started leaves the key free', async () => {
    const bot = await target('free');
    next = () => ({ kind: 'throttled' });
    await expect(runOnce(bot, 'k4')).rejects.toMatchObject({ kind: 'throttled' });
    expect(await runOnce(bot, 'k4')).toMatchObject({ isReplay: false });
  });

  test('a run whose end nobody knows is refused again, with its id', async () => {
    const bot = await target('unknown');
    next = () => ({ kind: 'unknown', reason: 'lost' });
    const before = runs.length;
    const refused = await runOnce(bot, 'k5').catch((error: Error) => error.message);
    expect(refused).toContain(runs.at(-1)?.runId);
    await expect(runOnce(bot, 'k5')).rejects.toThrow(String(refused));
    expect(runs.length).toBe(before + 1);
  });

  test('a process that dies while the Bot runs: refused, then refused with the id of the run', async () => {
    const bot = await target('death');
    next = () => {
      throw new Death();
    };
    const release = services.table.put;
    const dying = { ...services, table: { ...services.table, put: putOnce(release) } };
    const body = Buffer.from('x');
    const request = { contentType: 'text/plain', body, headers: {}, traceId: 't', idempotencyKey: 'k6' };
    await expect(executeBot(dying, caller, bot, request)).rejects.toThrow(Death);
    const { runId } = runs.at(-1) as RunRequest;
    await expect(runOnce(bot, 'k6')).rejects.toMatchObject({ kind: 'conflict', retryAfterSeconds: 30 });
    stage.clock.nowMs += 31_000;
    await expect(runOnce(bot, 'k6')).rejects.toThrow(runId);
  });
});

class Death extends Error {}

/** The claim is written, nothing after it. */
function putOnce(put: ExecuteServices['table']['put']): ExecuteServices['table']['put'] {
  let puts = 0;
  return async (item, condition) => {
    puts += 1;
    if (puts > 1) throw new Death();
    await put(item, condition);
  };
}
