import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createPortico, type Portico } from '../../client/src/create-portico.ts';
import { sendBatch } from '../../infra/import/calls.ts';
import { startSender } from '../../infra/import/load.ts';
import { openReport } from '../../infra/import/report.ts';
import { type Loopback, startLoopback } from '../client/loopback.ts';

let service: Loopback;
let portico: Portico;

beforeAll(async () => {
  service = await startLoopback();
  portico = createPortico({ baseUrl: service.baseUrl, auth: 'token' });
});
afterAll(() => service.stop());

type Reply = { status: number; body: string } | 'cut';

const refusal = (status: number, code: string): Reply => ({
  status,
  body: JSON.stringify({ resourceType: 'OperationOutcome', issue: [{ severity: 'error', code }] }),
});
const issue = [{ code: 'structure', details: { text: 'wrong' } }];
const done: Reply = {
  status: 200,
  body: JSON.stringify({
    resourceType: 'Bundle',
    entry: [{ response: { status: '201' } }, { response: { status: '422 Bad', outcome: { issue } } }],
  }),
};

/** @returns how many requests came */
function answering(...replies: Reply[]): () => number {
  let count = 0;
  service.answer(async () => replies[Math.min(count++, replies.length - 1)] ?? 'cut');
  return () => count;
}

test('a batch is sent again while the service is away, and answered for each entry', async () => {
  const count = answering(
    'cut',
    refusal(503, 'transient'),
    refusal(429, 'throttled'),
    refusal(401, 'login'),
    done,
  );
  expect(await sendBatch(portico, ['{}', '{}'])).toEqual([
    { status: 201, text: '', code: '', resource: undefined },
    { status: 422, text: 'wrong', code: 'structure', resource: undefined },
  ]);
  expect(count()).toBe(5);
});

test.each([
  ['larger', refusal(413, 'too-long')],
  ['costlier', refusal(400, 'too-costly')],
])('that is %s than a request may be is told at once', async (_name, reply) => {
  const count = answering(reply);
  expect([await sendBatch(portico, ['{}']), count()]).toEqual([undefined, 1]);
});

test('that is refused as a whole ends the work', async () => {
  const count = answering(refusal(403, 'forbidden'));
  await expect(sendBatch(portico, ['{}'])).rejects.toThrow('forbidden');
  expect(count()).toBe(1);
});

/** Patients as they are sent by `npm run import`. */
async function sending() {
  const report = await openReport(join(tmpdir(), 'portico-calls.ndjson'));
  const destination = { baseUrl: service.baseUrl, project: { id: 'p', name: 'P' }, portico, headers: {} };
  const { send, end } = startSender(destination, report);
  return {
    report,
    async sendAll(ids: readonly string[]) {
      for (const id of ids) {
        const entry = { file: 'f', number: 1, fullUrl: undefined, request: undefined, resource: {} };
        await send({ entry, reference: `Patient/${id}`, text: '{}' });
      }
      await end();
    },
  };
}

test('and nothing is sent any more', async () => {
  const { promise: third, resolve } = Promise.withResolvers<void>();
  let count = 0;
  service.answer(async () => {
    count += 1;
    if (count === 3) resolve();
    return refusal(403, 'forbidden');
  });
  const { sendAll } = await sending();
  await expect(sendAll(Array.from({ length: 2_000 }, (_, n) => `p${n}`))).rejects.toThrow('forbidden');
  // As many as are on their way at once.
  await third;
  expect(count).toBe(3);
});

test('what one request cannot do is done in halves, down to single entries', async () => {
  const sizes: number[] = [];
  service.answer(async ({ body }) => {
    const { entry } = JSON.parse(String(body));
    sizes.push(entry.length);
    if (entry.length > 1) return refusal(413, 'too-long');
    return { status: 200, body: JSON.stringify({ entry: [{ response: { status: '201' } }] }) };
  });
  const { report, sendAll } = await sending();
  await sendAll(['a', 'b', 'c']);
  // It is asked for what it has first.
  expect([sizes, report.counts]).toMatchObject([[1, 3, 2, 1, 1, 1], { created: 3, refused: 0 }]);
});
