/** A part of a price. */
export interface Line {
  what: string;
  usd: number;
}

/** A Markdown table with the sum below. */
export function linesTable(head: string, lines: readonly Line[]): string {
  const sum = lines.reduce((total, { usd }) => total + usd, 0);
  return [
    `| ${head} | USD |`,
    '| --- | ---: |',
    ...lines.map(({ what, usd }) => `| ${what} | ${usd.toFixed(2)} |`),
    `| **in all** | **${sum.toFixed(2)}** |`,
  ].join('\n');
}
