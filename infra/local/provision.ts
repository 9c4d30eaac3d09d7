import { parseArgs } from 'node:util';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { Paused, PauseRequest } from '../../functions/provision/pause.ts';
import type { Provisioned, ProvisionRequest } from '../../functions/provision/provision.ts';
import type { StageIssuer, StageIssuerRequest } from '../../functions/provision/stage-issuer.ts';
import { handlerLoader } from './gateway/handlers.ts';
import { settings } from './settings.ts';
import { withStack } from './with-stack.ts';

/**
 * `npm run provision -- --name <Project> --admin <address>`: a new Project and its first administrator,
 * who gets an invitation. With `--issuer` instead: an external issuer for all Projects of the stage. On this
 * machine, or with `--function` in the account that the credentials name.
 */
const usage = `npm run provision -- --name <Project> --admin <address> [--first-name <name>] [--last-name <name>]
  [--client] [--invites-per-hour <n>] [--invitation-days <n>]
  [--execution-days <n>] [--concurrent-runs <n>] [--tree-runs <n>] [--subscriptions <n>] [--function <deployed function>]
npm run provision -- --project <id> (--paused | --resumed) [--function <deployed function>]
npm run provision -- --issuer <https URL> (--issuer-client <id> | --remove) [--function <deployed function>]
  with the secret of our client there, if it has one, in the variable ISSUER_CLIENT_SECRET
`;

type Request = ProvisionRequest | StageIssuerRequest | PauseRequest;
type Answer = Provisioned | StageIssuer | Paused;

function readRequest(): { request: Request; deployed: string | undefined } {
  const { values } = parseArgs({
    options: {
      name: { type: 'string' },
      admin: { type: 'string' },
      'first-name': { type: 'string' },
      'last-name': { type: 'string' },
      client: { type: 'boolean' },
      'invites-per-hour': { type: 'string' },
      'invitation-days': { type: 'string' },
      'execution-days': { type: 'string' },
      'concurrent-runs': { type: 'string' },
      'tree-runs': { type: 'string' },
      subscriptions: { type: 'string' },
      project: { type: 'string' },
      paused: { type: 'boolean' },
      resumed: { type: 'boolean' },
      issuer: { type: 'string' },
      'issuer-client': { type: 'string' },
      remove: { type: 'boolean' },
      function: { type: 'string' },
    },
  });
  if (values.issuer !== undefined) {
    const { issuer, 'issuer-client': clientId, remove } = values;
    return { deployed: values.function, request: { issuer: issuerRequest(issuer, clientId, remove) } };
  }
  if (values.project !== undefined) {
    const { project, paused = false, resumed = false } = values;
    if (paused === resumed) throw new Error('--paused or --resumed is needed');
    return { deployed: values.function, request: { project, paused } };
  }
  const { name, admin: email, client } = values;
  if (!name || !email) throw new Error('--name and --admin are needed');
  const firstName = values['first-name'] ?? (email.split('@', 1)[0] || email);
  return {
    deployed: values.function,
    request: {
      name,
      admin: { email, firstName, lastName: values['last-name'] ?? 'Administrator' },
      ...(client ? { client } : {}),
      ...count('invitesPerHour', values['invites-per-hour']),
      ...count('invitationDays', values['invitation-days']),
      ...count('executionDays', values['execution-days']),
      ...count('concurrentRuns', values['concurrent-runs']),
      ...count('treeRuns', values['tree-runs']),
      ...count('subscriptions', values.subscriptions),
    },
  };
}

/** A secret on the command line would be seen by every other user of the machine. */
function issuerRequest(
  issuer: string,
  clientId: string | undefined,
  remove: boolean | undefined,
): StageIssuerRequest['issuer'] {
  if (remove) return { issuer, remove };
  if (!clientId) throw new Error('--issuer-client is needed, or --remove');
  const clientSecret = process.env.ISSUER_CLIENT_SECRET;
  return { issuer, clientId, ...(clientSecret ? { clientSecret } : {}) };
}

type Count =
  | 'invitesPerHour'
  | 'invitationDays'
  | 'executionDays'
  | 'concurrentRuns'
  | 'treeRuns'
  | 'subscriptions';

function count(name: Count, text: string | undefined) {
  if (text === undefined) return {};
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`${name} must be a positive number`);
  return { [name]: Number(text) };
}

async function provisionDeployed(functionName: string, request: Request): Promise<Answer> {
  const lambda = new LambdaClient({ maxAttempts: 1 });
  const { Payload, FunctionError } = await lambda.send(
    new InvokeCommand({ FunctionName: functionName, Payload: JSON.stringify(request) }),
  );
  const result = JSON.parse(Buffer.from(Payload ?? []).toString('utf8')) as Answer & {
    errorMessage?: string;
  };
  if (FunctionError) throw new Error(result.errorMessage ?? FunctionError);
  return result;
}

async function provisionHere(request: Request): Promise<Answer> {
  const handler = await handlerLoader()('provision');
  if ('paused' in request) return handler(request);
  return 'issuer' in request ? handler(request) : handler(request);
}

try {
  const { request, deployed } = readRequest();
  const provisioned = deployed
    ? await provisionDeployed(deployed, request)
    : await withStack(settings(process.env), () => provisionHere(request));
  process.stdout.write(`${JSON.stringify(provisioned, null, 2)}\n`);
  process.exit(0);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n${usage}`);
  process.exit(1);
}
