import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { beginning, checkTable, type Progress } from '../../infra/check-table/check-table.ts';
import { classify, type KeyPattern } from '../../infra/check-table/key-rules.ts';
import { tableTarget } from '../../infra/local/operate/table-target.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import { dueKey, type Key, keys } from '../../shared/carry/table/keys.ts';
import { scanPage } from '../../shared/carry/table/scan-page.ts';
import { inviteUser } from '../../shared/identity/invitations/invite-user.ts';
import { changeMember } from '../../shared/identity/memberships/change-member.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import { packText, unpackText } from '../../shared/store/items/content.ts';
import { reindex } from '../../shared/store/items/reindex.ts';
import { violationsIn } from '../setup/violations.ts';
import { putItems, readKept } from '../upgrade/kept-table.ts';
import { scanAll } from './scan-all.ts';
import { newProject, person, type Stage, startStage } from './stage.ts';

/** A table in which everything was used, as a release left it. */
const folder = join(import.meta.dirname, '..', 'upgrade');
const [file = ''] = readdirSync(folder).filter((name) => name.endsWith('.json.gz'));

let stage: Stage;
let items: Item[];
beforeAll(async () => {
  stage = await startStage();
  stage.clock.nowMs = Date.now();
  await putItems(stage, readKept(join(folder, file)).items);
  const soon = { again: false, untilMs: stage.clock.nowMs + 60_000 };
  while (!(await reindex(stage.services, soon)).done);
  const { client, tableName } = stage;
  items = (await scanPage(client, tableName, { from: undefined, limit: 100_000 })).items;
});
afterAll(() => stage.stop());

function ofPattern(pattern: KeyPattern, isSuch: (item: Item) => boolean = () => true): Item {
  const found = items.find((item) => classify(item)?.pattern === pattern && isSuch(item));
  if (!found) throw new Error(`The kept table has no ${pattern}`);
  return found;
}

const withContent = (item: Item, change: object): Item => ({
  ...item,
  content: packText(JSON.stringify({ ...JSON.parse(unpackText(item.content)), ...change })),
});

const isOf = (type: string) => (item: Item) =>
  item.pk.includes(`#${type}#`) && item.deleted !== true && item.content !== undefined;

describe('checking a whole table', () => {
  test('reports nothing where everything holds', async () => {
    expect(await violationsIn(stage)).toEqual([]);
  });

  test('reports nothing of a Project whose deletion has come half-way', async () => {
    const project = ofPattern('resource', isOf('Project'));
    const left = { ...project, deletion: true };
    const version = ofPattern('version', ({ pk }) => pk === project.pk);
    await stage.services.table.write([left], [version]);
    const found = await violationsIn(stage);
    await stage.services.table.write([project], []);
    expect(found).toEqual([]);
    expect(await violationsIn(stage)).not.toEqual([]);
    await stage.services.table.put(version);
  });

  const needed: KeyPattern[] = [
    ...(['client', 'address', 'resource', 'version', 'index', 'person', 'botIdentifier'] as const),
    ...(['botCode', 'part', 'subscription', 'user', 'userMembership'] as const),
  ];
  test.each(needed)('notices that an item is gone: %s', async (pattern) => {
    const item = ofPattern(pattern);
    await stage.services.table.write([], [item]);
    const found = await violationsIn(stage);
    await stage.services.table.put(item);
    expect(found).not.toEqual([]);
  });

  const damages: Record<string, () => [Item, Item, RegExp]> = {
    'administrators are counted wrong': () => {
      const item = ofPattern('administrators');
      return [item, { ...item, count: 7 }, /^there are \d administrators, counted are 7$/];
    },
    'a profile is counted once too often': () => {
      const item = ofPattern('resource', isOf('Practitioner'));
      return [item, { ...item, refs: 2 }, /memberships use it, counted are 2/];
    },
    'a head of another version': () => {
      const item = ofPattern('resource', isOf('Patient'));
      return [item, { ...item, versionId: 'none' }, /of another version|not among its versions/];
    },
    'content that does not open': () => {
      const item = ofPattern('version', isOf('Patient'));
      return [item, { ...item, content: Buffer.from('none') }, /does not open/];
    },
    'content with elements that hold nothing': () => {
      const item = ofPattern('version', isOf('Practitioner'));
      return [item, withContent(item, { name: {} }), /elements that hold nothing/];
    },
    'content with empty strings': () => {
      const item = ofPattern('version', isOf('Project'));
      return [item, withContent(item, { name: '' }), /empty strings/];
    },
    'a User with the address of another': () => {
      const item = ofPattern('address');
      return [item, { ...item, userId: 'none' }, /its User does not exist/];
    },
    'a membership in nobody’s list': () => {
      const item = ofPattern('userMembership');
      return [item, { ...item, project: 'another' }, /not what its key says/];
    },
    'an identifier of another Bot': () => {
      const item = ofPattern('botIdentifier');
      return [item, { ...item, botId: 'none' }, /Bot\/none does not exist/];
    },
    'a counter that stays for ever': () => {
      const { ttl: _, ...item } = ofPattern('rate');
      return [ofPattern('rate'), item, /no time to live/];
    },
    'a record that is forgotten before what leads to it': () => {
      const item = ofPattern('logEntry', ({ content }) => content !== undefined);
      const ttl = Math.floor(stage.clock.nowMs / 1000) + 60;
      return [item, { ...item, ttl }, /^(\d+) of \1 index items are missing/];
    },
  };
  test('notices what items say that is not so', async () => {
    const damaged = Object.values(damages).map((damage) => damage());
    await stage.services.table.write(damaged.map(([, instead]) => instead));
    const found = await violationsIn(stage);
    await stage.services.table.write(damaged.map(([item]) => item));
    for (const [{ pk, sk }, , text] of damaged)
      expect(found).toContainEqual({ pk, sk, text: expect.stringMatching(text) });
  });

  const strays: Record<string, (project: string) => Item> = {
    'a key of the stage whose current version is gone': () => ({
      ...keys.stageKey('totp'),
      ...{ versions: [], current: 2, currentSinceMs: 0, revision: 1 },
    }),
    'a key that nothing knows': () => ({ pk: 'WHAT#1', sk: 'HEAD' }),
    'a value that leads to nothing': (project) => ({
      ...keys.index(project, 'Patient', 'family', 'none', 'none#f#none'),
      v: 'none',
    }),
    'a write that nobody swept': (project) => ({
      ...keys.pending(project, 'Patient', 'one', 'two'),
      atMs: 0,
    }),
    'a schedule that no tick finds': (project) => ({ ...keys.schedule(project, 'none'), dueAt: '2030' }),
    'what belongs to no Project': () => ({ ...keys.running('none'), entries: [] }),
    'a delivery outside its lane': (project) => ({
      ...keys.laneEntry(project, 'none', 'Patient#one', '2026'),
      deliveryId: 'none',
      ttl: 9_999_999_999,
    }),
  };
  test('notices what leads nowhere', async () => {
    const [, project = ''] = ofPattern('administrators').pk.split('#');
    const made = Object.values(strays).map((stray) => stray(project));
    await stage.services.table.write(made);
    const found = await violationsIn(stage);
    await stage.services.table.write([], made);
    expect(new Set(found.map(({ pk }) => pk))).toEqual(new Set(made.map(({ pk }) => pk)));
  });
});

