import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Resource } from '../../shared/base/resource.ts';
import type { Services } from '../../shared/carry/services.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import { parseHead } from '../../shared/carry/table/keys.ts';
import type { Table } from '../../shared/carry/table/table.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { readHistory } from '../../shared/records/read/history.ts';
import { readResource } from '../../shared/records/read/read-resource.ts';
import { searchResources } from '../../shared/records/read/search.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import type { SentResource } from '../../shared/records/write/parse-resource.ts';
import { pendingItem } from '../../shared/store/items/change.ts';
import { sweepCutOff } from '../../shared/store/items/upkeep.ts';
import { violationsIn } from '../setup/violations.ts';
import { scanAll } from '../storage/scan-all.ts';
import { newProject, type Stage, startStage } from '../storage/stage.ts';
import { followUp } from './follow-up.ts';
import { findLeftOver } from './left-over.ts';

let stage: Stage;
let caller: Caller<'administrator'>;

beforeAll(async () => {
  stage = await startStage({ onDisk: true });
  caller = await newProject(stage);
});

afterAll(() => stage.stop());

class Death extends Error {}

/**
 * Dies before its n-th item is written, or after all of them; batches are cut in the middle too.
 * `steps` says how many items each write was to have.
 */
function dyingAt(table: Table, n: number): { table: Table; steps: number[] } {
  let left = n;
  const steps: number[] = [];
  const spend = (items: number) => {
    steps.push(items);
    const allowed = Math.min(items, left);
    left -= allowed;
    return allowed;
  };
  const dying: Table = {
    ...table,
    async write(items, removed = []) {
      const allowed = spend(items.length + removed.length);
      await table.write(items.slice(0, allowed), removed.slice(0, Math.max(0, allowed - items.length)));
      if (allowed < items.length + removed.length) throw new Death();
    },
    async transact(actions) {
      if (spend(1) === 0) throw new Death();
      await table.transact(actions);
    },
  };
  return { table: dying, steps };
}

/** Before each step, after its first item, in its middle, before its last one; and after all of them. */
function cutsOf(steps: readonly number[]): Set<number> {
  let start = 0;
  const cuts = steps.flatMap((items) => {
    const within = [0, 1, Math.floor(items / 2), items - 1].filter((at) => at < items);
    start += items;
    return within.map((at) => start - items + at);
  });
  return new Set([...cuts, start]);
}

/** Large enough to be written in steps: more index items than a transaction holds. */
function large(mark: string, size = 120): SentResource {
  return {
    resourceType: 'CodeSystem',
    status: 'active',
    content: 'complete',
    name: mark,
    concept: Array.from({ length: size }, (_, n) => ({ code: `${mark}-${n}` })),
  };
}

/** Hardly compressible, so that it is stored in parts. */
function veryLarge(mark: string): SentResource {
  const div = `<div>${randomBytes(400_000).toString('base64')}</div>`;
  return { ...large(mark), text: { status: 'generated', div } };
}

const nothingLeft = { stray: [], missing: [], other: [] };

let read = new Map<string, Item>();

/** The stream's work: every head that changed since, with the state before. */
async function readStream(): Promise<void> {
  const items = await scanAll(stage.client, stage.tableName);
  const heads = items.filter((item) => parseHead(item));
  for (const after of heads)
    await followUp(stage.services, { before: read.get(`${after.pk}\n${after.sk}`), after });
  read = new Map(heads.map((item) => [`${item.pk}\n${item.sk}`, item]));
}

async function found(name: string): Promise<string[]> {
  const query = new URLSearchParams({ name });
  const { entry = [] } = await searchResources(stage.services, caller, { type: 'CodeSystem', query });
  return entry.map(({ resource }) => (resource as Resource).id);
}

/** By index items where these show it: those of a write that is under way, or was cut off, do not. */
async function counted(conditions: Record<string, string>): Promise<number | undefined> {
  const query = new URLSearchParams({ ...conditions, _summary: 'count' });
  return (await searchResources(stage.services, caller, { type: 'CodeSystem', query })).total;
}

async function nameOf(id: string): Promise<unknown> {
  try {
    return (await readResource(stage.services, caller, { type: 'CodeSystem', id })).resource.name;
  } catch {
    return undefined;
  }
}

