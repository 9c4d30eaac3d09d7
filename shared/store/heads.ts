import type { Item } from '../table/item.ts';
import { keys } from '../table/keys.ts';
import type { Owner } from './content.ts';
import { isStanding } from './inline.ts';

/** DynamoDB: a batch reads a hundred items. */
export const batch = 100;

/** The heads of the resources that exist, by their ids. */
export async function readHeads(
  { table, project }: Owner,
  type: string,
  ids: readonly string[],
): Promise<Map<string, Item>> {
  const wanted = [...new Set(ids)].map((id) => ({ id, key: keys.resource(project, type, id) }));
  const batches = Array.from({ length: Math.ceil(wanted.length / batch) }, (_, i) =>
    wanted.slice(i * batch, (i + 1) * batch),
  );
  const read = await Promise.all(
    batches.map(async (some) => {
      const found = await table.read(some.map(({ key }) => key));
      return some.flatMap(({ id, key }) => {
        const item = found.get(key);
        return isStanding(item) ? [[id, item] as const] : [];
      });
    }),
  );
  return new Map(read.flat());
}
