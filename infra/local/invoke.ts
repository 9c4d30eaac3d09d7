import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { allRoutes } from '../../functions/routes.ts';
import { fieldsOf, recordOf, typedKeys } from '../../shared/base/values.ts';
import type { RunRequest } from '../../shared/bots/run/contract.ts';
import { matchRoute } from '../../shared/carry/http/routes.ts';
import { command, flag, text } from '../command.ts';
import { eventFunctions } from '../deployed-functions.ts';
import { cachedGuest } from '../guest/build.ts';
import type { DeployedFunction } from '../permissions.ts';
import { openAssembly } from './assembly/assembly.ts';
import { lambdaContext } from './context.ts';
import { callsTo, type Demo, demoToken } from './demo-projects.ts';
import { settings } from './environment.ts';
import { handlerLoader } from './functions.ts';
import { buildEvent } from './gateway/http-api.ts';
import { withStack } from './stack.ts';

/** Every function that is deployed. */
export type Invocable = DeployedFunction | 'invoker';

/**
 * A request as API Gateway hands it over.
 * @param line method and target, `GET /fhir/R4/Patient?_count=1`
 */
function httpEvent(
  line: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): APIGatewayProxyEventV2 {
  const [method = '', target = ''] = line.split(' ');
  const path = decodeURIComponent(target.split('?', 1)[0] ?? '');
  const matched = matchRoute(allRoutes, method, path);
  if (!matched) throw new Error(`No route for ${line}`);
  const request = {
    ...{ method, target, httpVersion: '1.1', sourceIp: '203.0.113.7', port: 443 },
    rawHeaders: Object.entries({ host: 'api.example.org', ...headers }).flat(),
    ...(body === '' ? {} : { body: Buffer.from(body) }),
  };
  const traceId = 'Root=1-00000000-000000000000000000000000';
  return buildEvent(request, path, matched, { requestId: randomUUID(), traceId, atMs: Date.now() });
}

type SampleGround = Awaited<ReturnType<typeof sampleGround>>;

/** Calls the schedule's consumers to sweep, and the tick. */
const scheduled = { source: 'aws.events', 'detail-type': 'Scheduled Event', detail: {} };
const noLines = gzipSync(JSON.stringify({ messageType: 'DATA_MESSAGE', logEvents: [] })).toString('base64');
const fedBySchedules = [...typedKeys(eventFunctions), 'tick', 'canary'] as const;
const json = { 'content-type': 'application/json' };

/** An event for each function that its handler takes as it is. */
export const sampleEvents: Readonly<Record<Invocable, (ground: SampleGround) => Promise<unknown>>> = {
  invite: async (ground) =>
    asClient(ground, `POST /admin/projects/${ground.project.id}/invite`, json, {
      ...{ resourceType: 'Practitioner', firstName: 'Alice', lastName: 'Smith' },
      email: `alice-${randomUUID().slice(0, 8)}@example.org`,
    }),
  members: async (ground) => asClient(ground, `GET /admin/projects/${ground.project.id}/members`),
  bots: async (ground) =>
    asClient(ground, `POST /admin/projects/${ground.project.id}/bot`, json, { name: 'Sample' }),
  resources: async (ground) => asClient(ground, 'GET /fhir/R4/Patient?_count=5'),
  subscriptions: async (ground) => asClient(ground, 'GET /fhir/R4/Subscription/none/$deliveries'),
  'execute-by-id': async (ground) => {
    const { id } = await ground.bot();
    return asClient(ground, `POST /fhir/R4/Bot/${id}/$execute`, { 'content-type': 'text/plain' }, 'hello');
  },
  'execute-by-identifier': async (ground) => {
    const { identifier } = await ground.bot();
    const line = `POST /fhir/R4/Bot/$execute?identifier=${encodeURIComponent(identifier)}`;
    return asClient(ground, line, { 'content-type': 'text/plain' }, 'hello');
  },
  token: async ({ project: { clientId, clientSecret } }) => {
    const client = { client_id: clientId, client_secret: clientSecret };
    const body = new URLSearchParams({ grant_type: 'client_credentials', ...client });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return httpEvent('POST /oauth2/token', headers, body.toString());
  },
  login: async () => httpEvent('GET /auth/clientinfo/medplum-cli'),
  account: async (ground) => asClient(ground, 'GET /auth/me'),
  'access-records': async () => ({ awslogs: { data: noLines } }),
  site: async () => httpEvent('GET /app'),
  // No job has this id: it is not begun, which the log says.
  jobs: async ({ project }) => ({ project: project.id, jobId: randomUUID() }),
  dispatch: async () => ({ Records: [] }),
  ...recordOf(fedBySchedules, () => async () => scheduled),
  provision: async () => ({
    name: 'Sample Clinic',
    admin: { email: `ada-${randomUUID().slice(0, 8)}@example.org`, firstName: 'Ada', lastName: 'Admin' },
  }),
  'stage-keys': async () => ({ ensure: true }),
  reindex: async () => ({ again: false }),
  invoker: async ({ project }) => runOf(project.id),
};

function asClient(
  { token }: Pick<SampleGround, 'token'>,
  line: string,
  headers: Readonly<Record<string, string>> = {},
  body: unknown = '',
) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return httpEvent(line, { authorization: `Bearer ${token}`, ...headers }, text);
}

