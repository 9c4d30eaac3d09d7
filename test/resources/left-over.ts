import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Item } from '../../shared/carry/table/item.ts';
import { parseHead } from '../../shared/carry/table/keys.ts';
import type { Table } from '../../shared/carry/table/table.ts';
import { indexKeys } from '../../shared/store/index/index-items.ts';
import { isResourceType } from '../../shared/store/index/registry.ts';
import { openState } from '../../shared/store/items/content.ts';
import { scanAll } from '../storage/scan-all.ts';

/** What does not belong together in a table: items that lead nowhere, and values that nothing leads to. */
export interface LeftOver {
  /** Index items whose resource has no such value. */
  stray: string[];
  /** Index items that a resource ought to have. */
  missing: string[];
  /** Parts that no version names, versions that no head leads to, notes of writes. */
  other: string[];
}

/** Looks at every item of the table. */
export async function findLeftOver(
  table: Table,
  client: DynamoDBDocumentClient,
  tableName: string,
): Promise<LeftOver> {
  const items = await scanAll(client, tableName);
  const present = new Set(items.filter(isLeading).map(nameOf));
  const wanted = new Set<string>();
  const parts = new Set<string>();
  for (const item of items) {
    const target = parseHead(item);
    if (target && isResourceType(target.type)) {
      const opened = await openState(table, item);
      for (const name of opened ? indexKeys(target.project, opened.resource).keys() : []) wanted.add(name);
    }
    for (const name of partNames(item)) parts.add(name);
  }
  const isSearch = (name: string) => !name.includes('#_history#');
  return {
    stray: [...present].filter((name) => isSearch(name) && !wanted.has(name)),
    missing: [...wanted].filter((name) => !present.has(name)),
    other: items
      .filter(({ pk }) => pk.startsWith('PENDING#') || (pk.includes('#PART#') && !parts.has(pk)))
      .map(nameOf)
      .concat(historyWithoutVersion(items)),
  };
}

/** Whether an item only leads to another: what is listed by time may be the entry itself. */
function isLeading(item: Item): boolean {
  const isListed = /#RUNS#|#AuditEvent#LOG#/.test(item.pk) && item.content === undefined;
  return item.pk.includes('#IX#') || isListed;
}

function partNames(item: Item): string[] {
  const [, project, type, id] = item.pk.split('#');
  const names = (version: unknown, count: unknown) =>
    Array.from({ length: Number(count ?? 0) }, (_, n) => `P#${project}#PART#${type}#${id}#${version}#${n}`);
  return [...names(item.versionId, item.parts), ...names(item.bytesOf, item.byteParts)];
}

function historyWithoutVersion(items: readonly Item[]): string[] {
  const versions = new Set(items.filter(({ sk }) => sk.startsWith('V#')).map(({ sk }) => sk.split('#')[2]));
  return items
    .filter(({ pk, sk }) => pk.includes('#_history#') && !versions.has(sk.split('#')[2]))
    .map(nameOf);
}

function nameOf({ pk, sk }: Item): string {
  return `${pk}\n${sk}`;
}
