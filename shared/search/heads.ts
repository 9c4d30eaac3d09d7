import { parseJson } from '../fhir/json.ts';
import type { Resource } from '../fhir/resource.ts';
import { contentText, withContent } from '../table/content.ts';
import { keys } from '../table/keys.ts';
import type { Item } from '../table/table.ts';
import type { Reader } from './reader.ts';

/** DynamoDB: a batch reads a hundred items. */
export const batch = 100;

/** The heads of the resources that exist, by their ids. */
export async function readHeads(
  { table, project }: Pick<Reader, 'table' | 'project'>,
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
        return item && item.deleted !== true ? [[id, item] as const] : [];
      });
    }),
  );
  return new Map(read.flat());
}

/** Unpacked one at a time: a hundred resources of 4 MiB would not fit the memory. */
export async function openHead(
  { table, project }: Pick<Reader, 'table' | 'project'>,
  head: Item,
): Promise<{ resource: Resource; characters: number }> {
  const text = contentText(await withContent(table, project, head));
  return { resource: parseJson(text) as Resource, characters: text.length };
}
