import { indexedId } from '../index/places.ts';
import { isInside, type Stretch } from '../index/span.ts';
import { type Key, keys, pendingPartitions } from '../table/keys.ts';
import { type Owner, stretchQuery } from './stretch-query.ts';

/** The sort keys of the index items in a stretch, a megabyte of them at a time. */
export async function* sortKeysIn(of: Owner, stretch: Stretch): AsyncGenerator<string[]> {
  let next: Key | undefined;
  do {
    const page = await of.table.sortKeys({
      ...stretchQuery(of, stretch),
      ...(next ? { ExclusiveStartKey: next } : {}),
    });
    yield page.sortKeys.filter((sk) => isInside(stretch, stretch.bucket, sk));
    next = page.next;
  } while (next);
}

/** The ids of all resources that stretches lead to, when these are few; else undefined. */
export async function fewIdsIn(
  of: Owner,
  stretches: readonly Stretch[],
  most: number,
): Promise<Set<string> | undefined> {
  const pages = await Promise.all(
    stretches.map(async (stretch) => {
      const page = await of.table.sortKeys({ ...stretchQuery(of, stretch), Limit: most + 1 });
      return page.next ? undefined : page.sortKeys.map(indexedId);
    }),
  );
  const ids = new Set(pages.flatMap((page) => page ?? []));
  return pages.includes(undefined) || ids.size > most ? undefined : ids;
}

/**
 * The ids of a type of which index items may say what is not: a write of several steps is under way, was cut off,
 * or has not been tidied up after. Of all others index items and heads are written in one transaction.
 */
export async function idsBeingWritten({ table, project, type }: Owner): Promise<Set<string>> {
  const found = await Promise.all(pendingPartitions().map((pk) => idsNotedIn({ table, project, type }, pk)));
  return new Set(found.flat());
}

async function idsNotedIn({ table, project, type }: Owner, pk: string): Promise<string[]> {
  const prefix = keys.pending(project, type, '', '').sk.slice(0, -1);
  const ids: string[] = [];
  let next: Key | undefined;
  do {
    const page = await table.sortKeys({
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': pk, ':prefix': prefix },
      ...(next ? { ExclusiveStartKey: next } : {}),
    });
    ids.push(...page.sortKeys.map((sk) => sk.slice(prefix.length, sk.indexOf('#', prefix.length))));
    next = page.next;
  } while (next);
  return ids;
}