const scenarios: Record<string, (mark: string) => { first?: SentResource; next: SentResource }> = {
  'a create': (mark) => ({ next: large(`New${mark}`) }),
  'an update': (mark) => ({ first: large(`Old${mark}`), next: large(`New${mark}`, 130) }),
  'an update back to a small resource': (mark) => ({
    first: large(`Old${mark}`),
    next: large(`New${mark}`, 1),
  }),
  'an update to parts': (mark) => ({ first: large(`Old${mark}`), next: veryLarge(`New${mark}`) }),
};

/** The scenario once; its last write dies after `n` items. */
async function run(title: string, n: number) {
  const mark = `${title.replaceAll(' ', '')}${n}`;
  const id = `${mark.slice(0, 50)}-${n}`;
  const { first, next } = (
    scenarios[title] as (mark: string) => { first?: SentResource; next: SentResource }
  )(mark);
  const put = (services: Services, body: SentResource) =>
    carryOut(services, caller, [{ kind: 'update', type: 'CodeSystem', id, body }]);
  if (first) await put(stage.services, first);
  await readStream();
  const dying = dyingAt(stage.services.table, n);
  const died = await put({ ...stage.services, table: dying.table }, next).then(
    () => false,
    (error) => {
      if (!(error instanceof Death)) throw error;
      return true;
    },
  );
  return { id, mark, first, next, died, steps: dying.steps };
}

/** Either state as a whole, whoever looks. */
async function requireWhole({ id, mark, first, next, died }: Awaited<ReturnType<typeof run>>): Promise<void> {
  expect(await nameOf(id)).toBe(died ? first?.name : next.name);
  expect(await found(`New${mark}`)).toEqual(died ? [] : [id]);
  expect(await found(`Old${mark}`)).toEqual(died && first ? [id] : []);
  expect(await counted({ name: `New${mark}` })).toBe(died ? 0 : 1);
  expect(await counted({ name: `Old${mark}` })).toBe(died && first ? 1 : 0);
  expect(await counted({ code: `Old${mark}-5` })).toBe(died && first ? 1 : 0);
  const query = new URLSearchParams();
  const history = readHistory(stage.services, caller, { type: 'CodeSystem', id, query });
  if (died && !first) await expect(history).rejects.toMatchObject({ kind: 'not-found' });
  else expect((await history).entry).toHaveLength((first ? 1 : 0) + (died ? 0 : 1));
}

test('a write that was cut off is swept up after one that was under way at the first sweep', async () => {
  const cut = await run('an update to parts', 90);
  expect(cut.died).toBe(true);
  stage.clock.nowMs += 180_000;
  const other = { project: caller.project, type: 'CodeSystem', id: cut.id, versionId: 'other', parts: 0 };
  await stage.services.table.write([pendingItem(other, stage.clock.nowMs)]);
  for (const laterMs of [0, 180_000]) {
    stage.clock.nowMs += laterMs;
    await sweepCutOff(stage.services);
    await requireWhole(cut);
  }
  expect(await findLeftOver(stage.services.table, stage.client, stage.tableName)).toEqual(nothingLeft);
  expect(await violationsIn(stage)).toEqual([]);
});

describe('a crash between any two steps of a write, or within one, leaves the old state or the new one', () => {
  test.each(Object.keys(scenarios))(
    'in %s',
    async (title) => {
      const whole = await run(title, Number.MAX_SAFE_INTEGER);
      // A note, the states, what leads to them, and the heads.
      expect(whole.steps.length).toBeGreaterThanOrEqual(4);
      const cuts = cutsOf(whole.steps);
      for (const [nth, n] of [...cuts].entries()) {
        const state = await run(title, n);
        expect(state.died).toBe(n < Math.max(...cuts));
        await requireWhole(state);
        await readStream();
        await requireWhole(state);
        stage.clock.nowMs += 180_000;
        // The sweep is cut off too: the further the write had come, the earlier.
        const sweepCut = dyingAt(stage.services.table, cuts.size - 1 - nth);
        await sweepCutOff({ ...stage.services, table: sweepCut.table });
        await requireWhole(state);
        await sweepCutOff(stage.services);
        await requireWhole(state);
      }
      expect(await findLeftOver(stage.services.table, stage.client, stage.tableName)).toEqual(nothingLeft);
      expect(await violationsIn(stage)).toEqual([]);
    },
    600_000,
  );
});
