import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// biome-ignore lint/correctness/noUnresolvedImports: Node has it, Biome does not know it yet
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { useLocalCredentials } from '../../infra/local/environment.ts';
import type { Listening } from '../../infra/local/gateway/listen.ts';
import { queueService, serveAws } from '../../infra/local/services/aws.ts';
import { openQueueStore, type QueueStore } from '../../infra/local/services/queue-store.ts';
import { followQueue } from '../../infra/local/services/queues.ts';
import { sqsDeadLetters, sqsFeed, sqsQueue } from '../../shared/aws/sqs.ts';
import { consume, retryDead } from '../../shared/carry/work/consume.ts';
import { Later } from '../../shared/carry/work/queue.ts';
import { queueHandler } from '../../shared/composition/queues.ts';

let folder: string;
let store: QueueStore;
let api: Listening;
let following: { stop(): Promise<void> }[];
let logged: unknown[];
const log = { info: () => undefined, error: (...entry: unknown[]) => void logged.push(entry) };

beforeEach(async () => {
  useLocalCredentials();
  folder = await mkdtemp(join(tmpdir(), 'portico-queue-'));
  store = openQueueStore(join(folder, 'queues.db'));
  api = await serveAws(queueService(store));
  following = [];
  logged = [];
});
afterEach(async () => {
  await Promise.all(following.map((one) => one.stop()));
  await api.stop();
  store.close();
  await rm(folder, { recursive: true });
});

const urlOf = (queue: string) => `${api.url}/000000000000/${queue}`;
const send = (...bodies: unknown[]) => sqsQueue(urlOf('work')).send(bodies.map((body) => ({ body })));

/**
 * Follows the queue; `work` fails for a message by throwing. What is hidden for a short time only may be given
 * again before it is taken, on a machine that is slower than that.
 */
function follow(work: (body: unknown) => Promise<void>, { hiddenSeconds = 60, batchSize = 10 } = {}) {
  const batches: unknown[][] = [];
  const handler = async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    batches.push(Records.map(({ body }) => JSON.parse(body)));
    return consume({ log }, Records, work);
  };
  following.push(
    followQueue({
      ...{ store, queue: 'work', deadLetters: 'dead', batchSize, mostConcurrent: 2, hiddenSeconds },
      ...{ mostReceives: 3, consume: handler, onFault: (error) => logged.push(error) },
    }),
  );
  return batches;
}

async function until(holds: () => boolean): Promise<void> {
  for (const untilMs = Date.now() + 30_000; !holds(); await pause(10)) {
    if (Date.now() > untilMs) throw new Error('not in time');
  }
}

