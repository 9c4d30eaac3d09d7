import { spawn } from 'node:child_process';
import { projectContext } from '../context.ts';
import { readStage } from '../stage.ts';
import { askAccount } from './account/ask-account.ts';
import { findings } from './account/findings.ts';

/**
 * `npm run deploy -- -c stage=<name> [arguments of cdk deploy]`: says what of the account would keep people from
 * working, then runs `cdk deploy --all`. What it finds stops nothing: mail and concurrency can be mended afterwards.
 */
const args = process.argv.slice(2);
const stage = readStage((key) => contextGiven(key) ?? projectContext()[key]);
const found = findings(await askAccount(stage), stage);
process.stdout.write(`Stage ${stage.name}, ${stage.region}\n${found.map((line) => `! ${line}\n`).join('')}`);

const cdk = spawn('cdk', ['deploy', '--all', ...args], { stdio: 'inherit' });
cdk.once('error', ({ message }) => {
  process.stderr.write(`${message}: npm run deploy finds cdk in node_modules/.bin\n`);
  process.exit(1);
});
cdk.once('exit', (code) => process.exit(code ?? 1));

/** `-c key=value`, as the CDK's own command line reads it. */
function contextGiven(key: string): string | undefined {
  const pairs = args.flatMap((arg, index) => {
    if (arg === '-c' || arg === '--context') return [args[index + 1] ?? ''];
    return arg.startsWith('--context=') ? [arg.slice('--context='.length)] : [];
  });
  return pairs.find((pair) => pair.startsWith(`${key}=`))?.slice(key.length + 1);
}
