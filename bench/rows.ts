/** A figure, and what it must be. */
export interface Row {
  name: string;
  value: number;
  unit: string;
  most?: number;
  least?: number;
  /** What it is to become; docs/performance.md says why it has not. */
  wanted?: string;
  /** What it was made of. */
  detail?: string;
}

/** Whether the figure keeps its bound; undefined when it has none. */
export function isKept({ value, most, least }: Row): boolean | undefined {
  if (most === undefined && least === undefined) return undefined;
  return (most === undefined || value <= most) && (least === undefined || value >= least);
}

/** Name, value, bound, verdict and detail in columns. */
export function table(rows: readonly Row[]): string {
  const cells = rows.map((row) => {
    const kept = isKept(row);
    const held = row.most !== undefined ? `≤ ${row.most}` : row.least !== undefined ? `≥ ${row.least}` : '';
    const bound = row.wanted === undefined ? held : `${held} (wanted ${row.wanted})`;
    const verdict = kept === undefined ? '' : kept ? 'kept' : 'OVER';
    return [row.name, `${tell(row.value)} ${row.unit}`, bound, verdict, row.detail ?? ''];
  });
  const widths = [0, 1, 2, 3].map((column) => Math.max(0, ...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function tell(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/** A quarter of them took no longer: what it is when nothing else wants the processor. */
export function lowerQuartile(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 2] ?? Number.NaN;
}
