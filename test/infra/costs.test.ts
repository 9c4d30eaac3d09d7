import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { costTables, withTables } from '../../bench/costs/tables.ts';
import { usual } from '../../bench/costs/use.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/cost.md'), 'utf8');

test('docs/cost.md has what templates hold and calls take: else `npm run costs`', async () => {
  const tables = await costTables(usual);
  expect(withTables(page, tables)).toBe(page);
  expect(page).toContain(tables.idle);
  expect(page).toContain(tables.use);
});

test('a slower Bot costs more to execute, and nothing else', async () => {
  const [fast, slow] = await Promise.all([costTables(usual), costTables({ ...usual, botMs: 1000 })]);
  const row = ({ use }: { use: string }, name: string) => use.split('\n').find((line) => line.includes(name));
  expect(row(slow, 'execute by id ')).not.toBe(row(fast, 'execute by id '));
  expect(row(slow, 'invite')).toBe(row(fast, 'invite'));
});
