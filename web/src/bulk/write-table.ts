import type { Table } from './read-table.ts';

/** The table as CSV (RFC 4180). @param wanted numbers of rows, from 0 */
export function writeTable({ header, rows }: Table, wanted: readonly number[]): string {
  const chosen = wanted.flatMap((row) => (rows[row] ? [rows[row]] : []));
  return [header, ...chosen].map((cells) => `${cells.map(cellText).join(',')}\r\n`).join('');
}

function cellText(cell: string): string {
  return /[",;\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
