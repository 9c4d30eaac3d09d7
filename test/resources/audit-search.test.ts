import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Resource } from '../../shared/base/resource.ts';
import { executionRecord, runDayItem } from '../../shared/bots/run/record.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import { type Audited, auditItem } from '../../shared/identity/audit/audit-event.ts';
import type { Subtype } from '../../shared/identity/audit/subtypes.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { searchResources } from '../../shared/records/read/search.ts';
import { indexEntry } from '../../shared/store/items/reindex.ts';
import { mayMatchRuns } from '../../shared/store/search/find-entries.ts';
import { parseSearch } from '../../shared/store/search/search-request.ts';
import { newProject, type Stage, startStage } from '../storage/stage.ts';
import { storedResource } from '../storage/stored.ts';

let stage: Stage;
let caller: Caller;
/** Every entry of the Project that this test has written, newest first. */
let all: Resource[] = [];

const dayMs = 86_400_000;
const firstMs = Date.UTC(2025, 0, 1);
const bots = Array.from({ length: 6 }, () => randomUUID());
const people = ['Practitioner/ann', 'Patient/bob', 'ClientApplication/c'];
const subtypes: Subtype[] = ['created', 'updated', 'refused', 'invite'];

/** Deterministic, so that a failure can be looked at again. */
function* dice(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (state * 1103515245 + 12345) % 2147483648;
    yield state / 2147483648;
  }
}
const rolls = dice(7);
const roll = (sides: number) => Math.floor((rolls.next().value as number) * sides);
const oneOf = <T>(list: readonly T[]): T => list[roll(list.length)] as T;

function logItem(atMs: number): Item {
  const audited: Audited = {
    project: caller.project,
    subtype: oneOf(subtypes),
    action: 'C',
    outcome: oneOf(['0', '4']),
    agent: { reference: oneOf(people) },
    entities: [{ reference: `Bot/${oneOf(bots)}` }, { reference: `Patient/${oneOf(['bob', 'eve'])}` }],
  };
  return auditItem(audited, randomUUID(), atMs);
}

/** The record of a run, and the note of its day. */
function runItems(atMs: number): Item[] {
  const profile = oneOf(people);
  const actor = { project: caller.project, profile, membership: { profile: { reference: profile } } };
  const bot = { resource: { resourceType: 'Bot', id: oneOf(bots) } };
  const gathered = { actor, bot, code: { version: 'v' }, settings: { executionDays: 36_500 } };
  const run = { runId: 'r', input: { kind: 'text' }, event: { traceId: 't' } };
  const kind = oneOf(['returned', 'threw'] as const);
  const result = { outcome: { kind }, log: [{ text: 'SECRET-LOG' }], logTruncated: false, durationMs: 1 };
  const record = executionRecord(gathered as never, run as never, result as never, randomUUID(), atMs);
  return [record, runDayItem(gathered as never, atMs)];
}

beforeAll(async () => {
  stage = await startStage();
  caller = await newProject(stage);
  const { table } = stage.services;
  const items: Item[] = [];
  for (let n = 0; n < 260; n++) {
    // Some at the very same moment, some days apart, one on the last millisecond of a day.
    const atMs = firstMs + roll(60) * dayMs + oneOf([0, dayMs - 1, roll(dayMs)]);
    if (roll(2) === 0) items.push(logItem(atMs));
    else items.push(...runItems(atMs));
  }
  await table.write([...new Map(items.map((item) => [`${item.pk}\n${item.sk}`, item])).values()]);
  for (const item of items.filter(({ untidy }) => untidy)) await indexEntry(table, item);
  const events = items.flatMap((item) => (item.content === undefined ? [] : (storedResource(item) ?? [])));
  all = events.sort((a, b) => (sortKey(a) < sortKey(b) ? 1 : -1));
});
afterAll(() => stage.stop());

const sortKey = ({ recorded, id }: Resource) => `${recorded}#${id}`;

/** All pages of a search, as the ids of their hits. */
async function found(query: string, count = 1000): Promise<string[]> {
  const ids: string[] = [];
  let next: URLSearchParams | undefined = new URLSearchParams(`${query}&_count=${count}`);
  while (next) {
    const bundle = await searchResources(stage.services, caller, { type: 'AuditEvent', query: next });
    const page = (bundle.entry ?? []).map(({ resource }) => resource as Resource);
    expect(page.length).toBeLessThanOrEqual(count);
    expect(JSON.stringify(page)).not.toContain('SECRET-LOG');
    ids.push(...page.map(({ id }) => id));
    const link: string | undefined = bundle.link?.find(({ relation }) => relation === 'next')?.url;
    next = link === undefined ? undefined : new URL(link).searchParams;
  }
  return ids;
}

