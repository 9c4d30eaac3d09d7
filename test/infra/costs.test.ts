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
  expect(page).toContain(tables.environments);
});

test('a slower Bot costs more to execute, and nothing else; a price for environments is added', async () => {
  const other = { ...usual, botMs: 1000, environmentGb: 0.001 };
  const [fast, slow] = await Promise.all([costTables(usual), costTables(other)]);
  const row = ({ use }: { use: string }, name: string) => use.split('\n').find((line) => line.includes(name));
  expect(row(slow, 'execute by id ')).not.toBe(row(fast, 'execute by id '));
  expect(row(slow, 'invite')).toBe(row(fast, 'invite'));
  // A thousand of 1,769 MiB, beside what their start costs.
  expect(slow.environments).toContain('| 1.73 GB of an environment for one tenant | 1.73 |');
  expect(fast.environments).not.toContain('for one tenant');
});
