/**
 * `npm run costs`: what a stage costs by AWS's list prices, from its templates and from counted units; writes the
 * tables of docs/cost.md. With another assumption (`-- --bot-ms 200`) it only prints them.
 */

import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { costTables, withTables } from './tables.ts';
import { usual } from './use.ts';

const option = { type: 'string' } as const;
const { values } = parseArgs({
  options: { 'bot-ms': option, 'own-ms': option, 'invoker-ms': option, 'log-bytes': option },
});
const number = (text: string | undefined, otherwise: number) => {
  const value = text === undefined ? otherwise : Number(text);
  if (!(value >= 0)) throw new Error(`${text} is no number`);
  return value;
};
const tables = await costTables({
  botMs: number(values['bot-ms'], usual.botMs),
  ownMs: number(values['own-ms'], usual.ownMs),
  invokerMs: number(values['invoker-ms'], usual.invokerMs),
  logBytes: number(values['log-bytes'], usual.logBytes),
});
process.stdout.write(`${tables.idle}\n\n${tables.egress}\n\n${tables.firewall}\n\n${tables.use}\n`);
if (Object.keys(values).length === 0) {
  const page = new URL('../../docs/cost.md', import.meta.url);
  await writeFile(page, withTables(await readFile(page, 'utf8'), tables));
}
process.exit(0);
