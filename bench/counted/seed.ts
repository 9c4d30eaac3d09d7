import { randomUUID } from 'node:crypto';
import type { Resource } from '../../shared/base/resource.ts';
import { runRecordId } from '../../shared/carry/table/entry-id.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import type { Table } from '../../shared/carry/table/table.ts';
import { entryItem } from '../../shared/identity/audit/audit-event.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { createChange } from '../../shared/store/items/change.ts';

/** Items that are written at once. */
const batch = 500;

/** As many more members, Bots, Patients and runs of one Bot in a Project, written as they lie in the table. */
export async function seed(
  { table, nowMs }: { table: Table; nowMs: number },
  { project }: Caller,
  botId: string,
  { from, to }: { from: number; to: number },
): Promise<void> {
  let items: Item[] = [];
  for (let n = from; n < to; n++) {
    // Before everything else that the Project has, and each at a moment of its own.
    const atMs = nowMs - 30 * 86_400_000 + n;
    items.push(
      ...itemsOf(project, patient(n, atMs)),
      ...itemsOf(project, member(project, n, atMs)),
      ...itemsOf(project, bot(n, atMs)),
      record(project, botId, atMs),
    );
    if (items.length < batch) continue;
    await table.write(items);
    items = [];
  }
  await table.write(items);
}

function itemsOf(project: string, resource: Resource): Item[] {
  const change = createChange(project, resource);
  const head = change.head(false);
  return [...('put' in head ? [head.put] : []), ...change.state, ...change.index];
}

function patient(n: number, atMs: number): Resource {
  return { ...base('Patient', `p${n}`, atMs), name: [{ family: `Family${n}`, given: ['Ann'] }] };
}

function member(project: string, n: number, atMs: number): Resource {
  return {
    ...base('ProjectMembership', `m${n}`, atMs),
    project: { reference: `Project/${project}` },
    user: { reference: `User/u${n}`, display: `Ann Family${n}` },
    profile: { reference: `Patient/p${n}`, display: `Ann Family${n}` },
    active: n % 2 === 0,
  };
}

function bot(n: number, atMs: number): Resource {
  return { ...base('Bot', `b${n}`, atMs), name: `Bot ${n}` };
}

function base(resourceType: string, id: string, atMs: number): Resource {
  return {
    resourceType,
    id,
    meta: { versionId: `v-${id}`, lastUpdated: new Date(atMs).toISOString() },
  };
}

function record(project: string, botId: string, atMs: number): Item {
  const audited = {
    ...({ project, subtype: 'execute', action: 'E', outcome: '0', outcomeDesc: 'returned' } as const),
    ...{ agent: { reference: 'Practitioner/ann' }, entities: [{ reference: `Bot/${botId}` }] },
  };
  return entryItem(audited, runRecordId(botId, atMs, randomUUID()), atMs);
}
