import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { matchesPattern, streamFilters } from '../../infra/table-definition.ts';
import type { Refusal } from '../../shared/base/refusal.ts';
import { changeSecrets } from '../../shared/bots/bot/change-secrets.ts';
import { createBot } from '../../shared/bots/bot/create-bot.ts';
import { deployBot } from '../../shared/bots/bot/deploy-bot.ts';
import { sealedSecrets } from '../../shared/bots/bot/secrets.ts';
import type { RunRequest, RunResult } from '../../shared/bots/run/contract.ts';
import { type Executed, executeBot } from '../../shared/bots/run/execute.ts';
import type { BotTarget } from '../../shared/bots/run/gather-run.ts';
import {
  type DeployServices,
  type ExecuteServices,
  emptyBotMemory,
  type Invoked,
} from '../../shared/bots/run/services.ts';
import { type DataKeys, fileDataKeys } from '../../shared/carry/keys/data-keys.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import { type Caller, callerOf } from '../../shared/identity/gate/access-token.ts';
import { createClient } from '../../shared/identity/memberships/clients.ts';
import { provision } from '../../shared/identity/projects/provision.ts';
import { messagesOf } from '../../shared/records/dispatch/dispatch.ts';
import { updateActions } from '../../shared/store/items/change.ts';
import { ringOf } from '../setup/key-rings.ts';
import { scanAll } from './scan-all.ts';
import { callsOf, getItem, newProject, newResource, type Stage, spentBy, startStage } from './stage.ts';
import { storedResource } from './stored.ts';

let stage: Stage;
let services: ExecuteServices & DeployServices;
let caller: Caller<'administrator'>;
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
    runTokenKeys: ringOf(Buffer.alloc(32, 1)),
    dataKeys: async () => countedKeys,
    botMemory: emptyBotMemory(),
    jobs: { start: async () => 'started' },
    invoker: {
      async compile({ source }) {
        return { kind: 'result', result: { kind: 'compiled', format: 'cjs', text: source } };
      },
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
  const { id } = await createBot(services, caller, body);
  await deploy(id, code);
  return id;
}

function deploy(botId: string, code: string) {
  return deployBot(services, caller, { botId, body: { code }, traceId: 't' });
}

async function run(target: BotTarget, as: Caller = caller): Promise<string> {
  const request = { contentType: 'text/plain', body: Buffer.from('x'), headers: {}, traceId: 't' };
  const { output } = (await executeBot(services, as, target, request)) as Executed;
  return output.kind === 'text' ? output.text : output.kind;
}

/** What the Bot answered, and the calls that it cost. */
async function costOf(target: BotTarget, as: Caller = caller): Promise<[string, string[]]> {
  let text = '';
  const calls = await callsOf(stage.client, async () => {
    text = await run(target, as).catch((error) => String(error.kind));
  });
  return [text, calls];
}

const nameOf = ({ pk, sk }: Item) => `${pk}\n${sk}`;

const least = ['BatchGetItem', 'PutItem'];
const oneMore = ['BatchGetItem', ...least];

async function newReader(resource: unknown): Promise<{ as: Caller; policy: string }> {
  const policy = await newResource(stage, caller.project, { resourceType: 'AccessPolicy', resource });
  const made = await createClient(services, caller, { name: 'Reader', accessPolicy: { reference: policy } });
  const credential = await getItem(services, keys.client(made.id));
  const membershipId = String(credential?.membershipId);
  const claims = {
    ...caller,
    loginId: services.newId(),
    membershipId,
    profile: `ClientApplication/${made.id}`,
    clientId: made.id,
    subject: made.id,
  };
  await services.table.put({ ...keys.login(claims.loginId), membershipId });
  const as: Caller = callerOf(claims, 'member');
  return { as, policy: policy.slice('AccessPolicy/'.length) };
}

