import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bundleFunction } from '../../infra/bundle.ts';
import { type DeployedFunction, permissions } from '../../infra/permissions.ts';
import { type Bundles, deployedBundles } from './deployed-bundles.ts';
import { type HostedFunction, hostFunction } from './hosted-function.ts';
import { type RecordedTable, startRecordedTable } from './recorded-table.ts';

const functions = ['provision', 'token', 'invite', 'bots', 'execute-by-id', 'execute-by-identifier'] as const;
const baseUrl = 'https://api.example.org';

let bundles: Bundles;
let table: RecordedTable;
const hosted = new Map<string, HostedFunction>();
const seen = new Map<string, ReadonlySet<string>>();

beforeAll(async () => {
  bundles = await deployedBundles(functions);
  table = await startRecordedTable();
  const invoker = await hostFunction(folderOf('invoker'), {});
  hosted.set('invoker', invoker);
  for (const name of functions) {
    const { endpoint, actions } = await table.watch();
    seen.set(name, actions);
    hosted.set(name, await hostFunction(folderOf(name), environment(name, endpoint, invoker.endpoint)));
  }
}, 180_000);

afterAll(async () => {
  await Promise.all([...hosted.values()].map((one) => one.stop()));
  await table?.stop();
  await bundles?.remove();
});

describe('the bundles', () => {
  it('lie where no node_modules can help them', () => {
    for (let folder = folderOf('invite'); folder !== tmpdir(); folder = dirname(folder)) {
      expect(existsSync(join(folder, 'node_modules'))).toBe(false);
    }
  });

  it.each(['invite', 'execute-by-id', 'execute-by-identifier'])('%s is under 900 kB', (name) => {
    expect(Object.values(contentsOf(folderOf(name))).join('').length).toBeLessThan(900_000);
  });

  it('hold nothing but code', () => {
    for (const name of functions) {
      const others = Object.keys(contentsOf(folderOf(name))).filter((file) => !file.endsWith('.mjs'));
      expect(others).toEqual([]);
    }
  });

  it('are the same bytes wherever they are made', () => {
    bundleFunction('invite', folderOf('again/invite'), folderOf('maps'));
    const [first, second] = ['invite', 'again/invite'].map((name) => contentsOf(folderOf(name)));
    expect(second).toEqual(first);
  });

  it('the invoker has neither an AWS client nor anything but the sandbox inside', () => {
    const { inputs } = bundleFunction('invoker', folderOf('again'), folderOf('maps'));
    const sandbox = /^(functions\/invoker|shared\/(sandbox|bot|hl7))\//;
    expect(Object.keys(inputs).filter((input) => !sandbox.test(input))).toEqual([]);
  });
});

describe('the main job, by the bundles alone', () => {
  let project: string;
  let authorization: string;
  let botId: string;
  const identifier = { system: 'https://example.org/bots', value: 'echo' };

  it('provisions a Project with a client', async () => {
    const admin = {
      email: 'ada@example.org',
      firstName: 'Ada',
      lastName: 'Admin',
      password: 'correct horse battery',
    };
    const made = (await host('provision').invoke({ name: 'Clinic', admin, client: true })) as Provisioned;
    project = made.project.id;
    const credentials = Buffer.from(`${made.client.id}:${made.client.secret}`).toString('base64');
    const answer = await host('token').request(
      'POST /oauth2/token',
      { authorization: `Basic ${credentials}`, 'content-type': 'application/x-www-form-urlencoded' },
      'grant_type=client_credentials',
    );
    expect(answer.statusCode).toBe(200);
    authorization = `Bearer ${JSON.parse(answer.body ?? '').access_token}`;
  });

  it('invites a person', async () => {
    const body = { resourceType: 'Patient', firstName: 'Pat', lastName: 'Ient', email: 'pat@example.org' };
    const answer = await sendJson('invite', `POST /admin/projects/${project}/invite`, body);
    expect(answer.statusCode).toBe(200);
    expect(JSON.parse(answer.body ?? '')).toMatchObject({ resourceType: 'ProjectMembership', active: false });
  });

  it('refuses an invite without a token', async () => {
    const line = `POST /admin/projects/${project}/invite` as const;
    const answer = await host('invite').request(line, { 'content-type': 'application/json' }, '{}');
    expect(answer.statusCode).toBe(401);
  });

  it('creates and deploys a Bot', async () => {
    const bot = { name: 'Echo', identifier: [identifier] };
    const created = await sendJson('bots', `POST /admin/projects/${project}/bot`, bot);
    expect(created.statusCode).toBe(201);
    botId = JSON.parse(created.body ?? '').id;
    const code = 'export async function handler(medplum, event) { return { got: event.input }; }';
    const deployed = await sendJson('bots', `POST /fhir/R4/Bot/${botId}/$deploy`, {
      code,
      filename: 'index.js',
    });
    expect({ status: deployed.statusCode, body: deployed.body }).toMatchObject({ status: 200 });
  });

  it('executes it by id and by identifier', async () => {
    const byIdentifier = `${identifier.system}|${identifier.value}`;
    for (const [name, line] of [
      ['execute-by-id', `POST /fhir/R4/Bot/${botId}/$execute`],
      ['execute-by-identifier', `POST /fhir/R4/Bot/$execute?identifier=${byIdentifier}`],
    ] as const) {
      const answer = await host(name).request(line, { authorization, 'content-type': 'text/plain' }, 'hello');
      expect({ status: answer.statusCode, body: answer.body }).toEqual({
        status: 200,
        body: '{"got":"hello"}',
      });
    }
  });

  it.each(functions)('%s has asked the table for nothing that its role does not allow', (name) => {
    const allowed: readonly string[] = permissions[name].table;
    const asked = [...(seen.get(name) ?? [])];
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((action) => !allowed.includes(action))).toEqual([]);
  });

  function sendJson(name: string, line: `${string} ${string}`, body: object) {
    return host(name).request(
      line,
      { authorization, 'content-type': 'application/json' },
      JSON.stringify(body),
    );
  }
});

interface Provisioned {
  project: { id: string };
  client: { id: string; secret: string };
}

/** Where a bundle lies, or a further folder beside them all. */
function folderOf(name: string): string {
  return join(bundles.root, name);
}

/** The files below a folder, by name. */
function contentsOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const paths = files.map((file) => join(file.parentPath, file.name));
  return Object.fromEntries(paths.map((path) => [relative(folder, path), readFileSync(path, 'latin1')]));
}

function host(name: string): HostedFunction {
  const found = hosted.get(name);
  if (!found) throw new Error(`${name} is not hosted`);
  return found;
}

/** What grants.ts gives the function on AWS, with the engines of this machine behind it. */
function environment(name: DeployedFunction, dynamoDb: string, lambda: string): Record<string, string> {
  const { signs, stageSecret, runsBots } = permissions[name];
  return {
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    TABLE_NAME: table.tableName,
    BASE_URL: baseUrl,
    DYNAMODB_ENDPOINT: dynamoDb,
    ...(signs || stageSecret ? { KEYS: `file:${folderOf('keys.json')}` } : {}),
    ...(runsBots ? { INVOKER_FUNCTION: 'invoker', LAMBDA_ENDPOINT: lambda } : {}),
  };
}
