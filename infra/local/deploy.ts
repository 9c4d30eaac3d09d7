import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { errorText } from '../../shared/base/values.ts';
import { answerHelp, text } from '../command.ts';
import { projectContext } from '../context.ts';
import { readStage } from '../stage.ts';
import { askAccount, findings } from './account.ts';

/**
 * Says what of the account would keep people from working, then runs `cdk deploy --all`. What it finds stops nothing: mail and concurrency can be mended afterwards.
 * Without a stage or credentials it ends at once, before anything is bundled.
 */
const usage = `npm run deploy -- -c stage=<name> [--profile <name>] [arguments of cdk deploy]
  npx cdk deploy --help lists those
`;
answerHelp(usage);
const args = process.argv.slice(2);
const options = { context: { ...text, short: 'c', multiple: true }, profile: text } as const;
try {
  // As the CDK's own command line reads them: the account that is asked is the one that is deployed to.
  const { context = [], profile } = parseArgs({ args, options, strict: false }).values;
  if (typeof profile === 'string') process.env.AWS_PROFILE = profile;
  const pairs = [context].flat().map((pair) => String(pair).split(/=(.*)/s, 2));
  const stage = readStage((key) => new Map(pairs as [string, string][]).get(key) ?? projectContext()[key]);
  const found = findings(await askAccount(stage), stage);
  process.stdout.write(
    `Stage ${stage.name}, ${stage.region}\n${found.map((line) => `! ${line}\n`).join('')}`,
  );
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
