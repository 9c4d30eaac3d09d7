import { expect, test } from '@jest/globals';
import type { Item } from '../../shared/carry/table/item.ts';
import type { Key } from '../../shared/carry/table/keys.ts';
import type { Table } from '../../shared/carry/table/table.ts';
import { headsInTurn } from '../../shared/store/items/versions.ts';

/** How many heads of such contents are read together, until so many have been taken. */
async function readsOf(contentBytes: number, ids: number, taken = ids): Promise<number[]> {
  const reads: number[] = [];
  const read = async (wanted: readonly Key[]) => {
    reads.push(wanted.length);
    return { get: ({ pk, sk }: Key): Item => ({ pk, sk, content: 'x'.repeat(contentBytes) }) };
  };
  const table = { read } as unknown as Table;
  const all = Array.from({ length: ids }, (_, n) => `${n}`);
  let left = taken;
  for await (const _ of headsInTurn({ table, project: 'p' }, 'Basic', all)) if (--left === 0) break;
  return reads;
}

test('small heads are read by the hundred, behind the first twenty-five', async () => {
  expect(await readsOf(500, 725)).toEqual([25, 100, 100, 100, 100, 100, 100, 100]);
});

test('of large ones no more are in memory at once than hold some megabytes, after the first', async () => {
  const [first = 0, ...others] = await readsOf(350_000, 100);
  expect(first).toBe(25);
  expect(Math.max(...others)).toBe(12);
});

test('what is not asked for any more is not read', async () => {
  expect(await readsOf(350_000, 1000, 30)).toEqual([25, 12]);
});
