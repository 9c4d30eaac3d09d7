import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { environmentFile, useLocalCredentials } from '../../infra/local/environment.ts';
import { lockFolder } from '../../infra/local/folder-lock.ts';
import type { Listening } from '../../infra/local/gateway/listen.ts';
import { queueService, serveAws } from '../../infra/local/services/aws.ts';
import { openQueueStore, type QueueStore } from '../../infra/local/services/queue-store.ts';
import { sqsQueue } from '../../shared/aws/sqs.ts';
import { type Purpose, purposes } from '../../shared/carry/work/queue.ts';
import { queueVariables } from '../../shared/composition/queues.ts';
import { bareEnvironment } from '../setup/bare-environment.ts';

const root = resolve(import.meta.dirname, '../..');
let folder: string;
let store: QueueStore;
let api: Listening;
let lock: { stop(): Promise<void> };

/** The queues of a stack that runs, without the stack: nobody else takes from them. */
beforeEach(async () => {
  useLocalCredentials();
  folder = await mkdtemp(join(tmpdir(), 'portico-redrive-'));
  store = openQueueStore(join(folder, 'queues.db'));
  api = await serveAws(queueService(store));
  lock = await lockFolder(folder);
  const environment = {
    ...{ TABLE_NAME: 'none', BASE_URL: 'http://127.0.0.1:9', DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' },
    ...Object.fromEntries(
      purposes.flatMap((purpose) => {
        const { queue, deadLetters } = queueVariables(purpose);
        return [
          [queue, urlOf(purpose)],
          [deadLetters, urlOf(deadOf(purpose))],
        ];
      }),
    ),
  };
  await writeFile(environmentFile(folder), JSON.stringify(environment));
});
afterEach(async () => {
  await lock.stop();
  await api.stop();
  store.close();
  await rm(folder, { recursive: true });
});

const urlOf = (queue: string) => `${api.url}/000000000000/${queue}`;
const deadOf = (purpose: Purpose) => `${purpose}-dead`;
const bury = (purpose: Purpose, ...bodies: unknown[]) =>
  sqsQueue(urlOf(deadOf(purpose))).send(bodies.map((body) => ({ body })));
const waiting = (queue: string) =>
  store.receive(queue, { most: 10, hiddenMs: 60_000 }).map(({ body }) => JSON.parse(body));

/** `npm run redrive -- …` without npm. */
function redrive(...args: string[]): Promise<{ code: number | null; said: unknown[]; stderr: string }> {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION } = process.env;
  const child = spawn(process.execPath, ['infra/local/redrive.ts', ...args], {
    cwd: root,
    env: {
      ...bareEnvironment(),
      PORTICO_DATA_DIR: folder,
      AWS_ACCESS_KEY_ID,
      AWS_SECRET_ACCESS_KEY,
      AWS_REGION,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const all = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      all[name] += text;
    });
  }
  return new Promise((done) =>
    child.once('close', (code) => {
      const lines = all.stdout.split('\n').filter((line) => line !== '');
      done({ code, said: lines.map((line) => JSON.parse(line)), stderr: all.stderr });
    }),
  );
}

describe('npm run redrive', () => {
  test('puts dead letters back into their queues, also those that somebody has just tried', async () => {
    await bury('mail', { n: 1 }, { n: 2 });
    await bury('deliveries', { n: 3 });
    expect(waiting('mail-dead')).toHaveLength(2);
    const { code, said } = await redrive();
    expect({ code, said }).toEqual({
      code: 0,
      said: purposes.map((purpose) => ({
        queue: deadOf(purpose),
        messages: { mail: 2, deliveries: 1 }[purpose as string] ?? 0,
      })),
    });
    expect(waiting('mail')).toEqual([{ n: 1 }, { n: 2 }]);
    expect(waiting('deliveries')).toEqual([{ n: 3 }]);
    expect(store.count('mail-dead') + store.count('deliveries-dead')).toBe(0);
  });

  test('of a queue that is named, here or by the URL of its dead letters', async () => {
    await Promise.all([bury('mail', 1), bury('audit', 2), bury('bus', 3)]);
    expect((await redrive('mail')).said).toEqual([{ queue: 'mail-dead', messages: 1 }]);
    expect((await redrive('--queue', urlOf('audit-dead'))).said).toEqual([
      { queue: 'audit-dead', messages: 1 },
    ]);
    expect([waiting('mail'), waiting('audit'), waiting('bus')]).toEqual([[1], [2], []]);
    expect(await redrive('post')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no queue post'),
    });
  });

  test('hands on records of the stream that were kept', async () => {
    const image = { pk: { S: 'OUTBOX#3' }, sk: { S: 'p#m' }, generation: { N: '1' } };
    const Records = [{ eventName: 'INSERT', dynamodb: { NewImage: image } }];
    const file = join(folder, 'object.json');
    // As Lambda keeps what it could not hand on: the event as a text.
    await writeFile(file, JSON.stringify({ requestContext: {}, payload: JSON.stringify({ Records }) }));
    expect(await redrive('--records', file)).toMatchObject({ code: 0, said: [{ file, records: 1 }] });
    expect(waiting('mail')).toEqual([{ pk: 'OUTBOX#3', sk: 'p#m' }]);
    await writeFile(file, '{}');
    expect((await redrive('--records', file)).code).toBe(1);
  });
});
