import { object, string } from 'valibot';
import { stored } from '../../schema/stored.ts';
import { cutParts, longestPieceBytes, packText, readParts, unpackText } from '../../store/packing.ts';
import type { Item } from '../../table/item.ts';
import type { Table } from '../../table/table.ts';
import { expiryOf, type Job } from './job.ts';

/** A job's input, or what came of it. */
type Kind = 'input' | 'output';

const type = 'Job';

/**
 * A text for the item of a job: what is too long for it is written beside it first, and forgotten
 * with it.
 */
export async function storeText(
  table: Table,
  { project, id, createdAtMs }: Pick<Job, 'project' | 'id' | 'createdAtMs'>,
  kind: Kind,
  text: string,
): Promise<Record<string, unknown>> {
  const packed = packText(text);
  if (packed.length <= longestPieceBytes) return { [kind]: packed };
  const parts = cutParts(project, { type, id, versionId: kind }, Buffer.from(packed));
  await Promise.all(parts.map((part) => table.put({ ...part, ttl: expiryOf(createdAtMs) })));
  return { [`${kind}Parts`]: parts.length };
}

const nameOf = stored('job', object({ project: string(), id: string() }));

/** Reads back what storeText stored; undefined when there was nothing. */
export async function loadText(table: Table, item: Item, kind: Kind): Promise<string | undefined> {
  const { project, id } = nameOf(item);
  const parts = item[`${kind}Parts`];
  if (typeof parts === 'number') {
    return unpackText(await readParts(table, project, { type, id, versionId: kind, parts }));
  }
  const packed = item[kind];
  return packed === undefined ? undefined : unpackText(packed);
}
