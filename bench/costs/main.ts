/**
 * `npm run costs`: what a stage costs by AWS's list prices, from its templates and from counted units; writes the
 * tables of docs/cost.md. With another assumption (`-- --bot-ms 200`) it only prints them.
 */

import { readFile, writeFile } from 'node:fs/promises';
import { readInputs } from '../read-inputs.ts';
import { costTables, withTables } from './tables.ts';
import { usual } from './use.ts';

const given = readInputs('costs', {
  'bot-ms': 'botMs',
  'own-ms': 'ownMs',
  'invoker-ms': 'invokerMs',
  'log-bytes': 'logBytes',
  'cold-ms': 'coldMs',
  'environment-gb': 'environmentGb',
});
const tables = await costTables({ ...usual, ...given });
process.stdout.write(`${Object.values(tables).join('\n\n')}\n`);
if (Object.keys(given).length === 0) {
  const page = new URL('../../docs/cost.md', import.meta.url);
  await writeFile(page, withTables(await readFile(page, 'utf8'), tables));
}
process.exit(0);
