import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { errorCode } from '../../../shared/base/values.ts';
import { scanPage } from '../../../shared/carry/table/scan-page.ts';
import { serveParameterSets } from '../../../shared/store/index/registry.ts';
import { beginning, checkTable, type Progress } from '../../check-table/check-table.ts';
import { command, text } from '../../command.ts';
import { replaceFile } from '../../files.ts';
import { tableOptions, withTable } from './table-target.ts';

/**
 * `npm run check-table`: looks at every item of a table and says what does not hold, a line of JSON for each. On this
 * machine the table of the data folder, beside a running stack too; else that of a deployed stage, or any other that
 * the credentials may read, such as one that was restored.
 */
const usage = `npm run check-table -- [--stage <stage> | --table <name> --region <region>]
  [--progress <file>]    goes on where the check of that file stopped
  [--settle <minutes>]   how long what follows a write may take (15)
Exit code: 0 when everything holds, 1 when something does not, 2 when it could not be checked.
`;
const itemsTogether = 1000;

const options = { ...tableOptions, progress: text, settle: { ...text, default: '15' } };
await command(usage, { failed: 2, options }, async ({ values }) => {
  const settleMs = Number(values.settle) * 60_000;
  if (!(settleMs >= 0)) throw new Error(`--settle is no number of minutes: ${values.settle}`);
  const { progress: file } = values;
  const last = await withTable(values, async ({ client, table, name, searchParameters }) => {
    serveParameterSets(searchParameters);
    const options = {
      ...{ table, settleMs, now: Date.now, pause: (ms: number) => pause(ms) },
      scan: (from: Progress['from']) => scanPage(client, name, { from, limit: itemsTogether }),
      report: (violation: object) => void process.stdout.write(`${JSON.stringify(violation)}\n`),
    };
    let reached = beginning;
    for await (reached of checkTable(options, file ? await readProgress(file, name) : beginning)) {
      if (!file) continue;
      await replaceFile(file, JSON.stringify({ table: name, ...reached }));
    }
    return reached;
  });
  process.stderr.write(
    `${last.items} items: ${last.violations} violations, ${last.settling} that may settle by themselves\n`,
  );
  process.exitCode = last.violations > 0 ? 1 : 0;
});

/** One that was done begins anew. */
async function readProgress(file: string, table: string): Promise<Progress> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return beginning;
  const kept = JSON.parse(text) as Progress & { table?: string };
  if (kept.table !== table) throw new Error(`${file} is of a check of ${kept.table}`);
  return kept.done ? beginning : kept;
}