async function change(type: string, id: string, fields: Record<string, unknown>): Promise<void> {
  const stored = storedResource(await getItem(services, keys.resource(caller.project, type, id)));
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

describe('nothing follows a run', () => {
  test('a warm one writes one item of 2 KB at most, which no filter of the stream lets through', async () => {
    const id = await newBot('alone');
    await run({ id });
    const before = new Set((await scanAll(stage.client, stage.tableName)).map(nameOf));
    const { writeUnits } = await spentBy(stage.client, () => run({ id }));
    const written = (await scanAll(stage.client, stage.tableName)).filter(
      (item) => !before.has(nameOf(item)),
    );
    expect(written).toHaveLength(1);
    expect(writeUnits).toBeLessThanOrEqual(2);
    const record = { eventName: 'INSERT', dynamodb: { Keys: written[0], NewImage: written[0] } };
    const wanted = Object.values(streamFilters).filter((pattern) => matchesPattern(pattern, record));
    expect(wanted).toEqual([]);
    expect(messagesOf({ before: undefined, after: written[0] })).toEqual({});
  });

  test('the first of a Bot in a process on a day notes the day, before the record', async () => {
    const id = await newBot('daily');
    const first = await spentBy(stage.client, () => run({ id }));
    expect([first.writes, first.writeUnits]).toEqual([['PutItem', 'PutItem'], 3]);
    expect((await spentBy(stage.client, () => run({ id }))).writes).toEqual(['PutItem']);
    stage.clock.nowMs += 86_400_000;
    expect((await spentBy(stage.client, () => run({ id }))).writes).toEqual(['PutItem', 'PutItem']);
    expect((await spentBy(stage.client, () => run({ id }))).writes).toEqual(['PutItem']);
  });

  test('a day that could not be noted is noted with the next run', async () => {
    const id = await newBot('undaily');
    let failing = true;
    const table = {
      ...services.table,
      async put(item: Item) {
        if (failing && item.pk.endsWith('#RUN-DAYS')) throw new Error('down');
        return services.table.put(item);
      },
    };
    const request = { contentType: undefined, body: undefined, headers: {}, traceId: 't' };
    const runOnce = () => executeBot({ ...services, table }, caller, { id }, request);
    await runOnce();
    failing = false;
    expect((await spentBy(stage.client, runOnce)).writes).toEqual(['PutItem', 'PutItem']);
  });
});

test('secrets cost no call more, and their keys are opened once', async () => {
  const id = await newBot('secret');
  const secret = (name: string, valueString: string) => ({ name, valueString });
  await changeSecrets(services, caller, { body: [secret('A', 'project'), secret('B', 'project')] });
  await changeSecrets(services, caller, { botId: id, body: [secret('B', 'bot')] });
  await run({ id });
  const before = opened;
  expect(await costOf({ id })).toEqual(['secret', least]);
  expect(opened).toBe(before);
  expect(runs.at(-1)?.event.secrets).toEqual({ A: secret('A', 'project'), B: secret('B', 'bot') });
  await changeSecrets(services, caller, { body: [] });
});

test('a value that is saved lies under a data key of its own; what was kept opens under that of its save', async () => {
  const id = await newBot('resealed');
  const stored = async () =>
    sealedSecrets(await getItem(services, keys.botSecrets(caller.project, id))).map(
      ({ name, wrapped, sealed }) => ({
        name,
        wrapped: Buffer.from(wrapped).toString('hex'),
        sealed: Buffer.from(sealed).toString('hex'),
      }),
    );
  const secret = (name: string, valueString: string) => ({ name, valueString });
  await changeSecrets(services, caller, { botId: id, body: [secret('A', 'a'), secret('B', 'b')] });
  const [a, b] = await stored();
  expect(a?.wrapped).toBe(b?.wrapped);
  await changeSecrets(services, caller, { botId: id, body: [secret('A', 'a'), { name: 'B' }] });
  const [after, kept] = await stored();
  expect(kept).toEqual(b);
  // The same value too: nothing of the save before is left.
  expect([after?.wrapped, after?.sealed]).not.toContain(a?.wrapped);
  expect(after?.sealed).not.toBe(a?.sealed);
  const fresh = { ...services, botMemory: emptyBotMemory() };
  await executeBot(
    fresh,
    caller,
    { id },
    { contentType: undefined, body: undefined, headers: {}, traceId: 't' },
  );
  expect(runs.at(-1)?.event.secrets).toEqual({ A: secret('A', 'a'), B: secret('B', 'b') });
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
  // What the stage says of every Project costs the same, and what is provisioned for one goes before it.
  services.projectRuns = 5;
  expect(await costOf({ id })).toEqual(['limited', ['BatchGetItem', 'UpdateItem', 'PutItem', 'UpdateItem']]);
  services.projectRuns = 1;
  const held = new Set([`${stage.clock.nowMs + 60_000}#other`]);
  await services.table.put({ ...keys.running(caller.project), held });
  await expect(run({ id })).rejects.toMatchObject({ kind: 'throttled' });
  await limit('SET concurrentRuns = :runs', { ':runs': 5 });
  await run({ id });
  await limit('REMOVE concurrentRuns');
  await services.table.put({ ...keys.running(caller.project) });
  services.projectRuns = undefined;
});

describe('a run that a run starts', () => {
  let parents = 0;
  const inRun = (root = `root-${++parents}`, deadlineAtMs = stage.clock.nowMs + 20_000): Caller => ({
    ...caller,
    run: { id: `parent-${parents}`, root, depth: 1, deadlineAtMs },
  });
  const treeOf = (as: Caller) => getItem(services, keys.runTree(caller.project, as.run?.root ?? ''));

  test('costs one write to count it, and two for its place among those that runs start', async () => {
    const id = await newBot('nested');
    await run({ id });
    const as = inRun();
    const calls = ['BatchGetItem', 'UpdateItem', 'UpdateItem', 'PutItem', 'UpdateItem'];
    expect(await costOf({ id }, as)).toEqual(['nested', calls]);
    expect(await costOf({ id })).toEqual(['nested', least]);
    expect((await treeOf(as))?.started).toBe(1);
  });

  test('ends with the one that started it at the latest', async () => {
    const id = await newBot('in time');
    for (const leftMs of [1, 1_500, 26_000, 60_000]) {
      const endMs = stage.clock.nowMs + leftMs;
      await run({ id }, inRun(undefined, endMs));
      expect(runs.at(-1)?.deadlineAtMs).toBe(Math.min(endMs, stage.clock.nowMs + 26_500));
    }
  });

  test('is refused when its tree has started all that it may, and nothing runs', async () => {
    const id = await newBot('many');
    const as = inRun();
    const bound = (most: number) =>
      services.table.update({
        Key: keys.resource(caller.project, 'Project', caller.project),
        UpdateExpression: 'SET treeRuns = :runs',
        ExpressionAttributeValues: { ':runs': most },
      });
    await bound(10);
    const before = runs.length;
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => run({ id }, as).catch((error: Refusal) => error.kind)),
    );
    expect(answers.filter((answer) => answer === 'many')).toHaveLength(10);
    expect(answers.filter((answer) => answer === 'too-costly')).toHaveLength(10);
    expect(runs.length - before).toBe(10);
    expect(await run({ id }, inRun())).toBe('many');
    const job = { contentType: undefined, body: undefined, headers: {}, traceId: 't', isAsync: true };
    await expect(executeBot(services, as, { id }, job)).rejects.toMatchObject({ kind: 'too-costly' });
    expect(await executeBot(services, inRun(), { id }, job)).toMatchObject({ isReplay: false });
    // Also when it may start less than it has.
    await bound(5);
    await expect(run({ id }, as)).rejects.toMatchObject({ kind: 'too-costly' });
    await services.table.update({
      Key: keys.resource(caller.project, 'Project', caller.project),
      UpdateExpression: 'REMOVE treeRuns',
    });
  });

  test('may make a thousand calls, a late one of its tree a hundred', async () => {
    const id = await newBot('calls');
    await run({ id });
    expect(runs.at(-1)?.limits.calls).toBe(1_000);
    const as = inRun();
    const made: (number | undefined)[] = [];
    for (let nth = 1; nth <= 10; nth++) {
      await run({ id }, as);
      made.push(runs.at(-1)?.limits.calls);
    }
    expect(made).toEqual([...Array(8).fill(1_000), 100, 100]);
  });

  test('does not count when it was not started', async () => {
    const id = await newBot('not started');
    const as = inRun();
    for (const kind of ['throttled', 'not-started'] as const) {
      next = () => ({ kind });
      expect((await costOf({ id }, as))[0]).toBe(kind);
    }
    expect((await treeOf(as))?.started).toBe(0);
    next = () => ({ kind: 'unknown', reason: 'ECONNRESET' });
    expect((await costOf({ id }, as))[0]).toBe('outcome-unknown');
    expect((await treeOf(as))?.started).toBe(1);
  });

  test('has a place among 50 of its Project, where nothing else is provisioned', async () => {
    const id = await newBot('fifty');
    const entries = Array.from({ length: 50 }, (_, i) => `${stage.clock.nowMs + 60_000}#other-${i}`);
    await services.table.put({ ...keys.running(caller.project), held: new Set(entries) });
    expect((await costOf({ id }, inRun()))[0]).toBe('throttled');
    expect((await costOf({ id }))[0]).toBe('fifty');
    const left = new Set(entries.slice(1));
    await services.table.put({ ...keys.running(caller.project), held: left });
    expect((await costOf({ id }, inRun()))[0]).toBe('fifty');
    expect((await getItem(services, keys.running(caller.project)))?.held).toEqual(left);
    await services.table.update({ Key: keys.running(caller.project), UpdateExpression: 'REMOVE held' });
  });
});

