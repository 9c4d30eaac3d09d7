/**
 * `npm run bench`: every figure that Portico is held to, its bound and a verdict; the exit code is 1 when one is
 * over. `-- --counted` takes only what is counted and not timed, `-- --against <git ref>` runs this tree and
 * another commit side by side, `-- --only <name>` one of the groups.
 */

import { parseArgs } from 'node:util';
import { answerHelp } from '../infra/command.ts';
import { against } from './against/against.ts';
import { coldRows } from './cold/rows.ts';
import { countedRows } from './counted/rows.ts';
import { executeRows } from './execute.ts';
import { inviteRows } from './invite.ts';
import { isKept, type Row, table } from './rows.ts';
import { sandboxRows } from './sandbox.ts';

answerHelp(
  'npm run bench -- [--counted] [--only <group>,…] [--many <n>] [--against <git ref> [--rounds <n>]]\n',
);
const { values } = parseArgs({
  options: {
    against: { type: 'string' },
    rounds: { type: 'string', default: '7' },
    counted: { type: 'boolean', default: false },
    many: { type: 'string' },
    only: { type: 'string' },
  },
});
const { counted, only, against: ref } = values;
const many = Number(values.many ?? (counted ? 200 : 2000));

const groups: Record<string, () => Promise<Row[]>> = {
  counted: () => countedRows(many),
  sandbox: sandboxRows,
  execute: executeRows,
  invite: inviteRows,
  cold: coldRows,
  ...(ref === undefined ? {} : { against: () => against(ref, Number(values.rounds)) }),
};

/** With a commit to compare with, only that; its figures need the machine for themselves. */
const chosen =
  only?.split(',') ?? (counted ? ['counted'] : ref === undefined ? Object.keys(groups) : ['against']);
let isOver = false;
for (const name of chosen) {
  const rows = await groups[name]?.();
  if (!rows) throw new Error(`There is no group ${name}: ${Object.keys(groups).join(', ')}`);
  isOver ||= rows.some((row) => isKept(row) === false);
  process.stdout.write(`${table(rows)}\n\n`);
}
process.exit(isOver ? 1 : 0);
