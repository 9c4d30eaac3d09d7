import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { openQueueStore, type QueueStore } from '../../infra/local/services/queue-store.ts';
import { queues } from '../../infra/queues.ts';
import { createBot } from '../../shared/bots/bot/create-bot.ts';
import { deployBot } from '../../shared/bots/bot/deploy-bot.ts';
import { entryOf, holdEntry, leaveEntry } from '../../shared/bots/run/bounds.ts';
import type { RunRequest } from '../../shared/bots/run/contract.ts';
import { emptyBotMemory } from '../../shared/bots/run/services.ts';
import { fileDataKeys } from '../../shared/carry/keys/data-keys.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import { type Key, keys } from '../../shared/carry/table/keys.ts';
import { Later, type Queue } from '../../shared/carry/work/queue.ts';
import { type Caller, callerOf } from '../../shared/identity/gate/access-token.ts';
import { settingDefaults } from '../../shared/identity/projects/settings.ts';
import { candidateMessage, changeOf, parseCandidate } from '../../shared/records/subscriptions/change.ts';
import { deliverNext } from '../../shared/records/subscriptions/deliver/deliver.ts';
import { waitAfter } from '../../shared/records/subscriptions/deliver/prepared.ts';
import { mostOfProject } from '../../shared/records/subscriptions/deliver/steps.ts';
import { redeliver, resend } from '../../shared/records/subscriptions/deliveries.ts';
import { parseLane } from '../../shared/records/subscriptions/delivery.ts';
import { knownSubscriptions, listedItem } from '../../shared/records/subscriptions/listed.ts';
import { matchChange, mostOfProject as mostEvaluating } from '../../shared/records/subscriptions/match.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import { disturbed, faults } from '../faults/inject.ts';
import { ringOf } from '../setup/key-rings.ts';
import { scanAll } from './scan-all.ts';
import { getItem, newProject, newResource, type Stage, startStage } from './stage.ts';

let stage: Stage;
let caller: Caller<'administrator'>;
let store: QueueStore;
let runs: RunRequest[];
/** Which of the next runs throw; after these, none does. */
let fails: boolean[];
let subscriptionId: string;

beforeEach(async () => {
  stage = await startStage();
  caller = await newProject(stage);
  store = openQueueStore(':memory:', stage.services.now);
  runs = [];
  fails = [];
  const { id } = await createBot(services(), again(), { name: 'Woken' });
  await deployBot(services(), again(), { botId: id, body: { code: 'x' }, traceId: 't' });
  subscriptionId = await subscribe(`Bot/${id}`);
});
afterEach(async () => {
  store.close();
  await stage.stop();
});

/** Who calls in a request of its own. */
const again = () => {
  const { admission: _, ...claims } = caller;
  return callerOf(claims, 'administrator');
};

const queue = (name: string): Queue => ({
  async send(messages) {
    const all = messages.map(({ body, group }) => ({
      MessageBody: JSON.stringify(body),
      ...{ MessageGroupId: group?.id, MessageDeduplicationId: group?.message },
    }));
    store.send(name, all);
    return [];
  },
});

function services() {
  return {
    ...stage.services,
    runTokenKeys: ringOf(Buffer.alloc(32, 1)),
    dataKeys: async () => fileDataKeys(Buffer.alloc(32, 2)),
    botMemory: emptyBotMemory(),
    jobs: { start: async () => 'started' as const },
    queues: {
      deliveries: queue('deliveries'),
      subscriptions: queue('subscriptions'),
      'subscription-status': queue('subscription-status'),
    },
    known: knownSubscriptions(stage.services, 10_000),
    allowsLoopback: false,
    invoker: {
      async compile({ source }: { source: string }) {
        return {
          kind: 'result' as const,
          result: { kind: 'compiled', format: 'cjs', text: source } as const,
        };
      },
      async invoke(run: RunRequest) {
        if (run.event.headers['x-portico-delivery'] !== undefined) runs.push(run);
        const returned = { kind: 'returned', value: { type: 'string', text: 'x' } } as const;
        const threw = { kind: 'threw', name: 'Error', message: 'x' } as const;
        const outcome = fails.shift() ? threw : returned;
        const result = { outcome, log: [], logTruncated: false, durationMs: 1 };
        return { kind: 'result' as const, result };
      },
    },
    evaluator: {
      invoke: async () => {
        throw new Error('Nobody has an expression');
      },
    },
  };
}

