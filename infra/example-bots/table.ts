import type { Trial } from './try-bots.ts';

const begin = '<!-- made by npm run example-bots -->';
const end = '<!-- end -->';

/** The document with its table made anew. @throws {Error} when it has no place for one */
export function withTable(document: string, trials: readonly Trial[]): string {
  const [before, rest] = document.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`The document has no ${begin}`);
  return `${before}${begin}\n${tableOf(trials)}\n${end}${after}`;
}

function tableOf(trials: readonly Trial[]): string {
  const rows = trials.map(
    ({ file, deploys, run = '', remarks }) =>
      `| \`${nameOf(file)}\` | ${deploys ? 'yes' : 'no'} | ${run} | ${remarks.join('; ')} |`,
  );
  return ['| Bot | Deploys | One run | |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

/** Whether a Bot deploys and what its run came to, as the document says, by its name there. */
export function rowsOf(document: string): Map<string, Pick<Trial, 'deploys' | 'run'>> {
  const table = document.split(begin)[1]?.split(end)[0] ?? '';
  const rows = [...table.matchAll(/^\| `([^`]+)` \| (yes|no) \| (.*?) \|/gm)];
  return new Map(
    rows.map(([, name = '', deploys, run = '']) => [
      name,
      { deploys: deploys === 'yes', run: run || undefined },
    ]),
  );
}

/** Sample and file are enough to find it. */
export function nameOf(file: string): string {
  const [sample = '', ...path] = file.split('/');
  return `${sample}/${path.at(-1)}`;
}