describe('a queue on a laptop, by the client that AWS has', () => {
  test('lets the few messages of one owner, and those of nobody, not wait for the many of another', async () => {
    const queue = sqsQueue(urlOf('work'));
    const many = Array.from({ length: 50 }, (_, n) => ({ body: `many ${n}`, share: 'many' }));
    await queue.send([...many, { body: 'few', share: 'few' }, { body: 'nobody’s' }]);
    const first = store.receive('work', { most: 3, hiddenMs: 60_000 });
    const owners = first.map(({ body }) => JSON.parse(body).split(' ')[0]);
    expect(owners.sort()).toEqual(['few', 'many', 'nobody’s']);
    expect(store.receive('work', { most: 60, hiddenMs: 60_000 })).toHaveLength(49);
  });

  test('goes on with a folder of an earlier release, which knows no owners', async () => {
    const file = join(folder, 'earlier.db');
    const database = new DatabaseSync(file);
    database.exec(`CREATE TABLE queued (
      n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE, queue TEXT, "group" TEXT, body TEXT,
      sent_at INTEGER, hidden_until INTEGER, receives INTEGER DEFAULT 0
    )`);
    const insert = 'INSERT INTO queued (id, queue, body, sent_at, hidden_until) VALUES (?, ?, ?, ?, 0)';
    database.prepare(insert).run('a', 'work', '"before"', Date.now());
    database.close();
    const earlier = openQueueStore(file);
    earlier.send('work', [{ MessageBody: '"after"', MessageGroupId: 'p' }]);
    const bodies = earlier.receive('work', { most: 10, hiddenMs: 1000 }).map(({ body }) => body);
    expect(bodies).toEqual(['"before"', '"after"']);
    earlier.close();
  });

  test('gives every message once to who takes it', async () => {
    const taken: unknown[] = [];
    follow(async (body) => void taken.push(body));
    const all = Array.from({ length: 35 }, (_, n) => ({ n, text: 'ü "\n' }));
    expect(await send(...all)).toEqual([]);
    await until(() => store.count('work') === 0);
    expect(taken).toHaveLength(all.length);
    expect(new Set(taken.map((body) => JSON.stringify(body)))).toEqual(
      new Set(all.map((body) => JSON.stringify(body))),
    );
  });

  test('gives again what failed, not its neighbours, and buries it in the end', async () => {
    let tries = 0;
    const fails = async (body: unknown) => {
      if (body !== 'poison') return;
      tries++;
      throw new Error('no');
    };
    const batches = follow(fails, { hiddenSeconds: 0.5 });
    await send('good', 'poison', 'better');
    await until(() => store.count('dead') === 1);
    expect(tries).toBe(3);
    expect(batches.flat().filter((body) => body === 'good')).toHaveLength(1);
    expect([store.count('work'), store.count('dead')]).toEqual([0, 1]);
    expect(JSON.stringify(logged)).not.toContain('poison');
  });

  test('goes on beside a message that takes long', async () => {
    const slow = Promise.withResolvers<void>();
    const taken: unknown[] = [];
    follow(
      async (body) => {
        if (body === 'slow') await slow.promise;
        taken.push(body);
      },
      { batchSize: 1 },
    );
    await send('slow', 1, 2, 3, 4);
    await until(() => taken.length === 4);
    slow.resolve();
    await until(() => taken.length === 5);
  });

  test('works on no more at once than it may, and looks for messages once for all that wait', async () => {
    const open: (() => void)[] = [];
    let atOnce = 0;
    let most = 0;
    let looks = 0;
    const counted: QueueStore = {
      ...store,
      receive(...asked) {
        looks++;
        return store.receive(...asked);
      },
    };
    const handler = async () => {
      most = Math.max(most, ++atOnce);
      await new Promise<void>((resolve) => open.push(resolve));
      atOnce--;
      return undefined;
    };
    const one = { queue: 'work', deadLetters: 'dead', batchSize: 1, mostConcurrent: 3, hiddenSeconds: 60 };
    following.push(
      followQueue({
        ...one,
        store: counted,
        mostReceives: 3,
        consume: handler,
        onFault: (error) => logged.push(error),
      }),
    );
    await send(1);
    await until(() => open.length === 1);
    expect(looks).toBeLessThanOrEqual(3);
    await send(2, 3, 4, 5);
    await until(() => open.length === 3);
    for (let n = 0; n < 5; n++) {
      await until(() => open.length > 0);
      open.shift()?.();
    }
    await until(() => store.count('work') === 0);
    expect([most, logged]).toEqual([3, []]);
  });

  test('gives a message to nobody else while somebody has it, and again when they died over it', async () => {
    const died: unknown[] = [];
    follow(async (body) => {
      died.push(body);
      await new Promise(() => undefined);
    });
    await send('once');
    await until(() => died.length === 1);
    expect(store.receive('work', { most: 10, hiddenMs: 1_000 })).toEqual([]);
    // The process is killed; the next one opens the same file.
    const second = openQueueStore(join(folder, 'queues.db'));
    expect(second.receive('work', { most: 10, hiddenMs: 1_000 })).toMatchObject([
      { body: '"once"', receives: 2 },
    ]);
    second.close();
    // Its work never ends, so nobody can wait for it.
    void following.pop()?.stop();
  });

  test('a receipt of an earlier delivery takes nothing away', async () => {
    store.send('work', [{ MessageBody: '1' }]);
    const [first] = store.receive('work', { most: 1, hiddenMs: 0 });
    const [second] = store.receive('work', { most: 1, hiddenMs: 0 });
    store.remove(first?.receipt ?? '');
    expect(store.count('work')).toBe(1);
    store.remove(second?.receipt ?? '');
    expect(store.count('work')).toBe(0);
  });

  test('says which messages it did not take', async () => {
    const gone = sqsQueue('http://127.0.0.1:9/000000000000/work');
    const notTaken = await gone.send([{ body: 1 }, { body: 2 }]);
    expect(notTaken.map(({ position }) => position)).toEqual([0, 1]);
  });
});