/** Services of a process that dies at the n-th step; a step is a call that begins, or one that has ended. */
function dyingAt(n: number): { dying: ReturnType<typeof services>; isDead(): boolean } {
  let steps = 0;
  const mortal = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(own, name) {
        const called = Reflect.get(own, name);
        if (typeof called !== 'function') return called;
        return async (...args: unknown[]) => {
          if (steps++ >= n) throw new Error('dead');
          const result = await called.apply(own, args);
          if (steps++ >= n) throw new Error('dead');
          return result;
        };
      },
    });
  const whole = services();
  const queues = {
    ...whole.queues,
    deliveries: mortal(whole.queues.deliveries),
    'subscription-status': mortal(whole.queues['subscription-status']),
  };
  const dying = { ...whole, table: mortal(whole.table), invoker: mortal(whole.invoker), queues };
  return { dying, isDead: () => steps > n };
}

/** Services whose n-th batch of messages is said not to be taken, whether or not it was. */
function doubtingAt(n: number, isTaken: boolean): { doubting: ReturnType<typeof services>; sends(): number } {
  let sends = 0;
  const doubted = (own: Queue): Queue => ({
    async send(messages) {
      sends += 1;
      if (sends !== n) return own.send(messages);
      if (isTaken) await own.send(messages);
      return messages.map((_, position) => ({ position, cause: 'TimeoutError' }));
    },
  });
  const whole = services();
  const queues = {
    deliveries: doubted(whole.queues.deliveries),
    subscriptions: doubted(whole.queues.subscriptions),
    'subscription-status': doubted(whole.queues['subscription-status']),
  };
  return { doubting: { ...whole, queues }, sends: () => sends };
}

const extension = (name: string, value: object) => ({
  url: `https://medplum.com/fhir/StructureDefinition/${name}`,
  ...value,
});
const expressed = (valueString: string) => extension('fhir-path-criteria-expression', { valueString });

async function subscribe(endpoint: string, ...extensions: object[]): Promise<string> {
  const body = {
    ...{ resourceType: 'Subscription', status: 'active', reason: 'x', criteria: 'Patient' },
    channel: { type: 'rest-hook', endpoint },
    ...(extensions.length > 0 ? { extension: extensions } : {}),
  };
  const [made] = await carryOut(stage.services, again(), [{ kind: 'create', type: 'Subscription', body }]);
  return String(made?.id);
}

interface Changed {
  before: Item | undefined;
  after: Item | undefined;
}

/** Two versions of a new record, as the stream would tell of them. */
async function twoVersions(): Promise<Changed[]> {
  const key = (id: string) => keys.resource(caller.project, 'Patient', id);
  const body = { resourceType: 'Patient' };
  const [made] = await carryOut(stage.services, again(), [{ kind: 'create', type: 'Patient', body }]);
  const id = String(made?.id);
  const first = await getItem(stage.services, key(id));
  stage.clock.nowMs += 1;
  const changed = { resourceType: 'Patient', id, active: true };
  await carryOut(stage.services, again(), [{ kind: 'update', type: 'Patient', id, body: changed }]);
  const second = await getItem(stage.services, key(id));
  return [
    { before: undefined, after: first },
    { before: first, after: second },
  ];
}

const versionsOf = (changed: readonly Changed[]) => changed.map(({ after }) => String(after?.versionId));

