import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { reindex } from '../../functions/reindex/reindex.ts';
import { carryOut } from '../../functions/resources/carry-out.ts';
import type { Caller } from '../../shared/auth/token.ts';
import { type Key, keys } from '../../shared/table/keys.ts';
import { reindexHeads } from '../../shared/table/reindex.ts';
import { findLeftOver } from '../resources/left-over.ts';
import { scanAll } from '../spec/portico.ts';
import { newProject, type Stage, startStage } from './stage.ts';

let stage: Stage;
let caller: Caller;

beforeAll(async () => {
  stage = await startStage();
  caller = await newProject(stage);
  await Promise.all(Array.from({ length: 40 }, (_, n) => put(n, 'first')));
});
afterAll(() => stage.stop());

async function put(n: number, family: string): Promise<void> {
  const id = `p${n}`;
  const body = { resourceType: 'Patient', id, name: [{ family }], identifier: [{ value: `${n}` }] };
  await carryOut(stage.services, caller, [{ kind: 'update', type: 'Patient', id, body }]);
}

/** As a table looks that was written before the index was there. */
async function forget(index: string): Promise<Key[]> {
  const items = await scanAll(stage.client, stage.tableName);
  const gone = items.filter(({ pk }) => pk.includes(`#IX#Patient#${index}#`));
  await stage.services.table.write([], gone);
  return gone;
}

async function missing(): Promise<string[]> {
  const left = await findLeftOver(stage.services.table, stage.client, stage.tableName);
  // AuditEvents get theirs from the stream, which is not read here.
  return left.missing.filter((name) => !name.includes('#AuditEvent#'));
}

const soon = () => ({ again: false, untilMs: stage.clock.nowMs + 60_000 });

describe('reindexing', () => {
  test('writes what is missing, once, and says how much', async () => {
    const gone = await forget('identifier');
    expect(gone).toHaveLength(40);
    expect((await missing()).length).toBe(40);
    const progress = await reindex(stage.services, soon());
    expect(progress).toMatchObject({ done: true, segments: 8, segmentsDone: 8 });
    expect(progress.written).toBeGreaterThanOrEqual(40);
    expect(await missing()).toEqual([]);
    expect(await reindex(stage.services, soon())).toEqual(progress);
    expect(await reindex(stage.services, { ...soon(), again: true })).toMatchObject({
      done: true,
      written: 0,
    });
  });

  test('goes on where another stopped, and leaves alone what another works on', async () => {
    await forget('identifier');
    const nothing = await reindex(stage.services, { again: true, untilMs: stage.clock.nowMs });
    expect(nothing).toMatchObject({ done: false, segmentsDone: 0, written: 0 });
    const { table } = stage.services;
    const lease = stage.clock.nowMs + 1000;
    await table.put({ ...keys.reindex(nothing.job, 3), owner: 'another', leaseMs: lease });
    expect(await reindex(stage.services, soon())).toMatchObject({ done: false, segmentsDone: 7 });
    stage.clock.nowMs = lease + 1;
    expect(await reindex(stage.services, soon())).toMatchObject({ done: true, segmentsDone: 8 });
    expect(await missing()).toEqual([]);
  });

  test('two at once do the work of one', async () => {
    await forget('identifier');
    await reindex(stage.services, { again: true, untilMs: stage.clock.nowMs });
    await Promise.all([reindex(stage.services, soon()), reindex(stage.services, soon())]);
    expect(await reindex(stage.services, soon())).toMatchObject({ done: true });
    expect(await missing()).toEqual([]);
  });

  test('beside live writes leaves neither gaps nor strays', async () => {
    const heads = Array.from({ length: 40 }, (_, n) => keys.resource(caller.project, 'Patient', `p${n}`));
    await forget('identifier');
    await forget('name');
    await forget('family');
    await Promise.all([
      reindexHeads(stage.services.table, heads),
      ...Array.from({ length: 40 }, (_, n) => put(n, `later-${n % 7}`)),
      reindexHeads(stage.services.table, heads),
    ]);
    const left = await findLeftOver(stage.services.table, stage.client, stage.tableName);
    expect(left.stray).toEqual([]);
    expect(await missing()).toEqual([]);
  });
});
