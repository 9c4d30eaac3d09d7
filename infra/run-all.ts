import { spawnSync } from 'node:child_process';
import { answerHelp } from './command.ts';

/** One npm script of several commands, one after the other until one fails: `node infra/run-all.ts <script> <command>…`. */
const [name, ...commands] = process.argv.slice(2).filter((arg) => arg !== '--help' && arg !== '-h');
answerHelp(`npm run ${name}\n  ${commands.join('\n  ')}\n`);
for (const command of commands) {
  const { status } = spawnSync(command, { shell: true, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
