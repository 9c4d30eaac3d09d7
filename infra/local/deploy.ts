import { spawn } from 'node:child_process';
import { errorText } from '../../shared/base/values.ts';
import { answerHelp } from '../command.ts';
import { projectContext } from '../context.ts';
import { readStage, type Stage } from '../stage.ts';
import { askAccount, findings } from './account.ts';

/**
 * Says what of the account would keep people from
 * working, then runs `cdk deploy --all`. What it finds stops nothing: mail and concurrency can be mended afterwards.
 * Without a stage or credentials it ends at once, before anything is bundled.
 */
const usage = `npm run deploy -- -c stage=<name> [--profile <name>] [arguments of cdk deploy]
  npx cdk deploy --help lists those
`;
answerHelp(usage);
const args = process.argv.slice(2);
try {
  await sayFindings(readStage((key) => contextGiven(key) ?? projectContext()[key]));
} catch (error) {
  process.stderr.write(`${errorText(error)}\n`);
  process.exit(1);
}

const cdk = spawn('cdk', ['deploy', '--all', ...args], { stdio: 'inherit' });
cdk.once('error', ({ message }) => {
  process.stderr.write(`${message}: npm run deploy finds cdk in node_modules/.bin\n`);
  process.exit(1);
});
cdk.once('exit', (code) => process.exit(code ?? 1));

/** @throws {Error} in words for whoever deploys */
async function sayFindings(stage: Stage): Promise<void> {
  const profile = profileGiven();
  if (profile !== undefined) process.env.AWS_PROFILE = profile;
  const found = findings(await askAccount(stage), stage);
  process.stdout.write(
    `Stage ${stage.name}, ${stage.region}\n${found.map((line) => `! ${line}\n`).join('')}`,
  );
}

/** `--profile name`, as the CDK's own command line reads it: the account that is asked is the one that is deployed to. */
function profileGiven(): string | undefined {
  const at = args.indexOf('--profile');
  const given = at < 0 ? args.find((arg) => arg.startsWith('--profile=')) : args[at + 1];
  return given?.replace(/^--profile=/, '');
}

/** `-c key=value`, as the CDK's own command line reads it. */
function contextGiven(key: string): string | undefined {
  const pairs = args.flatMap((arg, index) => {
    if (arg === '-c' || arg === '--context') return [args[index + 1] ?? ''];
    return arg.startsWith('--context=') ? [arg.slice('--context='.length)] : [];
  });
  return pairs.find((pair) => pair.startsWith(`${key}=`))?.slice(key.length + 1);
}