test('a command takes a table by its own name', async () => {
  expect((await tableTarget({ table: 'other' })).name).toBe('other');
});

test('every key pattern is known as what it is', () => {
  const made = Object.entries(keys).map(([name, key]): [string, Key] => {
    if (name === 'attempts') return [name, keys.attempts(['a'], 1)];
    if (name === 'version')
      return [name, keys.version('p', 'Patient', 'x', { lastUpdated: '2026', versionId: '1' })];
    const values: unknown[] = name === 'resource' ? ['p', 'Patient', 'x'] : ['1', '2', '3', '4', '5'];
    return [name, (key as (...given: unknown[]) => Key)(...values)];
  });
  expect(made.map(([name, key]) => [name, classify(key)?.pattern])).toEqual(
    made.map(([name]) => [name, name]),
  );
  expect(classify(dueKey('p', 'b', '2026'))?.pattern).toBe('due');
});

test('beside live writes nothing is reported that holds, and a check that was stopped goes on', async () => {
  const caller = await newProject(stage);
  let isOver = false;
  const write = async (n: number) => {
    for (let i = 0; !isOver; i++) {
      const body = { resourceType: 'Patient', id: `busy${n}`, name: [{ family: `Name${i % 7}` }] };
      await carryOut(stage.services, caller, [{ kind: 'update', type: 'Patient', id: body.id, body }]);
      const { id } = await inviteUser(stage.services, caller, person());
      await changeMember(stage.services, caller, { membershipId: id, body: { admin: i % 2 === 0 } });
      // A record that changes within each of five looks at it cannot be judged, on a busy machine either.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const writers = [write(1), write(2)];
  const { client, tableName, services } = stage;
  const reported: unknown[] = [];
  const options = {
    table: services.table,
    scan: (from: Progress['from']) => scanPage(client, tableName, { from, limit: 60 }),
    now: services.now,
    settleMs: 60_000,
    pause: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms / 50)),
    report: (violation: unknown) => void reported.push(violation),
  };
  let kept = beginning;
  for await (kept of checkTable(options)) if (kept.items > 100) break;
  const stopped = kept.items;
  // As a file keeps it.
  for await (kept of checkTable(options, JSON.parse(JSON.stringify(kept)))) if (kept.done) isOver = true;
  await Promise.all(writers);
  expect(reported).toEqual([]);
  expect(stopped).toBeLessThan(kept.items);
  expect(kept.items).toBeGreaterThan(items.length - stopped);
  expect((await scanAll(client, tableName)).length).toBeGreaterThan(items.length);
});
