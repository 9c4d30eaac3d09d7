import { expect, test } from '@jest/globals';
import { type PartitionRead, type queryOf, readAll } from '../../shared/carry/table/pages.ts';

/** A partition of these sort keys, and how often it was asked. */
function partition(...sks: string[]) {
  const asked: unknown[] = [];
  const query = async (input: ReturnType<typeof queryOf>) => {
    asked.push(input);
    return { items: sks.map((sk) => ({ pk: 'P', sk })) };
  };
  return { asked, query };
}

test.each<[string, PartitionRead]>([
  ['a prefix', { prefix: 'b', after: 'd' }],
  ['a prefix, newest first', { prefix: 'b', after: 'a', newestFirst: true }],
  ['a range', { from: 'b', to: 'c', after: 'd' }],
  ['a range, newest first', { from: 'b', to: 'c', after: 'a', newestFirst: true }],
  ['a range without a beginning', { to: 'c', after: 'd' }],
])('what goes on behind the end of %s has nothing to read, and does not ask', async (_name, reading) => {
  const table = partition('b', 'c');
  expect(await readAll(table, 'P', reading)).toEqual([]);
  expect(table.asked).toEqual([]);
});

test.each<[string, PartitionRead, string | undefined]>([
  ['before a prefix begins it', { prefix: 'b', after: 'a' }, undefined],
  ['inside a prefix goes on there', { prefix: 'b', after: 'b1' }, 'b1'],
  ['before a range begins it', { from: 'b', to: 'c', after: 'a' }, undefined],
  ['at the end of a range goes on there', { from: 'b', to: 'c', after: 'c' }, 'c'],
  [
    'behind a range, newest first, begins it',
    { from: 'b', to: 'c', after: 'd', newestFirst: true },
    undefined,
  ],
])('what goes on %s', async (_name, reading, sk) => {
  const table = partition('b', 'c');
  expect(await readAll(table, 'P', reading)).toHaveLength(2);
  expect(table.asked).toMatchObject([{ ExclusiveStartKey: sk === undefined ? undefined : { pk: 'P', sk } }]);
});
