import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accessesOf } from '../../infra/local/assembly/role.ts';
import { permissions } from '../../infra/permissions.ts';
import type { Resource } from '../../shared/base/resource.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import { type Key, keys } from '../../shared/carry/table/keys.ts';
import { type Audited, entryItem } from '../../shared/identity/audit/audit-event.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { searchResources } from '../../shared/records/read/search.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import { bucketOf } from '../../shared/store/index/key-range.ts';
import { serveParameterSets } from '../../shared/store/index/registry.ts';
import { readTimed, runLists } from '../../shared/store/items/read-ranges.ts';
import { reindex, reindexHeads } from '../../shared/store/items/reindex.ts';
import { disturbed, faults } from '../faults/inject.ts';
import { findLeftOver } from '../resources/left-over.ts';
import { scanAll } from './scan-all.ts';
import { newProject, type Stage, startStage } from './stage.ts';

let stage: Stage;
let caller: Caller<'administrator'>;

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

async function collected<T>(all: AsyncGenerator<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of all) found.push(one);
  return found;
}

const soon = () => ({ again: false, untilMs: stage.clock.nowMs + 60_000 });

describe('reindexing', () => {
  test('scans as its role must: for keys, and saying that it selects them', async () => {
    const scans: Record<string, unknown>[] = [];
    const name = 'note-scans';
    stage.client.middlewareStack.add(
      (next, { commandName }) =>
        (args) => {
          if (commandName === 'ScanCommand') scans.push({ ...args.input });
          return next(args);
        },
      { step: 'initialize', name },
    );
    await stage.services.table.scanHeads({ segment: 0, segments: 1, from: undefined });
    stage.client.middlewareStack.remove(name);
    const wanted = [{ attributes: permissions.reindex.scansFor, select: 'SPECIFIC_ATTRIBUTES' }];
    expect(scans.flatMap((scan) => accessesOf('Scan', scan))).toMatchObject(wanted);
  });

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

  test('is done by one call, though an answer of the table is lost where it takes a segment', async () => {
    const fault = faults['is not answered'];
    for (const n of [1, 2, 3, 4]) {
      const again = () => reindex(stage.services, { ...soon(), again: true });
      const { result } = await disturbed(stage.client, { n, fault }, again);
      expect([n, result]).toMatchObject([n, { status: 'fulfilled', value: { done: true } }]);
    }
  });

  test('restores what leads to audit entries, of earlier releases too, to be forgotten with them', async () => {
    const botId = randomUUID();
    const ttl = Math.floor(stage.clock.nowMs / 1000) + 86_400;
    const audited: Audited = {
      ...{ project: caller.project, subtype: 'execute', action: 'E', outcome: '0' },
      ...{ agent: { reference: 'Practitioner/ann' }, entities: [{ reference: `Bot/${botId}` }] },
    };
    const id = randomUUID();
    const earlier = { ...entryItem(audited, id, stage.clock.nowMs), untidy: true, ttl };
    const found = async (query: string) => {
      const asked = { type: 'AuditEvent', query: new URLSearchParams(query) };
      const { entry = [] } = await searchResources(stage.services, caller, asked);
      return entry.map(({ resource }) => (resource as Resource).id);
    };
    await stage.services.table.put(earlier);
    expect(await found(`entity=Bot/${botId}`)).toEqual([]);
    await reindex(stage.services, { ...soon(), again: true });
    await reindex(stage.services, { ...soon(), again: true });
    const left = await findLeftOver(stage.services.table, stage.client, stage.tableName);
    expect([left.missing, left.stray]).toEqual([[], []]);
    const leading = (await scanAll(stage.client, stage.tableName)).filter(
      (item) => item.sk.endsWith(`#${id}`) && item.sk !== earlier.sk,
    );
    // By who, what, kind and time, and among the runs of the Bot.
    expect(leading.map((item) => item.ttl)).toEqual(Array(5).fill(ttl));
    for (const query of [`entity=Bot/${botId}`, 'agent=Practitioner/ann', 'subtype=execute', '_sort=-date']) {
      expect([query, (await found(query)).includes(id)]).toEqual([query, true]);
    }
    const [listed] = await collected(
      readTimed(stage.services.table, runLists(caller.project, botId), { newestFirst: true, most: 10 }),
    );
    expect(listed?.sk).toBe(leading[0]?.sk);
    // As an earlier release wrote them.
    await stage.services.table.write(leading.map(({ ttl: _, ...item }) => item as Item));
    await reindex(stage.services, { ...soon(), again: true });
    const again = (await scanAll(stage.client, stage.tableName)).filter(({ sk }) => sk === leading[0]?.sk);
    expect(again.map((item) => item.ttl)).toEqual(Array(5).fill(ttl));
  });

  test('removes what earlier releases had, some of it words of names', async () => {
    const id = 'retired';
    const telecom = [{ system: 'email', value: 'Zed@Example.org' }];
    const body = { resourceType: 'Patient', id, name: [{ family: 'Zedd', given: ['Zia', 'Zάς'] }], telecom };
    await carryOut(stage.services, caller, [{ kind: 'update', type: 'Patient', id, body }]);
    const itemsOf = async () =>
      (await scanAll(stage.client, stage.tableName))
        .filter(({ pk, sk }) => pk.includes('#IX#') && sk.split('#').includes(id))
        .map(({ pk, sk }) => ({ pk, sk }))
        .sort((a, b) => (a.pk < b.pk ? -1 : 1));
    const now = await itemsOf();
    const at = (index: string, bucket: string, sort?: string) =>
      keys.index(caller.project, 'Patient', index, bucket, sort === undefined ? id : `${sort}#${id}`);
    const { pk } = keys.index(caller.project, '_all', '_compartment', bucketOf(`Patient/${id}`), '');
    const before = [
      at('family', 'z', 'zedd'),
      at('given', 'z', 'zia'),
      at('name', 'z', 'zedd'),
      at('name', 'z', 'zia'),
      at('name', 'z', 'zας'),
      at('name', 'z', 'zας#g'),
      at('email', bucketOf('zed@example.org')),
      at('deceased', bucketOf('false')),
      { pk, sk: `Patient#${id}` },
    ];
    await stage.services.table.write(before.map((key) => ({ ...key, v: 'earlier' })));
    const reads = async () => {
      const query = new URLSearchParams('family=zedd');
      const { entry = [] } = await searchResources(stage.services, caller, { type: 'Patient', query });
      return entry.map(({ resource }) => (resource as Resource).id);
    };
    expect(await reads()).toEqual([id]);
    expect(await itemsOf()).toHaveLength(now.length + before.length);
    await reindex(stage.services, { ...soon(), again: true });
    expect(await itemsOf()).toEqual(now);
    expect(await reads()).toEqual([id]);
    await carryOut(stage.services, caller, [{ kind: 'delete', type: 'Patient', id }]);
    expect((await itemsOf()).filter(({ pk }) => !pk.includes('#_history#'))).toEqual([]);
  });

  test('follows a stage that begins to serve further parameters', async () => {
    const body = {
      resourceType: 'CareTeam',
      participant: [{ role: [{ coding: [{ system: 'urn:r', code: 'nurse' }] }] }],
    };
    const id = 'team';
    await carryOut(stage.services, caller, [{ kind: 'update', type: 'CareTeam', id, body: { ...body, id } }]);
    await reindex(stage.services, { ...soon(), again: true });
    const query = new URLSearchParams('role=urn:r|nurse');
    const search = async () =>
      (await searchResources(stage.services, caller, { type: 'CareTeam', query })).entry?.length ?? 0;
    await expect(search()).rejects.toMatchObject({ kind: 'invalid' });
    serveParameterSets('us-core');
    try {
      expect(await search()).toBe(0);
      expect(await reindex(stage.services, soon())).toMatchObject({ done: true, written: 1 });
      expect(await search()).toBe(1);
      await carryOut(stage.services, caller, [{ kind: 'delete', type: 'CareTeam', id }]);
    } finally {
      serveParameterSets('');
    }
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