test('a record is kept as long as the Project says', async () => {
  const admin = { email: 'days@example.com', firstName: 'A', lastName: 'B', password: 'correct horse' };
  await expect(provision(services, { name: 'P', admin, executionDays: 0 })).rejects.toThrow('executionDays');
  await expect(provision(services, { name: 'P', admin, concurrentRuns: 1.5 })).rejects.toThrow(
    'concurrentRuns',
  );
  await expect(provision(services, { name: 'P', admin, treeRuns: 1_001 })).rejects.toThrow('treeRuns');
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
  expect(await costOf({ id })).toEqual(['outcome-unknown', least]);
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
  expect(lines).toContainEqual([
    'execution record lost',
    expect.objectContaining({ bot: `Bot/${id}`, outcome: 'returned', traceId: 'trace-9' }),
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

  /** A caller of their own, who has been answered 'once' with this key. */
  async function answered(key: string, fields: Record<string, unknown> = {}) {
    const id = await newBot('once');
    const { as, policy } = await newReader([{ resourceType: 'Bot' }]);
    if (Object.keys(fields).length > 0) await change('Bot', id, fields);
    const request = { contentType: 'text/plain', body: Buffer.from('x'), headers: {}, traceId: 't' };
    const repeat = (who: Caller = as, isAsync = false) =>
      executeBot(services, who, { id }, { ...request, idempotencyKey: key, isAsync });
    await repeat();
    expect(await repeat()).toMatchObject({ isReplay: true });
    return { id, as, policy, repeat };
  }
  const refusedAs = (kind: string) => expect.objectContaining({ name: 'Refusal', kind });
  const set = (key: { pk: string; sk: string }, name: string, value: unknown) =>
    services.table.update({
      Key: key,
      UpdateExpression: 'SET #name = :value',
      ExpressionAttributeNames: { '#name': name },
      ExpressionAttributeValues: { ':value': value },
    });

  test.each<[string, string, (at: Awaited<ReturnType<typeof answered>>) => Promise<unknown>]>([
    ['whose policy changed', 'forbidden', ({ policy }) => change('AccessPolicy', policy, { resource: [] })],
    [
      'whose membership is disabled',
      'unauthorized',
      ({ as }) => change('ProjectMembership', as.membershipId, { active: false }),
    ],
    [
      'whose membership was removed',
      'unauthorized',
      ({ as }) => set(keys.resource(as.project, 'ProjectMembership', as.membershipId), 'deleted', true),
    ],
    ['whose login ended', 'unauthorized', ({ as }) => set(keys.login(as.loginId), 'revoked', true)],
    [
      'when the Bot is disabled',
      'invalid',
      async ({ id, as }) => {
        const head = await getItem(services, keys.resource(as.project, 'Bot', id));
        await change('ProjectMembership', String(head?.membershipId), { active: false });
      },
    ],
    [
      'when the Bot is deleted',
      'not-found',
      ({ id, as }) => set(keys.resource(as.project, 'Bot', id), 'deleted', true),
    ],
  ])('a repeat is refused to who could not begin it: %s', async (name, kind, end) => {
    const at = await answered(name);
    await end(at);
    const before = runs.length;
    await expect(at.repeat()).rejects.toEqual(refusedAs(kind));
    await expect(at.repeat(at.as, true)).rejects.toEqual(refusedAs(kind));
    expect(runs.length).toBe(before);
  });

  test.each<[string, string, string, unknown]>([
    ['is disabled', 'unauthorized', 'disabledAtMs', 1],
    ['has its Bots stopped', 'invalid', 'paused', true],
    ['is provisioned without Bots', 'invalid', 'featuresOff', ['bots']],
  ])('a repeat is refused when the Project %s', async (name, kind, field, value) => {
    const at = await answered(name);
    const project = keys.resource(caller.project, 'Project', caller.project);
    await set(project, field, value);
    const ended = at.repeat();
    await expect(ended).rejects.toEqual(refusedAs(kind));
    await services.table.update({
      Key: project,
      UpdateExpression: 'REMOVE #name',
      ExpressionAttributeNames: { '#name': field },
    });
    expect(await at.repeat()).toMatchObject({ isReplay: true });
  });

  test("the answer of one caller is not another's, nor that of a wider login the narrower one's", async () => {
    const { as, repeat } = await answered('bounds', { runAsUser: true });
    const { as: other } = await newReader([{ resourceType: 'Bot' }]);
    expect(await repeat(other)).toMatchObject({ isReplay: false });
    const scoped = callerOf({ ...as, scope: 'system/Bot.ru system/Patient.r' }, 'member');
    await expect(repeat(scoped)).rejects.toEqual(refusedAs('unprocessable'));
    const { admission: _, ...claims } = as;
    const within = [{ membershipId: other.membershipId, profile: other.profile, scope: '' }];
    const run = { id: 'r', root: 'r', depth: 1, deadlineAtMs: stage.clock.nowMs + 20_000, within };
    await expect(repeat(callerOf({ ...claims, run }, 'member'))).rejects.toEqual(refusedAs('unprocessable'));
    expect(await repeat()).toMatchObject({ isReplay: true });
  });

  test('an identifier that leads to another Bot by now is answered nothing of the one before', async () => {
    await newBot('first', 'moved');
    const to = await newBot('second');
    const bot = { system: 's', value: 'moved' };
    await runOnce(bot, 'k8');
    expect(await runOnce(bot, 'k8')).toMatchObject({ isReplay: true });
    await services.table.put({ ...keys.botIdentifier(caller.project, 's', 'moved'), botId: to });
    await expect(runOnce(bot, 'k8')).rejects.toEqual(refusedAs('unprocessable'));
  });

  test('a run that was not started leaves the key free', async () => {
    const bot = await target('free');
    next = () => ({ kind: 'throttled' });
    await expect(runOnce(bot, 'k4')).rejects.toMatchObject({ kind: 'throttled' });
    expect(await runOnce(bot, 'k4')).toMatchObject({ isReplay: false });
  });

  test('a failure costs as much, and leaves the key free', async () => {
    const bot = await target('failing');
    await run(bot);
    const before = runs.length;
    next = () => ({
      kind: 'result',
      result: {
        outcome: { kind: 'threw', name: 'Error', message: 'no' },
        log: [],
        logTruncated: false,
        durationMs: 1,
      },
    });
    const first = await callsOf(stage.client, () => runOnce(bot, 'k7'));
    expect(first).toEqual(['BatchGetItem', 'PutItem', 'TransactWriteItems']);
    expect(await runOnce(bot, 'k7')).toMatchObject({ isReplay: false, output: { text: 'failing' } });
    expect(await runOnce(bot, 'k7')).toMatchObject({ isReplay: true, output: { text: 'failing' } });
    expect(runs.length).toBe(before + 2);
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
    const dying = { ...services, table: { ...services.table, putIf: once(services.table.putIf) } };
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
function once(putIf: ExecuteServices['table']['putIf']): ExecuteServices['table']['putIf'] {
  let puts = 0;
  return async (item, condition) => {
    puts += 1;
    if (puts > 1) throw new Death();
    return putIf(item, condition);
  };
}