/** What the dispatcher does with them. */
async function handOn(changed: readonly Changed[], subscriptions = [subscriptionId]): Promise<void> {
  const messages = changed.map(({ before, after }) => {
    const change = changeOf(before, after);
    if (!change) throw new Error('No change');
    return candidateMessage({ ...change, subscriptions });
  });
  await queue('subscriptions').send(messages);
}

const match = (own: ReturnType<typeof services>) => (body: unknown) => matchChange(own, parseCandidate(body));
const deliver = (own: ReturnType<typeof services>) => (body: unknown) => deliverNext(own, parseLane(body));

/** Takes one message, as Lambda does: one that was not taken comes back when its time is over. */
async function takeOne(name: string, work: (body: unknown) => Promise<void>): Promise<boolean> {
  const [message] = store.receive(name, { most: 1, hiddenMs: 90_000 });
  if (!message) return false;
  try {
    await work(JSON.parse(message.body));
    store.remove(message.receipt);
  } catch (error) {
    if (error instanceof Later) store.postpone(message.receipt, error.seconds * 1000);
    else if ((error as Error).message !== 'dead') throw error;
  }
  return true;
}

async function drain(name: string, work: (body: unknown) => Promise<void>): Promise<void> {
  for (let n = 0; n < 200; n++) {
    if (await takeOne(name, work)) continue;
    const nextAtMs = store.nextAtMs(name);
    if (nextAtMs === undefined) return;
    stage.clock.nowMs = Math.max(stage.clock.nowMs, nextAtMs);
  }
  throw new Error(`The queue ${name} does not empty`);
}

/** Version and attempt of each run, in the order in which they began. */
function ranOf(versions: readonly string[]): string[] {
  return runs.flatMap((run) => {
    const { meta } = JSON.parse(run.input.text ?? '{}') as { meta?: { versionId: string } };
    const place = versions.indexOf(String(meta?.versionId));
    return place < 0 ? [] : [`${place} ${run.event.headers['x-portico-attempt']}`];
  });
}

