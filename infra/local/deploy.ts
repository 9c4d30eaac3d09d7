import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetAccountCommand, GetEmailIdentityCommand, SESv2Client } from '@aws-sdk/client-sesv2';
import { errorText } from '../../shared/base/values.ts';
import { leastToShare } from '../../shared/carry/shares.ts';
import { answerHelp, text } from '../command.ts';
import { projectContext } from '../context.ts';
import { readStage, type Stage } from '../stage.ts';

/** What the account says that a stage is deployed to; undefined where its credentials may not ask. */
export interface AccountFacts {
  /** Whether SES has verified the stage's sender or its domain. */
  senderVerified: boolean | undefined;
  /** SES sends to verified addresses only. */
  mailSandbox: boolean | undefined;
  /** Lambda functions that may run at once. */
  concurrency: number | undefined;
}

/** Below it the alarms and the API's functions alone leave hardly a run of a Bot. */
const littleConcurrency = 100;

/**
 * What whoever deploys should know before the first invitation, a sentence each; none when all is well.
 * No I/O.
 */
export function findings(
  facts: AccountFacts,
  stage: Pick<Stage, 'name' | 'mailFrom' | 'region' | 'mailSandbox' | 'accountConcurrency'>,
): string[] {
  const { senderVerified, mailSandbox, concurrency } = facts;
  const { name, mailFrom, region, accountConcurrency: counted } = stage;
  const isLittle = concurrency !== undefined && concurrency < littleConcurrency;
  const isTooMuch = concurrency !== undefined && counted > concurrency;
  const isUnused = counted < littleConcurrency && concurrency !== undefined && !isLittle;
  const failing =
    counted >= leastToShare
      ? 'shares of it cannot be reserved, so the deployment fails'
      : 'the alarm comes too late';
  const all: [holds: boolean, sentence: string][] = [
    [
      senderVerified === false,
      `No mail will be sent: SES in ${region} has not verified ${mailFrom} or its domain. ` +
        `aws sesv2 create-email-identity --region ${region} --email-identity ${mailFrom}`,
    ],
    [
      mailSandbox === true && !stage.mailSandbox,
      'SES is in its sandbox, and asks for rights to each recipient: no mail will be sent. Ask for production ' +
        `access, or set "mailSandbox": true for ${name} in cdk.json and verify every recipient.`,
    ],
    [
      mailSandbox === true && stage.mailSandbox,
      'SES is in its sandbox: people whose addresses are not verified there get no mail.',
    ],
    [
      mailSandbox === false && stage.mailSandbox,
      `SES has left its sandbox: take "mailSandbox" off ${name} in cdk.json, it grants more than is needed.`,
    ],
    [
      isLittle,
      `${concurrency} functions may run at once in this account, and a run of a Bot takes two: ` +
        `${Math.floor(Number(concurrency) / 2)} Bots. Ask for 1,000 (Service Quotas, Lambda, concurrent executions).`,
    ],
    [
      isTooMuch,
      `The stage counts on ${counted} executions at once, and the account has ${concurrency}: ${failing}. ` +
        `Set "accountConcurrency": ${concurrency} for ${name} in cdk.json until it has more.`,
    ],
    [
      isUnused,
      `The account may run ${concurrency} functions at once, and the stage counts on ${counted}: no function has a ` +
        `share, and the alarm on what is used goes off early. Set "accountConcurrency": ${concurrency} for ${name} in ` +
        'cdk.json, or its part where several stages share the account.',
    ],
    [
      Object.values(facts).includes(undefined),
      'Not all could be looked at: it needs ses:GetEmailIdentity, ses:GetAccount and lambda:GetAccountSettings.',
    ],
  ];
  return all.flatMap(([holds, sentence]) => (holds ? [sentence] : []));
}

/**
 * Asks SES and Lambda of the account that the credentials name. What may not be asked is undefined.
 * @throws {Error} when there are no credentials, in words
 */
export async function askAccount({
  region,
  mailFrom,
}: Pick<Stage, 'region' | 'mailFrom'>): Promise<AccountFacts> {
  const ses = new SESv2Client({ region, maxAttempts: 2 });
  const lambda = new LambdaClient({ region, maxAttempts: 2 });
  await lambda.config.credentials().catch((error: Error) => {
    throw new Error(
      `${error.message}: set AWS_ACCESS_KEY_ID and its like, or name a profile (npm run deploy -- --profile <name>)`,
    );
  });
  const isVerified = (EmailIdentity: string) =>
    ses
      .send(new GetEmailIdentityCommand({ EmailIdentity }))
      .then(({ VerifiedForSendingStatus }) => VerifiedForSendingStatus === true)
      .catch((error: Error) => (error.name === 'NotFoundException' ? false : undefined));
  const [address, domain, sending, functions] = await Promise.all([
    isVerified(mailFrom),
    isVerified(mailFrom.slice(mailFrom.indexOf('@') + 1)),
    ses.send(new GetAccountCommand({})).catch(() => undefined),
    lambda.send(new GetAccountSettingsCommand({})).catch(() => undefined),
  ]);
  const senderVerified = address || domain ? true : address === undefined ? domain : address;
  return {
    senderVerified,
    mailSandbox: sending && sending.ProductionAccessEnabled !== true,
    concurrency: functions?.AccountLimit?.ConcurrentExecutions,
  };
}

/**
 * Says what of the account would keep people from working, then runs `cdk deploy --all`. What it finds stops nothing: mail and concurrency can be mended afterwards.
 * Without a stage or credentials it ends at once, before anything is bundled.
 */
const usage = `npm run deploy -- -c stage=<name> [--profile <name>] [arguments of cdk deploy]
  npx cdk deploy --help lists those
`;
if (import.meta.main) {
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
}
