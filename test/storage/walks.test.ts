import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from '../setup/fast-check.ts';
import { isLong } from '../setup/long.ts';
import { streamUnread, violationsIn } from '../setup/violations.ts';
import { walkCommands } from '../walks/commands.ts';
import { requireInvariants } from '../walks/invariants.ts';
import { observe } from '../walks/observed.ts';
import { newStart, type Start, startWalk } from '../walks/walk.ts';
import { type Stage, startStage } from './stage.ts';

/**
 * Another number, or others, by variables; the long form draws new ones, as properties do. WALKS_SHRINK=1 makes a
 * failing walk shorter, slowly.
 */
const walks = Number(process.env.WALKS ?? (isLong ? 1000 : 100));
const seed = Number(process.env.WALKS_SEED ?? (isLong ? Date.now() % 2 ** 31 : 20_260_101));
const lanes = 4;

let stage: Stage;
let start: Start;
beforeAll(async () => {
  stage = await startStage({ onDisk: true });
  start = await newStart(stage.client);
});
afterAll(() => stage.stop());

describe(`${walks} random walks of identities, from seed ${seed}`, () => {
  test('whoever does what at once, and wherever a process dies, everything agrees', async () => {
    process.stdout.write(`WALKS_SEED=${seed}\n`);
    const each = Math.ceil(walks / lanes);
    const walked = await Promise.allSettled(
      Array.from({ length: lanes }, (_, lane) => walkMany(stage.client, each, seed + lane)),
    );
    const failed = walked.find(({ status }) => status === 'rejected');
    if (failed) throw (failed as PromiseRejectedResult).reason;
  }, 1_800_000);
});

async function walkMany(client: DynamoDBDocumentClient, numRuns: number, laneSeed: number): Promise<void> {
  let walked = 0;
  const walking = fc.asyncProperty(
    fc.commands(walkCommands, { maxCommands: 7, size: 'max' }),
    async (commands) => {
      const walk = await startWalk(client, start);
      try {
        const seen = await observe(walk);
        requireInvariants(walk, seen);
        await fc.asyncModelRun(() => ({ model: { seen }, real: walk }), commands);
        walked += 1;
        if (isLong || walked % 4 === 0) expect(await violationsIn(walk, streamUnread)).toEqual([]);
      } finally {
        await walk.end();
      }
    },
  );
  await fc.assert(walking, { numRuns, seed: laneSeed, endOnFailure: !process.env.WALKS_SHRINK });
}
