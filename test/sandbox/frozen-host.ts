/**
 * Runs a Bot as Lambda's environment does, and is frozen with its child as soon as the answer is there:
 * `node frozen-host.ts <guest folder>` says `answered <pid of the child>` after each run, and stops.
 */

import { readFileSync } from 'node:fs';
import { createSandbox } from '../../shared/bots/sandbox/supervisor.ts';
import { bot, runOf } from './bot-runs.ts';

const [, , guestDir = ''] = process.argv;
const sandbox = createSandbox({ guestDir });
const { pid } = process;
const children = () =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').filter(Boolean).map(Number);

for (;;) {
  const { outcome } = await sandbox.run(runOf(bot('return 1')));
  const [child = 0] = children();
  // Before the child can say that it has dropped the isolate.
  process.kill(child, 'SIGSTOP');
  process.stdout.write(`${outcome.kind} ${children().join(' ')}\n`);
  process.kill(pid, 'SIGSTOP');
}
