import { join } from 'node:path';
// biome-ignore lint/correctness/noUnresolvedImports: Node has it, Biome does not know it yet
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { AttributeValue, DynamoDBRecord } from 'aws-lambda';
import { followStream } from '../../infra/local/stream.ts';
import { fileOf } from '../../infra/local/table.ts';
import { type Portico, startPortico } from '../spec/portico.ts';
import { botThat } from '../spec/running.ts';
import { until } from '../spec/subscribing.ts';

let portico: Portico;
beforeAll(async () => {
  portico = await startPortico({});
});
afterAll(() => portico.stop());

const runs = 6;

/** Whether all that was sent to a queue has been taken. */
function areQueuesEmpty(): boolean {
  const { dataDir, table } = portico.local;
  const queues = new DatabaseSync(join(dataDir, fileOf(table.tableName, 'queues.db')), { readOnly: true });
  const found = queues.prepare('SELECT id FROM queued LIMIT 1').get();
  queues.close();
  return found === undefined;
}

test('a warm execute writes 3 units at most in all, whatever follows it', async () => {
  const written: DynamoDBRecord[] = [];
  const stream = await followStream({
    ...portico.local.table,
    positionFile: `${portico.local.dataDir}/units.json`,
    retryMs: 10,
    onFault: (error) => {
      throw error;
    },
    async consume({ Records }) {
      written.push(...Records);
      return undefined;
    },
  });
  const untilStill = async () => {
    for (let before = -1; before !== written.length; ) {
      before = written.length;
      // A stream that is released has told of everything before.
      await (await portico.local.holdChanges())();
      await until(() => areQueuesEmpty() || undefined, 'the queues are empty');
      await (await stream.hold())();
    }
  };
  try {
    const id = await botThat(portico, 'return event.input;');
    const execute = () => portico.api('POST', `fhir/R4/Bot/${id}/$execute`, { body: { a: 1 } });
    expect((await execute()).status).toBe(200);
    await untilStill();
    const before = written.length;
    expect(before).toBeGreaterThan(0);
    for (let run = 0; run < runs; run++) expect((await execute()).status).toBe(200);
    await untilStill();
    const records = written.slice(before);
    const units = records.reduce((sum, record) => sum + unitsOf(record), 0);
    expect(records).toHaveLength(runs);
    expect(units / runs).toBeLessThanOrEqual(3);
  } finally {
    await stream.stop();
  }
});

/** A write costs a unit for each KB of the larger of the item before and the item after. */
function unitsOf({ dynamodb }: DynamoDBRecord): number {
  const bytes = [dynamodb?.OldImage, dynamodb?.NewImage].map((image) => sizeOf(image ?? {}));
  return Math.ceil(Math.max(...bytes) / 1024);
}

function sizeOf(image: Record<string, AttributeValue>): number {
  return Object.entries(image).reduce((sum, [name, value]) => sum + name.length + valueSize(value), 0);
}

/** What AWS's documentation says of item sizes; bytes come as base64 here, which is more. */
function valueSize({ S, N, B, M, L }: AttributeValue): number {
  const text = S ?? N ?? B;
  if (text !== undefined) return Buffer.byteLength(text);
  if (M !== undefined) return 3 + sizeOf(M);
  return L === undefined ? 1 : 3 + L.reduce((sum, value) => sum + valueSize(value), 0);
}
