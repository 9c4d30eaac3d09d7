import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DynamoDBStreamEvent } from 'aws-lambda';
import { type FollowedStream, followStream } from '../../infra/local/stream.ts';
import { itemOf } from '../../shared/carry/table/item.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { searchResources } from '../../shared/records/read/search.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import { sweepCutOff } from '../../shared/store/items/upkeep.ts';
import { newProject, type Stage, startStage } from '../storage/stage.ts';
import { followUp } from './follow-up.ts';
import { findLeftOver } from './left-over.ts';

const writers = 4;
const rounds = 6;
const codes = 150;

let stage: Stage;
let caller: Caller<'administrator'>;
let folder: string;
let consumed = 0;
let stream: FollowedStream;

beforeAll(async () => {
  stage = await startStage({ onDisk: true, hasStream: true });
  caller = await newProject(stage);
  folder = await mkdtemp(join(tmpdir(), 'portico-tidy-'));
  stream = await followStream({
    endpoint: stage.endpoint,
    tableName: stage.tableName,
    positionFile: join(folder, 'position'),
    async consume({ Records }: DynamoDBStreamEvent) {
      for (const { dynamodb } of Records) {
        await followUp(stage.services, {
          before: itemOf(dynamodb?.OldImage),
          after: itemOf(dynamodb?.NewImage),
        });
        consumed++;
      }
      return { batchItemFailures: [] };
    },
    onFault: (error) => {
      throw error;
    },
  });
});

afterAll(async () => {
  await stream.stop();
  await stage.stop();
  await rm(folder, { recursive: true });
});

/** A random choice of codes: what one state drops the next may have again. */
function some(): { code: string }[] {
  const chosen = Array.from({ length: codes }, (_, n) => ({ code: `c${n}` })).filter(
    () => Math.random() < 0.8,
  );
  return chosen.length > 0 ? chosen : [{ code: 'c0' }];
}

/** Until all that the stream tells is followed up, and what that writes, too. */
async function quiet(): Promise<void> {
  for (let seen = -1; seen !== consumed; ) {
    seen = consumed;
    await (await stream.hold())();
  }
}

describe('writers of one large resource, while the stream is read', () => {
  test('lose no index item, and leave none behind', async () => {
    const body = { resourceType: 'CodeSystem', status: 'active', content: 'complete' };
    const put = () =>
      carryOut(stage.services, caller, [
        { kind: 'update', type: 'CodeSystem', id: 'busy', body: { ...body, concept: some() } },
      ]);
    await put();
    await Promise.all(
      Array.from({ length: writers }, async () => {
        for (let round = 0; round < rounds; round++) await put().catch(onlyUnavailable);
      }),
    );
    const last = await put();
    const concepts = [last[0]?.resource?.concept as { code: string }[]].flat().map(({ code }) => code);
    const isFound = async () => {
      for (let n = 0; n < codes; n++) {
        const query = new URLSearchParams({ code: `c${n}` });
        const { entry = [] } = await searchResources(stage.services, caller, { type: 'CodeSystem', query });
        expect([n, entry.length]).toEqual([n, concepts.includes(`c${n}`) ? 1 : 0]);
      }
    };
    await isFound();
    await quiet();
    await isFound();
    stage.clock.nowMs += 180_000;
    await sweepCutOff(stage.services);
    await quiet();
    await isFound();
    const left = await findLeftOver(stage.services.table, stage.client, stage.tableName);
    expect(left).toEqual({ stray: [], missing: [], other: [] });
  });
});

function onlyUnavailable(error: unknown): void {
  if ((error as { kind?: string }).kind !== 'unavailable') throw error;
}
