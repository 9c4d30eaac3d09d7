import { mkdir } from 'node:fs/promises';
import { errorText } from '../../shared/base/values.ts';
import type {
  OperatorAnswer,
  OperatorRequest,
  ProvisionHandler,
} from '../../shared/identity/projects/requests.ts';
import { command } from '../command.ts';
import { type Demo, provisionDemo } from './demo-projects.ts';
import { withFunctions } from './deployed.ts';
import { type Asked, readRequest, taken } from './provision/request.ts';

/**
 * `npm run provision -- --name <Project> --admin <address>`: a new Project and its first administrator,
 * who gets an invitation. With `--issuer` instead: an external issuer for all Projects of the stage. On this
 * machine, or with `--stage` in the account that the credentials name.
 */
const usage = `npm run provision -- --name <Project> --admin <address> [--first-name <name>] [--last-name <name>]
  [--client] [<settings>] [--stage <stage>]
  with a password for a person who is new, who is then a member at once without a mail, in ADMIN_PASSWORD
npm run provision -- --project <id> [--paused | --resumed] [--disabled | --no-disabled] [<settings>] [--stage <stage>]
npm run provision -- --project <id> --admin <address> [--first-name <name>] [--last-name <name>] [--stage <stage>]
  invites another administrator, as with --name
npm run provision -- --project <id> --recover <address> [--stage <stage>]
  ends the password, the second factor and all logins of an administrator, who chooses a password by mail
npm run provision -- --project <id> --delete [--stage <stage>]
  deletes a disabled Project and all that belongs to it, for good; may be stopped and run again
npm run provision -- --forget <address> [--stage <stage>]
  erases the account of a person who is a member of no Project any more
npm run provision -- --issuer <https URL> (--issuer-client <id> | --remove) [--stage <stage>]
  with the secret of our client there, if it has one, in the variable ISSUER_CLIENT_SECRET
npm run provision -- --for-spec <folder> --base-url <url> --stage <stage>
  makes two Projects and writes <folder>/demo.json, which the HTTP spec runs with
--stage <stage>: of cdk.json, in the account that the credentials name; without it on this machine
settings: [--invites-per-hour <n>] [--invitation-days <n>] [--execution-days <n>] [--concurrent-runs <n>]
  [--tree-runs <n>] [--subscriptions <n>] [--schedules <n>] [--emit-executions | --no-emit-executions]
  [--features-off none|<list>]  what the Project may not do, of bots,cron,subscriptions,email
  [--audit-reads | --no-audit-reads] [--idle-minutes <n> | --idle-minutes 0]
`;
async function provisionAsked({ request, deployed }: Asked): Promise<OperatorAnswer | Demo> {
  return withFunctions(deployed, async (invoke) => {
    const provision = (one: OperatorRequest) => invoke<OperatorAnswer>('provision', one);
    if ('forSpec' in request) {
      const { forSpec, baseUrl } = request;
      await mkdir(forSpec, { recursive: true, mode: 0o700 });
      return provisionDemo(forSpec, baseUrl, provision as ProvisionHandler);
    }
    // A deletion takes as many invocations as it takes.
    for (;;) {
      const answer = await provision(request);
      if (!('deletion' in answer) || answer.deletion.done) return answer;
      process.stderr.write(`${JSON.stringify(answer.deletion)}\n`);
    }
  });
}

await command(usage, { failed: 1, ...taken }, async ({ values }) => {
  const answer = await provisionAsked(readRequest(values)).catch((error: unknown) => {
    process.stderr.write(`${errorText(error)}\n`);
    process.exit(1);
  });
  process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
  process.exit(0);
});