/** Nothing waits: neither in a lane nor for a place. */
async function expectNothingLeft(): Promise<void> {
  const items = await scanAll(stage.client, stage.tableName);
  expect(items.filter(({ pk }) => /#(LANE|WAITING)#/.test(pk))).toEqual([]);
  const deliveries = items.filter(({ pk }) => pk.includes('#DELIVERY#'));
  expect(deliveries.map(({ ended }) => ended)).toEqual(deliveries.map(() => 'done'));
}

test('a delivery is attempted, whichever answer of the table is lost', async () => {
  const fault = faults['is not answered'];
  for (let n = 1, attempts = 1; n <= attempts; n += 1) {
    await handOn((await twoVersions()).slice(0, 1));
    await drain('subscriptions', match(services()));
    const before = runs.length;
    const met = await disturbed(stage.client, { n, fault }, () => takeOne('deliveries', deliver(services())));
    attempts = met.attempts - 1;
    expect([n, runs.length - before]).toEqual([n, 1]);
  }
});

test('a Subscription is read whole once a version, and another version is at once the one that counts', async () => {
  const id = await subscribe('https://93.184.215.14/');
  const own = services();
  let whole = 0;
  const table = {
    ...own.table,
    read(wanted: readonly Key[], attributes?: readonly string[]) {
      if (!attributes) whole += wanted.filter(({ pk }) => pk.includes('Subscription')).length;
      return own.table.read(wanted, attributes);
    },
  };
  const attempts = async () => {
    await handOn((await twoVersions()).slice(0, 1), [id]);
    await drain('subscriptions', match({ ...own, table }));
    const left = store.receive('deliveries', { most: 10, hiddenMs: 1000 });
    for (const { receipt } of left) store.remove(receipt);
    return left.length;
  };
  expect([await attempts(), await attempts(), whole]).toEqual([1, 1, 1]);
  const body = {
    ...{ resourceType: 'Subscription', id, status: 'active', reason: 'x', criteria: 'Patient?active=true' },
    channel: { type: 'rest-hook', endpoint: 'https://93.184.215.14/' },
  };
  await carryOut(stage.services, again(), [{ kind: 'update', type: 'Subscription', id, body }]);
  expect([await attempts(), whole]).toEqual([0, 2]);
});

describe('expressions of Subscriptions', () => {
  const result = { log: [], logTruncated: false, durationMs: 1 };
  const timeIsUp = { kind: 'limit', limit: 'time' } as const;
  const matchWith = (invoke: () => Promise<void>) => {
    const evaluator = {
      async invoke() {
        await invoke();
        return { kind: 'result' as const, result: { ...result, outcome: timeIsUp } };
      },
    };
    return match({ ...services(), evaluator } as ReturnType<typeof services>);
  };
  const candidate = async (subscriptions: string[]) => {
    const [created] = await twoVersions();
    const change = created && changeOf(created.before, created.after);
    if (!change) throw new Error('No change');
    return candidateMessage({ ...change, subscriptions }).body;
  };

  test('have forty seconds for one change, all together', async () => {
    const slow = [];
    for (let n = 0; n < 3; n += 1) slow.push(await subscribe('https://93.184.215.14/', expressed('active')));
    let evaluated = 0;
    const slowly = matchWith(async () => {
      evaluated += 1;
      stage.clock.nowMs += 25_000;
    });
    await slowly(await candidate(slow));
    expect(evaluated).toBe(2);
    const items = await scanAll(stage.client, stage.tableName);
    const told = items.filter(({ pk }) => pk.includes('#ATTEMPTS#'));
    expect(told).toHaveLength(3);
    expect(JSON.stringify(told)).toContain('those of other Subscriptions took too long');
  });

  test('are not evaluated where the criteria look at what is hidden from their author', async () => {
    const { project } = caller;
    const profile = { reference: 'Practitioner/p' };
    const policy = await newResource(stage, project, {
      resourceType: 'AccessPolicy',
      resource: [{ resourceType: 'Patient', hiddenFields: ['birthDate'] }, { resourceType: 'Subscription' }],
    });
    await newResource(stage, project, {
      ...{
        resourceType: 'ProjectMembership',
        id: 'author',
        active: true,
        profile,
        user: { reference: 'User/u' },
      },
      ...{ project: { reference: `Project/${project}` }, accessPolicy: { reference: policy } },
    });
    await stage.services.table.put({ ...keys.login('author'), membershipId: 'author' });
    const author = () =>
      callerOf(
        { ...again(), membershipId: 'author', profile: profile.reference, loginId: 'author' },
        'member',
      );
    const born = { resourceType: 'Patient', birthDate: '1931-07-13', active: true };
    const evaluatedWith = async (criteria: string) => {
      const body = {
        ...{ resourceType: 'Subscription', status: 'active', reason: 'x', criteria },
        channel: { type: 'rest-hook', endpoint: 'https://93.184.215.14/' },
        extension: [expressed('true')],
      };
      const [made] = await carryOut(stage.services, author(), [
        { kind: 'create', type: 'Subscription', body },
      ]);
      const [patient] = await carryOut(stage.services, again(), [
        { kind: 'create', type: 'Patient', body: born },
      ]);
      const after = await getItem(stage.services, keys.resource(project, 'Patient', String(patient?.id)));
      const change = changeOf(undefined, after);
      if (!change) throw new Error('No change');
      let evaluated = 0;
      const counting = matchWith(async () => {
        evaluated += 1;
      });
      await counting(candidateMessage({ ...change, subscriptions: [String(made?.id)] }).body);
      return evaluated;
    };
    expect(await evaluatedWith('Patient?active=true')).toBe(1);
    expect(await evaluatedWith('Patient?birthdate=1931-07-13')).toBe(0);
  });

  test('are evaluated for ten changes of a Project at once, and another one waits', async () => {
    const body = await candidate([await subscribe('https://93.184.215.14/', expressed('active'))]);
    const gate = Promise.withResolvers<void>();
    let evaluating = 0;
    const held = matchWith(async () => {
      evaluating += 1;
      await gate.promise;
    });
    const changes = Array.from({ length: mostEvaluating }, () => held(body));
    while (evaluating < mostEvaluating) await new Promise((resolve) => setTimeout(resolve, 5));
    await expect(held(body)).rejects.toThrow(Later);
    gate.resolve();
    await Promise.all(changes);
    await held(body);
    expect(evaluating).toBe(mostEvaluating + 1);
  });
});

describe('criteria of Subscriptions', () => {
  /** Hands on a long record to so many Subscriptions that look for four long texts anywhere in it. */
  async function handOnCostly(count: number): Promise<void> {
    const searched = Array(4).fill('q'.repeat(900)).join();
    const body = {
      ...{ resourceType: 'Subscription', status: 'active', reason: 'x' },
      criteria: `Patient?name:contains=${searched}`,
      channel: { type: 'rest-hook', endpoint: 'https://93.184.215.14/' },
    };
    const made = await carryOut(
      stage.services,
      again(),
      Array.from({ length: count }, () => ({ kind: 'create', type: 'Subscription', body })),
    );
    const patient = { resourceType: 'Patient', name: [{ family: 'a'.repeat(400_000) }] };
    const [long] = await carryOut(stage.services, again(), [
      { kind: 'create', type: 'Patient', body: patient },
    ]);
    const after = await getItem(stage.services, keys.resource(caller.project, 'Patient', String(long?.id)));
    await handOn(
      [{ before: undefined, after }],
      made.map(({ id }) => String(id)),
    );
  }

  test('cost up to a bound for each change, all together, and who is beyond it is told', async () => {
    await handOnCostly(7);
    await drain('subscriptions', match(services()));
    const items = await scanAll(stage.client, stage.tableName);
    const told = items.filter((item) =>
      JSON.stringify(item).includes('too many alternatives for so long a record'),
    );
    expect(told).toHaveLength(1);
    expect(told[0]?.pk).toContain('#ATTEMPTS#');
  });

  test.each([
    ['5 s of CPU', { cpuMs: 6_000, wallMs: 0 }, 'too many alternatives for so long a record'],
    ['40 s', { cpuMs: 0, wallMs: 41_000 }, 'those of other Subscriptions took too long'],
  ])(
    'have %s for each change, all together, and who is beyond it is told',
    async (_, { cpuMs, wallMs }, said) => {
      const spent = jest.spyOn(process, 'threadCpuUsage').mockImplementation((from) => {
        if (from) stage.clock.nowMs += wallMs;
        // The clock is asked every 10 ms at most.
        const untilMs = performance.now() + 12;
        while (performance.now() < untilMs);
        return { user: from ? cpuMs * 1000 : 0, system: 0 };
      });
      try {
        await handOnCostly(2);
        await drain('subscriptions', match(services()));
      } finally {
        spent.mockRestore();
      }
      const items = await scanAll(stage.client, stage.tableName);
      const told = items.filter((item) => JSON.stringify(item).includes(said));
      expect(told.map(({ pk }) => pk)).toEqual([expect.stringContaining('#ATTEMPTS#')]);
    },
  );

  test('that take long wait for a turn of their Project', async () => {
    await handOnCostly(1);
    const key = keys.evaluating(caller.project);
    const entries = Array.from({ length: mostEvaluating }, (_, n) =>
      entryOf(`held-${n}`, stage.clock.nowMs + 60_000),
    );
    for (const entry of entries) await holdEntry(services(), key, entry, mostEvaluating);
    const later: unknown[] = [];
    await takeOne('subscriptions', async (body) => {
      await match(services())(body).catch((error) => {
        later.push(error);
        throw error;
      });
    });
    expect(later).toEqual([expect.any(Later)]);
    for (const entry of entries) await leaveEntry(services(), key, entry);
    await drain('subscriptions', match(services()));
  });
});

describe('a function that dies before and after each of its calls', () => {
  test('while it matches: each version is delivered once, in order', async () => {
    let deaths = 0;
    for (let isDead = true; isDead; deaths++) {
      const changed = await twoVersions();
      await handOn(changed);
      const doomed = dyingAt(deaths);
      await takeOne('subscriptions', match(doomed.dying));
      isDead = doomed.isDead();
      await drain('subscriptions', match(services()));
      await drain('deliveries', deliver(services()));
      expect([deaths, ...ranOf(versionsOf(changed))]).toEqual([deaths, '0 1', '1 1']);
    }
    // Reading Subscriptions and versions, writing a delivery, queueing it: each a step before and one after.
    expect(deaths).toBeGreaterThan(8);
    await expectNothingLeft();
  });

  test('while it delivers: each version is delivered, in order, and no attempt twice', async () => {
    let deaths = 0;
    let repeated = 0;
    for (let isDead = true; isDead; deaths++) {
      const changed = await twoVersions();
      await handOn(changed);
      await drain('subscriptions', match(services()));
      const doomed = dyingAt(deaths);
      await takeOne('deliveries', deliver(doomed.dying));
      isDead = doomed.isDead();
      await drain('deliveries', deliver(services()));
      const ran = ranOf(versionsOf(changed));
      expect([deaths, new Set(ran).size]).toEqual([deaths, ran.length]);
      expect([deaths, ...new Set(ran.map((one) => one[0]))]).toEqual([deaths, '0', '1']);
      expect(ran).toEqual([...ran].sort());
      repeated += ran.length - 2;
    }
    // Some die between the run and the note that it ended: those are attempted again, as the next attempt.
    expect(repeated).toBeGreaterThan(0);
    expect(deaths).toBeGreaterThan(20);
    await expectNothingLeft();
  });
});

describe.each([
  ['arrived all the same', true],
  ['did not arrive', false],
])('a message without an answer that %s', (_name, isTaken) => {
  type Own = ReturnType<typeof services>;
  const failing = (work: (body: unknown) => Promise<void>) => (body: unknown) =>
    work(body).catch((error: Error) => {
      throw error instanceof Later ? error : new Error('dead');
    });

  /** @param play with services in doubt @returns at how many places they send */
  async function atEach(play: (own: Own) => Promise<{ ran: string[]; wanted: string[] }>): Promise<number> {
    for (let n = 1; ; n++) {
      const { doubting, sends } = doubtingAt(n, isTaken);
      const { ran, wanted } = await play(doubting);
      expect([n, ...ran]).toEqual([n, ...wanted]);
      if (sends() < n) {
        process.stdout.write(`${n - 1} faults of a queue\n`);
        return n - 1;
      }
    }
  }

  test('while it matches: the version is delivered once', async () => {
    const places = await atEach(async (own) => {
      const [first] = await twoVersions();
      const changed = first ? [first] : [];
      await handOn(changed);
      await drain('subscriptions', failing(match(own)));
      await drain('deliveries', deliver(services()));
      return { ran: ranOf(versionsOf(changed)), wanted: ['0 1'] };
    });
    expect(places).toBe(1);
    await expectNothingLeft();
  });

  test('while it delivers: what follows in the lane is delivered once, told of by nobody else', async () => {
    const places = await atEach(async (own) => {
      const changed = await twoVersions();
      await handOn(changed.slice(0, 1));
      await drain('subscriptions', match(services()));
      await handOn(changed.slice(1));
      const lost = match(doubtingAt(1, false).doubting);
      await drain('subscriptions', (body) => lost(body).catch(() => undefined));
      await drain('deliveries', failing(deliver(own)));
      return { ran: ranOf(versionsOf(changed)), wanted: ['0 1', '1 1'] };
    });
    expect(places).toBe(1);
    await expectNothingLeft();
  });

  test('while somebody asks for a delivery anew: 503; asked again, it is made once more', async () => {
    const changed = (await twoVersions()).slice(0, 1);
    await handOn(changed);
    const settle = async () => {
      await drain('subscriptions', match(services()));
      await drain('deliveries', deliver(services()));
    };
    await settle();
    const delivery = String(runs[0]?.event.headers['x-portico-delivery']);
    const ask = (own: Own) => redeliver(own, again(), { id: subscriptionId, body: { delivery } });
    await expect(ask(doubtingAt(1, isTaken).doubting)).rejects.toMatchObject({ kind: 'unavailable' });
    await ask(services());
    await settle();
    expect(ranOf(versionsOf(changed))).toEqual(['0 1', '0 1']);
    await expectNothingLeft();
  });

  test('while somebody asks for a change anew: 503, and nothing waits', async () => {
    const changed = await twoVersions();
    const id = String(changed[0]?.after?.pk.split('#').at(-1));
    const ask = (own: Own) => resend(own, again(), { type: 'Patient', id, body: undefined });
    await expect(ask(doubtingAt(1, isTaken).doubting)).rejects.toMatchObject({ kind: 'unavailable' });
    await ask(services());
    await drain('subscriptions', match(services()));
    await drain('deliveries', deliver(services()));
    // Each request is one of its own: what arrived without an answer is delivered, too.
    expect(ranOf(versionsOf(changed))).toEqual(isTaken ? ['1 1', '1 1'] : ['1 1']);
    await expectNothingLeft();
  });
});

/** Which of two changes is told when; an hour passes at each space. */
test.each(['0101', '00 11', '01 01', '01 0 1', '1 01', '10'])(
  'a stream that tells of changes as %s has each version delivered once',
  async (told) => {
    const changed = await twoVersions();
    for (const places of told.split(' ')) {
      for (const place of places) await handOn(changed.slice(Number(place)).slice(0, 1));
      await drain('subscriptions', match(services()));
      await drain('deliveries', deliver(services()));
      stage.clock.nowMs += 3_600_000;
    }
    const ran = ranOf(versionsOf(changed));
    expect(told.startsWith('0') ? ran : [...ran].sort()).toEqual(['0 1', '1 1']);
    await expectNothingLeft();
  },
);

describe('a Subscription', () => {
  test('that is deleted while deliveries wait is told nothing more, and nothing waits', async () => {
    await handOn(await twoVersions());
    await drain('subscriptions', match(services()));
    await carryOut(stage.services, again(), [{ kind: 'delete', type: 'Subscription', id: subscriptionId }]);
    await drain('deliveries', deliver(services()));
    expect(runs).toEqual([]);
    const items = await scanAll(stage.client, stage.tableName);
    expect(items.filter(({ pk }) => /#(LANE|WAITING)#/.test(pk))).toEqual([]);
  });

  test('to a Bot that is gone turns error after ten deliveries', async () => {
    const bot = await createBot(services(), again(), { name: 'Gone' });
    const own = await subscribe(`Bot/${bot.id}`);
    await carryOut(stage.services, again(), [{ kind: 'delete', type: 'Bot', id: bot.id }]);
    const told = () =>
      store.receive('subscription-status', { most: 10, hiddenMs: 1_000 }).map(({ body }) => JSON.parse(body));
    for (let n = 0; n < 5; n++) {
      expect(told()).toEqual([]);
      await handOn(await twoVersions(), [own]);
      await drain('subscriptions', match(services()));
      await drain('deliveries', deliver(services()));
    }
    expect(told()).toMatchObject([{ id: own, failed: '10 deliveries failed one after the other' }]);
  });

  const [nine, ten] = ['f'.repeat(9), 'f'.repeat(10)];
  test.each([
    [ten, 1],
    [`${nine}.${nine}.f`, 0],
    [`${ten}.${nine}`, 1],
    [`${nine}.${ten}`, 1],
  ])(
    'whose deliveries end as %s turns error %i times: those that end well end the row',
    async (ended, errors) => {
      const { id: bot } = await createBot(services(), again(), { name: 'Failing' });
      await deployBot(services(), again(), { botId: bot, body: { code: 'x' }, traceId: 't' });
      const own = await subscribe(`Bot/${bot}`, extension('subscription-max-attempts', { valueInteger: 1 }));
      fails = [...ended].map((end) => end === 'f');
      for (const _ of ended) {
        await handOn((await twoVersions()).slice(0, 1), [own]);
        await drain('subscriptions', match(services()));
        await drain('deliveries', deliver(services()));
      }
      expect(runs).toHaveLength(ended.length);
      expect(store.count('subscription-status')).toBe(errors);
    },
  );
});

test.each([
  [1, 0, 1_000],
  [1, 1_500, 1_500],
  [4, 1_500, 8_000],
  [3, 599_999, 599_999],
  [1, 86_400_000, 600_000],
  [11, 0, 600_000],
  [19, 0, 600_000],
])('after attempt %i of a receiver that asks for %i ms the next waits %i ms', (attempt, asked, waited) => {
  expect(waitAfter(attempt, asked)).toBe(waited);
});

describe('deliveries that follow from one call', () => {
  test('are ten thousand at most; then the Subscriptions of what comes turn error', async () => {
    const origin = randomUUID();
    const other = await subscribe('https://example.org/hook');
    const both = [subscriptionId, other];
    const by = { callers: [], run: { depth: 1, origin } };
    await stage.services.table.put({ ...keys.origin(caller.project, origin), deliveries: 9_998 });
    const last = async () => {
      const [change] = await twoVersions();
      const after = change?.after;
      const id = String(after?.pk.split('#').at(-1));
      await stage.services.table.update({
        Key: keys.version(caller.project, 'Patient', id, {
          versionId: String(after?.versionId),
          lastUpdated: String(after?.lastUpdated),
        }),
        UpdateExpression: 'SET #by = :by',
        ExpressionAttributeNames: { '#by': 'by' },
        ExpressionAttributeValues: { ':by': by },
      });
      await handOn(change ? [change] : [], both);
      await drain('subscriptions', match(services()));
    };
    await last();
    expect(store.count('deliveries')).toBe(2);
    expect(store.count('subscription-status')).toBe(0);
    await last();
    expect(store.count('deliveries')).toBe(2);
    const told = store.receive('subscription-status', { most: 10, hiddenMs: 1_000 });
    const reason = 'One call has brought about 10000 deliveries: a loop';
    const failed = told.map(({ body }) => JSON.parse(body)).map(({ id, failed: why }) => [id, why]);
    expect(failed.sort()).toEqual(both.map((id) => [id, reason]).sort());
  });
});

test('of many Subscriptions each has fewer deliveries at once: a Project leaves others half of the places', async () => {
  const { project } = caller;
  const { table, now } = stage.services;
  expect(queues.deliveries.mostConcurrent).toBeGreaterThanOrEqual(2 * mostOfProject);
  // With as many as there may be each has one place.
  expect(queues.deliveries.mostConcurrent).toBeGreaterThanOrEqual(2 * settingDefaults.subscriptions);
  const key = keys.delivering(project, subscriptionId);
  const taken = entryOf('another', now() + 3_600_000);
  expect(await holdEntry(stage.services, key, taken, 1)).toBe(true);
  const next = async () => {
    await handOn(await twoVersions());
    await drain('subscriptions', match(services()));
    await drain('deliveries', deliver(services()));
    return runs.length;
  };
  expect(await next()).toBe(2);
  const others = Array.from({ length: 49 }, (_, n) => ({ id: `other-${n}`, type: 'Observation', since: '' }));
  await table.write(others.map((one) => listedItem(project, one)));
  expect(await next()).toBe(2);
  const waiting = (await scanAll(stage.client, stage.tableName)).filter(({ pk }) => pk.includes('#WAITING#'));
  expect(waiting).toHaveLength(1);
});
