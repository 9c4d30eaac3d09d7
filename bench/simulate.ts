/**
 * `npm run simulate`: how many executions and environments of tenants a load takes, and what is refused; writes the
 * table of docs/scale.md. With inputs of your own (`-- --projects 500 --runs-per-second 30`) it prints that one row.
 */

import { readFile, writeFile } from 'node:fs/promises';
import { withTables } from './costs/tables.ts';
import { readInputs } from './read-inputs.ts';
import { type Load, usualLoad } from './simulate/load.ts';
import { growth, loadsTable } from './simulate/table.ts';

const options: Readonly<Record<string, keyof Load>> = {
  projects: 'projects',
  'runs-per-second': 'runsPerSecond',
  skew: 'skew',
  'bot-ms': 'botMs',
  'own-ms': 'ownMs',
  'cold-ms': 'coldMs',
  'idle-minutes': 'idleMinutes',
  minutes: 'minutes',
  concurrency: 'concurrency',
  'project-runs': 'projectRuns',
};
const given = readInputs('simulate', options);
if (Object.keys(given).length > 0) {
  const load: Load = { ...usualLoad, ...given };
  if (!(Number.isInteger(load.projects) && load.projects > 0 && load.minutes > 0)) {
    process.stderr.write('A whole number of Projects, and some minutes, are needed\n');
    process.exit(2);
  }
  process.stdout.write(`${loadsTable([{ name: 'yours', load }])}\n`);
} else {
  const simulation = loadsTable(growth);
  process.stdout.write(`${simulation}\n`);
  const page = new URL('../docs/scale.md', import.meta.url);
  await writeFile(page, withTables(await readFile(page, 'utf8'), { simulation }));
}
