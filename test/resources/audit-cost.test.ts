import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Item } from '../../shared/carry/table/item.ts';
import { type Audited, auditItem } from '../../shared/identity/audit/audit-event.ts';
import type { Subtype } from '../../shared/identity/audit/subtypes.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { searchResources } from '../../shared/records/read/search.ts';
import { indexKeys } from '../../shared/store/index/index-items.ts';
import { indexItems } from '../../shared/store/items/change.ts';
import { callsOf, newProject, type Stage, startStage } from '../storage/stage.ts';
import { storedResource } from '../storage/stored.ts';

/** Set to 1000000 for the figures in docs/scale.md. */
const many = Number(process.env.AUDIT_ENTRIES ?? 4_000);
const minuteMs = 60_000;
let stage: Stage;
let caller: Caller;

beforeAll(async () => {
  stage = await startStage({ onDisk: true });
  caller = await newProject(stage);
});
afterAll(() => stage.stop());

/** One in a thousand is of another kind, by somebody else. */
function items(n: number): Item[] {
  const isRare = n % 1000 === 7;
  const subtype: Subtype = isRare ? 'add-issuer' : 'updated';
  const audited: Audited = {
    ...{ project: caller.project, subtype, action: 'U', outcome: '0' },
    agent: { reference: isRare ? 'Practitioner/rare' : 'Practitioner/often' },
    entities: [{ reference: `Patient/p${n % 50}` }],
  };
  const atMs = stage.clock.nowMs - n * minuteMs;
  const entry = auditItem(audited, randomUUID(), atMs);
  const event = storedResource(entry);
  return event ? [entry, ...indexItems(indexKeys(caller.project, event).values(), '1')] : [];
}

async function write(from: number, to: number): Promise<void> {
  for (let n = from; n < to; n += 500) {
    const some = Array.from({ length: Math.min(500, to - n) }, (_, i) => items(n + i));
    await stage.services.table.write(some.flat());
  }
}

const queries = [
  '_sort=-date',
  '_sort=-date&subtype=urn:portico:audit|updated',
  '_sort=-date&subtype=urn:portico:audit|add-issuer',
  'agent=Practitioner/rare',
  'entity=Patient/p7&_sort=date',
];

/** The calls that the first page and the next one make, and how many entries they have. */
async function costOf(text: string): Promise<{ hits: number[]; calls: string[] }> {
  const hits: number[] = [];
  let query: URLSearchParams | undefined = new URLSearchParams(`${text}&_count=20`);
  const calls = await callsOf(stage.client, async () => {
    for (let page = 0; page < 2 && query; page++) {
      const bundle = await searchResources(stage.services, caller, { type: 'AuditEvent', query });
      hits.push(bundle.entry?.length ?? 0);
      const next: string | undefined = bundle.link?.find(({ relation }) => relation === 'next')?.url;
      query = next === undefined ? undefined : new URL(next).searchParams;
    }
  });
  return { hits, calls: calls.sort() };
}

describe('the audit log, by date', () => {
  test(`costs no more with ${many} entries than with some`, async () => {
    // Enough for two pages of each, but of the rare ones.
    await write(0, 2_200);
    const before = new Map<string, Awaited<ReturnType<typeof costOf>>>();
    for (const query of queries) before.set(query, await costOf(query));
    await write(2_200, many);
    for (const query of queries) {
      const startedAt = performance.now();
      const after = await costOf(query);
      const ms = Math.round(performance.now() - startedAt);
      if (process.env.AUDIT_ENTRIES) process.stdout.write(`${query}: ${after.hits} in ${ms} ms\n`);
      const isRare = query.includes('rare') || query.includes('add-issuer');
      if (!isRare) expect([query, after]).toEqual([query, before.get(query)]);
      expect(after.calls.length).toBeLessThan(20);
      expect(after.hits[0]).toBe(isRare ? Math.min(20, Math.ceil((many - 7) / 1000)) : 20);
    }
  }, 3_600_000);
});