/** One run as the execute functions hand it to the sandbox, without an API to call. */
function runOf(project: string): RunRequest {
  return {
    ...{ kind: 'run', runId: randomUUID(), project },
    code: {
      ...{ version: '0'.repeat(64), format: 'esm', filename: 'sample.mjs' },
      text: 'export async function handler(medplum, event) { return "Hello, " + event.input; }',
    },
    input: { kind: 'text', text: 'Alice' },
    event: {
      bot: { reference: 'Bot/sample', display: 'Sample' },
      requester: { reference: 'ClientApplication/sample' },
      ...{ contentType: 'text/plain', headers: {}, secrets: {}, traceId: randomUUID() },
    },
    limits: { timeoutMs: 10_000, memoryMb: 128, resultBytes: 4_194_304, logBytes: 262_144, calls: 100 },
    deadlineAtMs: Date.now() + 25_000,
  };
}

const identifier = { system: 'https://example.org/bots', value: 'sample' };
const code = 'export async function handler(medplum, event) { return { got: event.input }; }';

/** What samples are about: the first Project of the demo, which a stack serves, and a token of its client. */
export async function sampleGround({ baseUrl, projects: [project] }: Demo) {
  if (!project) throw new Error('The demo has no Project');
  const token = await demoToken(baseUrl, project);
  const call = callsTo(baseUrl);
  return {
    project,
    token,
    /** A Bot that is deployed; made when it is first asked for. */
    async bot(): Promise<{ id: string; identifier: string }> {
      const named = `${identifier.system}|${identifier.value}`;
      const search = `fhir/R4/Bot?identifier=${encodeURIComponent(named)}`;
      const { entry: [found] = [] } = (await call('GET', search, { token })).json as Bundle;
      if (found) return { id: found.resource.id, identifier: named };
      const body = { name: 'Sample', identifier: [identifier] };
      const { id } = (await call('POST', `admin/projects/${project.id}/bot`, { token, body })).json;
      await call('POST', `fhir/R4/Bot/${id}/$deploy`, { token, body: { code, filename: 'sample.mjs' } });
      return { id: String(id), identifier: named };
    },
  };
}

interface Bundle {
  entry?: { resource: { id: string } }[];
}

/**
 * `npm run invoke`: one handler on one event, here, on the data of the stack that runs or of one started for it.
 * Prints what the handler returned; ends with 1 when it threw, with 2 when it could not be asked.
 */
const usage = `npm run invoke -- <function> [<event.json>] [--from cdk.out]
npm run invoke -- <function> --sample
  <event.json>  what Lambda would hand over; without it a sample: a request of the first demo Project's client,
                a schedule's call for what queues feed, a run for the invoker
  --sample      prints the sample instead of invoking with it
  --from        runs the bundle that npm run synth has put into that folder, in the place of the source
  functions:    ${Object.keys(sampleEvents).join(' ')}
`;

type Handler = (event: unknown, context?: unknown) => Promise<unknown>;

const timeoutMs = 29_000;

/** The functions in this process, in the environment of the stack that `withStack` has found or started. */
async function functionsHere(from: string | undefined) {
  const told = ({ message }: Error) => void process.stderr.write(`${message}\n`);
  const assembly = from === undefined ? undefined : await openAssembly(resolve(from), told);
  assembly?.use(process.env as Record<string, string>);
  const load = assembly?.load ?? handlerLoader();
  const invoke = async (name: Invocable, event: unknown) => {
    if (name === 'invoker') process.env.PORTICO_GUEST_DIR ??= await cachedGuest();
    const handler = (await load(name as 'provision')) as Handler;
    // Lambda is told the tenant of the invoker by who invokes.
    const tenant = name === 'invoker' ? { tenantId: fieldsOf(event).project } : {};
    return handler(event, { ...lambdaContext(`portico-${name}`, timeoutMs), ...tenant });
  };
  return { invoke, stop: async () => assembly?.stop() };
}

const taken = { failed: 2, allowPositionals: true, options: { sample: flag, from: text } } as const;
if (import.meta.main)
  await command(usage, taken, async ({ values, positionals }) => {
    const [named = '', eventFile, ...others] = positionals;
    if (!(named in sampleEvents))
      throw new Error(named ? `There is no function ${named}` : 'Name a function');
    if (others.length > 0) throw new Error('One event at a time');
    const name = named as Invocable;
    const where = settings();
    const printed = await withStack(where, async () => {
      const functions = await functionsHere(values.from);
      try {
        const read = async (file: string) => JSON.parse(await readFile(file, 'utf8')) as unknown;
        const ground = async () => sampleGround((await read(join(where.dataDir, 'demo.json'))) as Demo);
        const event = eventFile ? await read(eventFile) : await sampleEvents[name](await ground());
        return values.sample ? event : await functions.invoke(name, event);
      } finally {
        await functions.stop();
      }
    }).catch((error: Error) => {
      process.stderr.write(`${error.stack}\n`);
      process.exit(1);
    });
    process.stdout.write(`${JSON.stringify(printed ?? null, null, 2)}\n`);
    process.exit(0);
  });