describe('a queue that keeps order', () => {
  const sendGrouped = (...messages: [body: unknown, group: string, name?: string][]) =>
    sqsQueue(urlOf('work')).send(
      messages.map(([body, id, message = JSON.stringify(body)]) => ({ body, group: { id, message } })),
    );

  test('gives the messages of a group one after the other, and groups beside each other', async () => {
    const taken: string[] = [];
    const first = Promise.withResolvers<void>();
    follow(
      async (body) => {
        taken.push(`+${body}`);
        if (body === 'a1') await first.promise;
        taken.push(`-${body}`);
      },
      { batchSize: 1 },
    );
    expect(await sendGrouped(['a1', 'a'], ['a2', 'a'], ['b1', 'b'], ['a3', 'a'], ['b2', 'b'])).toEqual([]);
    await until(() => taken.includes('-b2'));
    expect(taken.filter((one) => one.includes('a'))).toEqual(['+a1']);
    first.resolve();
    await until(() => taken.includes('-a3'));
    expect(taken.filter((one) => one.includes('a'))).toEqual(['+a1', '-a1', '+a2', '-a2', '+a3', '-a3']);
  });

  test('keeps a message of one name once', async () => {
    await sendGrouped(['x', 'a', 'same'], ['y', 'a', 'same']);
    await sendGrouped(['z', 'a', 'same'], ['other', 'a']);
    expect(store.count('work')).toBe(2);
  });

  test('lets a message wait, and its group with it', async () => {
    const taken: unknown[] = [];
    const feed = sqsFeed(urlOf('work'));
    const triedAtMs: number[] = [];
    const handler = ({ Records }: SQSEvent) =>
      consume(
        { log },
        Records,
        async (body) => {
          if (body === 'a1' && triedAtMs.push(Date.now()) === 1) throw new Later(1);
          taken.push(body);
        },
        feed,
      );
    following.push(
      followQueue({
        ...{ store, queue: 'work', deadLetters: 'dead', batchSize: 1, mostConcurrent: 2, hiddenSeconds: 30 },
        ...{ mostReceives: 3, consume: handler, onFault: (error) => logged.push(error) },
      }),
    );
    await sendGrouped(['a1', 'a'], ['a2', 'a'], ['b1', 'b']);
    await until(() => taken.length === 3);
    expect(taken.filter((body) => body !== 'b1')).toEqual(['a1', 'a2']);
    const [first = 0, again = 0] = triedAtMs;
    expect(again - first).toBeGreaterThanOrEqual(1000);
    expect(logged).toEqual([]);
  });

  test('takes nothing of a group behind a message that it did not take', async () => {
    const gone = sqsQueue('http://127.0.0.1:9/000000000000/work');
    const message = (body: string, id: string) => ({ body, group: { id, message: body } });
    const notTaken = await gone.send([message('a1', 'a'), message('a2', 'a')]);
    expect(notTaken.map(({ position }) => position)).toEqual([0, 1]);
    expect(notTaken[1]?.cause).toBe('one before it was not taken');
  });

  test('a message that is delayed comes in its time', async () => {
    const takenAtMs = new Map<unknown, number>();
    follow(async (body) => void takenAtMs.set(body, Date.now()));
    const sentAtMs = Date.now();
    await sqsQueue(urlOf('work')).send([{ body: 'late', delaySeconds: 1 }, { body: 'now' }]);
    await until(() => takenAtMs.size === 2);
    expect(Number(takenAtMs.get('late')) - sentAtMs).toBeGreaterThanOrEqual(1000);
  });
});

describe('dead letters', () => {
  const dead = () => sqsDeadLetters(urlOf('dead'));

  test('are tried again; what fails again stays', async () => {
    store.send(
      'dead',
      ['"well again"', '"never"', 'no JSON'].map((MessageBody) => ({ MessageBody })),
    );
    const done = await retryDead({ log }, dead(), async (body) => {
      if (body === 'never') throw new Error('no');
    });
    expect(done).toBe(1);
    expect(store.count('dead')).toBe(2);
  });

  test('are tried a hundred at a time, however many there are', async () => {
    store.send(
      'dead',
      Array.from({ length: 130 }, (_, n) => ({ MessageBody: String(n) })),
    );
    expect(await retryDead({ log }, dead(), async () => undefined)).toBe(100);
    expect(store.count('dead')).toBe(30);
  });

  test('of the function that the queue feeds are tried when a schedule calls it, before its sweep', async () => {
    const variables = { AUDIT_QUEUE: urlOf('work'), AUDIT_DEAD_LETTERS: urlOf('dead') };
    const did: unknown[] = [];
    const handler = queueHandler(variables, 'audit', { log }, async (body) => void did.push(body), {
      sweep: async () => void did.push('sweep'),
    });
    store.send('dead', [{ MessageBody: '"dead"' }]);
    const Records = [
      { messageId: '1', body: '"fed"' },
      { messageId: '2', body: 'no JSON' },
    ];
    expect(await handler({ Records })).toEqual({ batchItemFailures: [{ itemIdentifier: '2' }] });
    expect([did.splice(0), store.count('dead')]).toEqual([['fed'], 1]);
    expect(await handler({ source: 'aws.events' })).toEqual({ batchItemFailures: [] });
    expect([did, store.count('dead')]).toEqual([['dead', 'sweep'], 0]);
  });

  test.each([true, false])(
    'and messages that have to wait keep their time only where that is said: %s',
    async (mayWait) => {
      const variables = { EXPORTS_QUEUE: urlOf('work'), EXPORTS_DEAD_LETTERS: urlOf('dead') };
      const wait = async () => {
        throw new Later(100_000);
      };
      const handler = queueHandler(variables, 'exports', { log }, wait, { mayWait });
      await send('x');
      const [message] = store.receive('work', { most: 1, hiddenMs: 20_000 });
      const { receipt: receiptHandle = '', body = '' } = message ?? {};
      const failed = { batchItemFailures: [{ itemIdentifier: '1' }] };
      expect(await handler({ Records: [{ messageId: '1', body, receiptHandle }] })).toEqual(failed);
      const waitMs = Number(store.nextAtMs('work')) - Date.now();
      expect(waitMs > 50_000).toBe(mayWait);
      expect(logged).toHaveLength(mayWait ? 0 : 1);
    },
  );
});
