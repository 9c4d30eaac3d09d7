import { expect, test } from '@jest/globals';
import { countedRows } from '../../bench/counted/rows.ts';
import { isKept, table } from '../../bench/rows.ts';

const isLong = process.env.PORTICO_LONG === '1';
const many = isLong ? 100_000 : 2000;

test(
  `what is counted keeps its bounds, and costs no more with ${many} of everything than with 10`,
  async () => {
    const rows = await countedRows(many);
    if (isLong) process.stdout.write(`${table(rows)}\n`);
    expect(rows.filter((row) => isKept(row) !== true)).toEqual([]);
    expect(rows.length).toBeGreaterThan(12);
  },
  isLong ? 3_600_000 : 120_000,
);