/** What a look at every entry finds. Those that came with the Project are of another time. */
function expected(query: string): string[] {
  const { filters, sort } = parseSearch('AuditEvent', new URLSearchParams(query), undefined);
  const hits = all.filter((event) => filters.every((filter) => filter.matches(event)));
  const inOrder = sort[0]?.descending === false ? hits.toReversed() : hits;
  return inOrder.map(({ id }) => id);
}

const earlier = 'date=lt2025-06-01';

describe('a search of audit entries and runs finds what a look at each would', () => {
  test.each([
    '',
    '&_sort=-date',
    '&_sort=date',
    '&_sort=_lastUpdated',
    '&_sort=-date&subtype=urn:portico:audit|invite',
    '&subtype=execute',
    '&subtype=execute,refused&_sort=date',
    '&subtype:not=execute',
    '&agent=Practitioner/ann',
    '&agent=Practitioner/ann&_sort=date',
    '&agent=nobody',
    '&agent:Patient=bob',
    `&entity=Bot/${bots[0]}`,
    `&entity=${bots[1]}&agent=Patient/bob`,
    `&entity=Bot/${bots[0]},Bot/${bots[1]}&_sort=date`,
    `&entity=Bot/${bots[0]}&entity=Patient/eve`,
    '&entity=Patient/eve',
    '&patient=Patient/bob',
    '&patient=Patient/eve',
    '&outcome=4',
    '&action=E',
    '&action=C&_sort=date',
    '&entity:missing=true',
    '&date=ge2025-01-20&date=le2025-01-22',
    '&date=2025-01-20',
    '&date=gt2025-02-01&subtype=execute&_sort=date',
    '&date=eq2024',
    '&date=ge2025-07-01',
    '&date=ge2025-07-01&_sort=date',
    `&date=ge2025-07-01&entity=Bot/${bots[0]}`,
    '&date=ge2025-07-01&agent=Practitioner/ann',
    `&_filter=subtype eq execute or agent eq Practitioner/ann`,
    `&_filter=not(subtype eq execute)`,
    `&_filter=entity eq Bot/${bots[2]} and outcome eq 4`,
  ])('%s', async (more) => {
    const query = `${earlier}${more}`;
    const wanted = expected(query);
    expect(await found(query)).toEqual(wanted);
    expect(await found(query, 7)).toEqual(wanted);
  });

  test('by id', async () => {
    const some = [all[3], all[40], all[100]].map((event) => String(event?.id));
    expect((await found(`_id=${some.join()},none`)).sort()).toEqual(some.sort());
  });

  test('in another order than that of time', async () => {
    const query = `${earlier}&subtype=invite&_sort=agent`;
    const agents = new Map(all.map((event) => [event.id, JSON.stringify(event.agent)]));
    for (const count of [5, 1000]) {
      const ids = await found(query, count);
      expect([...ids].sort()).toEqual(expected(query).sort());
      const values = ids.map((id) => agents.get(id) ?? '');
      expect(values).toEqual([...values].sort());
    }
  });

  test('by their time alone, before what leads to them is written', async () => {
    const late = logItem(firstMs + 400 * dayMs);
    const id = String(storedResource(late)?.id);
    await stage.services.table.put(late);
    expect(await found('date=ge2026-02-01')).toEqual([id]);
    const { subtype } = storedResource(late) as unknown as { subtype: { code: string }[] };
    const bySubtype = `date=ge2026-02-01&subtype=${subtype[0]?.code}`;
    expect(await found(bySubtype)).toEqual([]);
    await indexEntry(stage.services.table, late);
    expect(await found(bySubtype)).toEqual([id]);
  });

  test('nothing of another Project', async () => {
    const other = await newProject(stage);
    const query = new URLSearchParams(`${earlier}&_sort=-date`);
    const { entry } = await searchResources(stage.services, other, { type: 'AuditEvent', query });
    expect(entry).toBeUndefined();
  });
});

test('a search that excludes runs does not read them: what is taken for granted of runs holds', () => {
  const runs = all.filter(({ action }) => action === 'E');
  expect(runs.length).toBeGreaterThan(50);
  const conditions = [
    ...['subtype=execute', 'subtype=invite', 'subtype:not=execute', 'type=rest', 'type:not=rest', 'action=E'],
    ...[
      'action=C',
      `source=Project/${caller.project}`,
      'source=Project/x',
      'site:missing=true',
      'entity=Bot/x',
    ],
    ...['entity-name=x', 'policy:missing=false', 'altid=x', '_tag=x', `entity=Bot/${bots[0]}`],
  ];
  for (const condition of conditions) {
    const { filters } = parseSearch('AuditEvent', new URLSearchParams(condition), undefined);
    for (const run of runs) {
      const botId = JSON.stringify(run.entity).match(/Bot\/([0-9a-f-]{36})/)?.[1];
      const isHit = filters.every((filter) => filter.matches(run));
      expect([condition, mayMatchRuns(caller.project, filters, botId)]).toEqual([condition, isHit]);
      if (isHit) expect(mayMatchRuns(caller.project, filters, undefined)).toBe(true);
    }
  }
});
