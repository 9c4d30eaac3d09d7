import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { allRoutes, type Route, type routes } from '../../functions/routes.ts';
import { routeKey } from '../../shared/http/row.ts';
import { newPerson, type TestPerson, tokenOf } from './people.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';
import { botThat, createBot, createClient, execute } from './running.ts';
import { newAddress, password, pkce } from './signing-in.ts';
import { newSubscription } from './subscribing.ts';

/** What calls each route rightly, and what it is answered then. */
interface Example {
  /** Values of the path's parameters; the Project is the first one when left out. */
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  headers?: Record<string, string>;
  /** Who calls a route that is not public; an administrator when left out. */
  as?: 'person' | 'another person';
  status: number;
}

type Examples = {
  [Name in keyof typeof routes]: { [Route in keyof (typeof routes)[Name]]: () => Example | Promise<Example> };
};

let portico: Portico;
let person: TestPerson;
let bot: string;
// biome-ignore lint/suspicious/noExplicitAny: the document as JSON
let api: any;
const ajv = new Ajv2020({ strict: false, validateFormats: false });
const tokens = { administrator: '', person: '', member: '', ended: '', elsewhere: '' };
const identifier = { system: 'https://example.org/bots', value: 'every-route' };

beforeAll(async () => {
  portico = await startPortico();
  person = await newPerson(portico);
  bot = await botThat(portico, 'return event.input', { identifier: [identifier] });
  tokens.administrator = await portico.token();
  api = (await portico.api('GET', 'openapi.json', { token: null })).json;
  ajv.addSchema({ $id: 'api', components: api.components });
  tokens.elsewhere = await portico.token(portico.projects[1]);
  tokens.person = await tokenOf(portico, person);
  tokens.member = (await createClient(portico)).token;
  const leaving = await createClient(portico);
  tokens.ended = leaving.token;
  expect((await portico.api('DELETE', `fhir/R4/ClientApplication/${leaving.id}`)).status).toBe(200);
}, 120_000);
afterAll(() => portico.stop());

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const fhir = { 'content-type': 'application/fhir+json' };
const noLink = { id: 'a.b', secret: 'c' };
const patient = { resourceType: 'Patient', gender: 'other' };
const clientOf = () => portico.projects[0] as Portico['projects'][number];
const credentials = () => ({
  client_id: clientOf().clientId,
  client_secret: clientOf().clientSecret,
});
const loginNobodyKnows = { login: '11111111-2222-4333-8444-555555555555' };
const inviteBody = () => ({
  resourceType: 'Practitioner',
  firstName: 'Ann',
  lastName: 'Lee',
  email: newAddress(),
  sendEmail: false,
});

async function pending(): Promise<string> {
  const path = `admin/projects/${clientOf().id}/invite`;
  return (await portico.api('POST', path, { body: inviteBody() })).json.id;
}

async function stored(): Promise<{ resourceType: string; id: string }> {
  const { json } = await portico.api('POST', 'fhir/R4/Patient', { body: patient, headers: fhir });
  return { resourceType: 'Patient', id: json.id };
}

async function subscription(): Promise<string> {
  const body = newSubscription('https://hooks.example.org/', 'Patient', { status: 'off' });
  return (await portico.api('POST', 'fhir/R4/Subscription', { body, headers: fhir })).json.id;
}

async function job(): Promise<string> {
  const answer = await execute(portico, bot, 'x', 'text/plain', { headers: { prefer: 'respond-async' } });
  return answer.headers.get('content-location')?.split('/').at(-2) ?? '';
}

async function issuer(): Promise<string> {
  const path = `admin/projects/${clientOf().id}/issuers`;
  const { json } = await portico.api('GET', path);
  return json.issuers[0]?.id ?? 'none';
}

const secret = { name: 'API_KEY', valueString: 'correct horse' };

const examples: Examples = {
  token: {
    token: () => ({
      body: `${new URLSearchParams({ grant_type: 'client_credentials', ...credentials() })}`,
      headers: form,
      status: 200,
    }),
    introspect: () => ({
      body: `${new URLSearchParams({ token: tokens.member, ...credentials() })}`,
      headers: form,
      status: 200,
    }),
    revoke: () => ({
      body: `${new URLSearchParams({ token: 'unknown', ...credentials() })}`,
      headers: form,
      status: 200,
    }),
    endSession: () => ({ status: 302 }),
    endSessionByPost: () => ({ body: 'state=x', headers: form, status: 302 }),
    jwks: () => ({ status: 200 }),
    openidConfiguration: () => ({ status: 200 }),
    authorizationServer: () => ({ status: 200 }),
    smartConfiguration: () => ({ status: 200 }),
    fhirSmartConfiguration: () => ({ status: 200 }),
  },
  login: {
    userInfo: () => ({ as: 'person', status: 200 }),
    userInfoByPost: () => ({ as: 'person', status: 200 }),
    authorize: () => ({
      query: {
        client_id: 'medplum-cli',
        redirect_uri: 'http://localhost:9615',
        response_type: 'code',
        scope: 'openid',
      },
      status: 302,
    }),
    me: () => ({ status: 200 }),
    login: () => ({ body: { email: person.email, password, clientId: '', ...pkce }, status: 200 }),
    method: () => ({ body: { email: newAddress() }, status: 200 }),
    clientInfo: () => ({ params: { clientId: clientOf().clientId }, status: 200 }),
    // A program has one Project only.
    switchProject: () => ({ body: { codeChallenge: 'x'.repeat(43) }, status: 403 }),
    chooseProfile: () => ({ body: { ...loginNobodyKnows, profile: person.membershipId }, status: 400 }),
    takeEmergency: () => ({ as: 'person', body: { reason: 'Unconscious in the corridor' }, status: 403 }),
    endOwnEmergency: () => ({ as: 'person', status: 200 }),
    signOut: () => ({ as: 'another person', status: 200 }),
    revokeLogin: () => ({ as: 'person', body: { loginId: loginNobodyKnows.login }, status: 404 }),
    mfaStatus: () => ({ as: 'person', status: 200 }),
    enrollMfa: () => ({ as: 'person', body: { token: '000000' }, status: 400 }),
    disableMfa: () => ({ as: 'person', body: { token: '000000' }, status: 400 }),
    renewRecoveryCodes: () => ({ as: 'person', body: { token: '000000' }, status: 400 }),
    verifyMfa: () => ({ body: { ...loginNobodyKnows, token: '000000' }, status: 400 }),
    enrollMfaInLogin: () => ({ body: { ...loginNobodyKnows, token: '000000' }, status: 400 }),
    changePassword: () => ({
      as: 'another person',
      body: { oldPassword: password, newPassword: `${password} again` },
      status: 200,
    }),
    resetPassword: () => ({ body: { email: newAddress() }, status: 200 }),
    invitation: () => ({ body: noLink, status: 400 }),
    setPassword: () => ({ body: { ...noLink, password }, status: 400 }),
    startExternal: () => ({ query: { issuer: 'https://login.example.org' }, status: 400 }),
    acceptExternal: () => ({
      body: { ...noLink, redirectUri: '/app', codeChallenge: pkce.codeChallenge },
      status: 400,
    }),
    finishExternal: () => ({ params: { issuerId: 'none' }, status: 400 }),
    verifyEmail: () => ({ body: noLink, status: 400 }),
  },
  members: {
    project: () => ({ status: 200 }),
    member: () => ({ params: { membershipId: person.membershipId }, status: 200 }),
    changeProject: () => ({ body: {}, status: 200 }),
    members: () => ({ query: { _count: '2' }, status: 200 }),
    changeMember: () => ({ params: { membershipId: person.membershipId }, body: {}, status: 200 }),
    removeMember: async () => ({ params: { membershipId: await pending() }, status: 200 }),
    resendInvitation: async () => ({ params: { membershipId: await pending() }, status: 200 }),
    revokeInvitation: async () => ({ params: { membershipId: await pending() }, status: 200 }),
    endEmergency: () => ({ params: { membershipId: person.membershipId }, status: 200 }),
    setMemberPassword: () => ({ body: { email: newAddress(), password }, status: 404 }),
    setPasswordInOwnProject: () => ({ body: { email: newAddress(), password }, status: 404 }),
    createClient: () => ({ body: { name: 'Reader' }, status: 201 }),
    client: async () => ({ params: { clientId: (await createClient(portico)).id }, status: 200 }),
    changeClient: async () => ({
      params: { clientId: (await createClient(portico)).id },
      body: { expires: null },
      status: 200,
    }),
    rotateSecret: async () => ({ params: { clientId: (await createClient(portico)).id }, status: 200 }),
    issuers: () => ({ status: 200 }),
    // Nobody answers there: the port is the one of TCP's discard service.
    addIssuer: () => ({ body: { issuer: 'http://127.0.0.1:9', clientId: 'portico' }, status: 400 }),
    testIssuer: () => ({ params: { issuerId: 'none' }, status: 404 }),
    removeIssuer: async () => ({ params: { issuerId: await issuer() }, status: 404 }),
  },
  invite: {
    invite: () => ({ body: inviteBody(), status: 200 }),
    inviteMany: () => ({ body: [inviteBody()], status: 200 }),
  },
  bots: {
    createBot: () => ({ body: { name: 'Made' }, status: 201 }),
    failures: () => ({ status: 200 }),
    fetchHosts: () => ({ status: 200 }),
    changeFetchHosts: () => ({ body: { allow: ['example.org'] }, status: 200 }),
    projectSecrets: () => ({ status: 200 }),
    changeProjectSecrets: () => ({ body: [secret], status: 200 }),
    botSecrets: () => ({ params: { botId: bot }, status: 200 }),
    changeBotSecrets: () => ({ params: { botId: bot }, body: [secret], status: 200 }),
    deployBot: async () => ({
      params: { id: await createBot(portico) },
      body: { code: 'exports.handler = () => 1;' },
      status: 200,
    }),
    rollBackBot: async () => {
      const { json } = await portico.api('GET', `fhir/R4/Bot/${bot}/$versions`);
      const version = json.parameter[0].part[0].valueString;
      return { params: { id: bot }, body: { version }, status: 200 };
    },
    botLogs: () => ({ params: { id: bot }, status: 200 }),
    botVersions: () => ({ params: { id: bot }, status: 200 }),
    botCode: () => ({ params: { id: bot }, status: 200 }),
    botFigures: () => ({ params: { id: bot }, status: 200 }),
  },
  subscriptions: {
    deliveries: async () => ({ params: { id: await subscription() }, status: 200 }),
    redeliver: async () => ({
      params: { id: await subscription() },
      body: { delivery: '0'.repeat(40) },
      status: 404,
    }),
    resend: async () => ({ params: await stored(), status: 200 }),
  },
  'execute-by-id': {
    executeById: () => ({
      params: { id: bot },
      body: 'hello',
      headers: { 'content-type': 'text/plain' },
      status: 200,
    }),
  },
  'execute-by-identifier': {
    executeByIdentifier: () => ({
      query: { identifier: `${identifier.system}|${identifier.value}` },
      body: 'hello',
      headers: { 'content-type': 'text/plain' },
      status: 200,
    }),
  },
  resources: {
    export: () => ({ query: { _type: 'Patient' }, headers: { prefer: 'respond-async' }, status: 202 }),
    exportByPost: () => ({ status: 400 }),
    exportStatus: () => ({ params: { id: loginNobodyKnows.login }, status: 404 }),
    cancelExport: () => ({ params: { id: loginNobodyKnows.login }, status: 404 }),
    exportFile: () => ({ params: { id: loginNobodyKnows.login, file: 'Patient-1.ndjson' }, status: 404 }),
    jobStatus: async () => ({ params: { id: await job() }, status: 202 }),
    cancelJob: () => ({ params: { id: loginNobodyKnows.login }, status: 404 }),
    runStatus: () => ({ params: { id: loginNobodyKnows.login }, status: 404 }),
    cancelRun: () => ({ params: { id: loginNobodyKnows.login }, status: 202 }),
    metadata: () => ({ status: 200 }),
    bundle: () => ({
      body: { resourceType: 'Bundle', type: 'batch', entry: [] },
      headers: fhir,
      status: 200,
    }),
    search: () => ({ params: { resourceType: 'Patient' }, query: { _count: '1' }, status: 200 }),
    searchByPost: () => ({
      params: { resourceType: 'Patient' },
      body: '_count=1',
      headers: form,
      status: 200,
    }),
    create: () => ({ params: { resourceType: 'Patient' }, body: patient, headers: fhir, status: 201 }),
    conditionalUpdate: () => ({
      params: { resourceType: 'Patient' },
      query: { identifier: 'urn:every|1' },
      body: { ...patient, identifier: [{ system: 'urn:every', value: '1' }] },
      headers: fhir,
      status: 201,
    }),
    conditionalPatch: () => ({
      params: { resourceType: 'Patient' },
      query: { identifier: 'urn:every|none' },
      body: [{ op: 'add', path: '/active', value: true }],
      headers: { 'content-type': 'application/json-patch+json' },
      status: 404,
    }),
    conditionalDelete: () => ({
      params: { resourceType: 'Patient' },
      query: { identifier: 'urn:every|none' },
      status: 200,
    }),
    read: async () => ({ params: await stored(), status: 200 }),
    readVersion: async () => ({ params: { ...(await stored()), versionId: 'none' }, status: 404 }),
    update: async () => {
      const at = await stored();
      return { params: at, body: { ...patient, ...at }, headers: fhir, status: 200 };
    },
    patch: async () => ({
      params: await stored(),
      body: [{ op: 'add', path: '/active', value: true, from: '/ignored' }],
      headers: { 'content-type': 'application/json-patch+json' },
      status: 200,
    }),
    delete: async () => ({ params: await stored(), status: 200 }),
    history: async () => ({ params: await stored(), status: 200 }),
    typeHistory: () => ({ params: { resourceType: 'Patient' }, status: 200 }),
    everything: async () => ({ params: await stored(), status: 200 }),
    everythingByPost: async () => ({ params: await stored(), status: 200 }),
    explain: () => ({ params: { id: person.membershipId }, body: { search: 'Patient' }, status: 200 }),
    validate: () => ({ params: { resourceType: 'Patient' }, body: patient, headers: fhir, status: 200 }),
    validateNext: async () => ({ params: await stored(), body: patient, headers: fhir, status: 200 }),
    systemHistory: () => ({ query: { _count: '1' }, status: 200 }),
    searchTypes: () => ({ query: { _type: 'Patient,Basic', _count: '1' }, status: 200 }),
    searchTypesByPost: () => ({ body: '_type=Patient&_count=1', headers: form, status: 200 }),
    searchCompartment: async () => ({ params: { ...(await stored()), resourceType: 'Basic' }, status: 200 }),
    searchCompartmentByPost: async () => ({
      params: { ...(await stored()), resourceType: 'Basic' },
      body: '_count=1',
      headers: form,
      status: 200,
    }),
    unknown: () => ({ status: 404 }),
  },
  site: {
    root: () => ({ status: 302 }),
    app: () => ({ status: 200 }),
    appFile: () => ({ params: { path: 'none.js' }, status: 404 }),
    openapi: () => ({ status: 200 }),
  },
};

const named = allRoutes.map((route) => ({ ...route, key: routeKey(route) }));

function exampleOf({ function: name, name: route }: Route): Example | Promise<Example> {
  const ofFunction: Record<string, () => Example | Promise<Example>> = examples[name];
  return ofFunction[route]?.() ?? { status: 0 };
}

/** Sends the example of a route by the route's own method and path. */
function send(route: Route, example: Example, token: string | null): Promise<Answer> {
  const { params = {}, query, body, headers } = example;
  const all: Record<string, string> = { projectId: clientOf().id, ...params };
  const path =
    route.path === '$default'
      ? 'no/such/route'
      : route.path.replace(/^\//, '').replaceAll(/\{(\w+)\+?\}/g, (_, name: string) => {
          if (all[name] === undefined) throw new Error(`No example of ${name}`);
          return encodeURIComponent(all[name]);
        });
  const method = route.method === 'ANY' ? 'GET' : route.method;
  return portico.api(method, query ? `${path}?${new URLSearchParams(query)}` : path, {
    token,
    ...(body === undefined ? {} : { body }),
    ...(headers ? { headers } : {}),
  });
}

/** No text can be made of the first; the last is longer than a key of the table. */
const oddValues = [{ toString: 1 }, [[]], 'x'.repeat(3000)];

/** What was sent with each of its values replaced by odd ones. */
function oddBodies(sent: unknown): unknown[] {
  if (typeof sent !== 'object' || sent === null) return oddValues;
  if (Array.isArray(sent)) return sent.flatMap((one, at) => oddBodies(one).map((odd) => sent.with(at, odd)));
  const fields = Object.entries(sent).filter(([name]) => name !== 'resourceType' && name !== 'sendEmail');
  return fields.flatMap(([name, value]) => oddBodies(value).map((odd) => ({ ...sent, [name]: odd })));
}

/** Some routes end the login that they are called with. */
async function tokenFor({ as }: Example): Promise<string> {
  if (as === 'another person') return tokenOf(portico, await newPerson(portico));
  return as === 'person' ? tokens.person : tokens.administrator;
}

const isJson = ({ body }: Example) => typeof body === 'object';

describe('every route', () => {
  const guarded = named.filter(({ access }) => access !== 'public');

  test.each(guarded)('$key refuses a call without a token, and one whose login has ended', async (route) => {
    const example = await exampleOf(route);
    for (const token of [null, tokens.ended]) {
      const answer = await send(route, example, token);
      expect([answer.status, answer.json.id]).toEqual([401, 'unauthorized']);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  const administrators = named.filter(({ access }) => access === 'administrator');

  test.each(administrators)('$key refuses a member who is no administrator', async (route) => {
    const answer = await send(route, await exampleOf(route), tokens.member);
    expect([answer.status, answer.json.id]).toEqual([403, 'forbidden']);
  });

  const inProject = named.filter(({ path }) => path.includes('{projectId}'));

  test.each(inProject)(
    '$key refuses the administrator of another Project, whether or not there is this one',
    async (route) => {
      const { params, ...example } = await exampleOf(route);
      const there = await send(route, { ...example, params: params ?? {} }, tokens.elsewhere);
      const nowhere = { ...example, params: { ...params, projectId: loginNobodyKnows.login } };
      expect([there.status, there.json.id]).toEqual([403, 'forbidden']);
      const other = await send(route, nowhere, tokens.elsewhere);
      expect([other.status, other.text]).toEqual([there.status, there.text]);
    },
  );

  test.each(named)('$key takes no JSON deeper than 128 levels, if it takes any', async (route) => {
    const { body, ...example } = await exampleOf(route);
    if (!isJson({ body, ...example })) return;
    const headers = { 'content-type': 'application/json', ...example.headers };
    const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    const token = route.access === 'public' ? null : tokens.administrator;
    const refused = await send(route, { ...example, headers, body: deep(129) }, token);
    expect([refused.status, refused.json.issue[0].details.text]).toEqual([
      400,
      'JSON deeper than 128 levels',
    ]);
    expect((await send(route, { ...example, headers, body: deep(128) }, token)).text).not.toContain('deeper');
  });

  test.each(named)('$key takes every JSON value for a mistake of the caller at worst', async (route) => {
    const { body, ...example } = await exampleOf(route);
    const token = route.access === 'public' ? null : tokens.administrator;
    const bodies = isJson({ body, ...example }) ? oddBodies(body) : [];
    const answers = await Promise.all(bodies.map((odd) => send(route, { ...example, body: odd }, token)));
    const faults = answers.flatMap(({ status }, i) => (status < 500 ? [] : [[status, bodies[i]]]));
    expect(faults).toEqual([]);
  });

  test.each(named)('$key is 400 for who means to act as somebody else', async (route) => {
    const example = await exampleOf(route);
    const headers = { ...example.headers, 'x-medplum-on-behalf-of': person.profile };
    const token = route.access === 'public' ? null : tokens.administrator;
    const answer = await send(route, { ...example, headers }, token);
    expect([answer.status, answer.json.issue[0].details.text]).toEqual([
      400,
      'X-Medplum-On-Behalf-Of is not supported',
    ]);
  });

  test.each(named)('$key answers who may call it', async (route) => {
    const example = await exampleOf(route);
    const token = await tokenFor(example);
    const answer = await send(route, example, route.access === 'public' ? null : token);
    expect([answer.status, answer.text]).toEqual([example.status, answer.text]);
    if (route.path !== '$default') expect(undescribed(route, example, answer)).toEqual([]);
  });
});

/** What of a call is not as `/openapi.json` says. */
function undescribed({ path, method }: Route, example: Example, answer: Answer): string[] {
  const {
    parameters = [],
    requestBody,
    responses,
  } = api.paths[path.replace('+}', '}')][method.toLowerCase()];
  const named = new Set(parameters.map(({ name }: { name: string }) => name));
  const isOpen = named.has('<parameter>');
  const query = Object.keys(example.query ?? {}).filter((name) => !named.has(name) && !isOpen);
  const type = (value: string | null | undefined) => value?.split(';')[0] ?? '';
  const sentType = type(example.headers?.['content-type']) || 'application/json';
  const sent = example.body === undefined ? undefined : requestBody?.content[sentType];
  const fits = (schema: object, value: unknown) => {
    const isFit = ajv.validate(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')), value);
    return isFit ? [] : [ajv.errorsText()];
  };
  const response = responses[answer.status];
  const content = response?.content?.[type(answer.headers.get('content-type'))];
  return [
    ...query.map((name) => `parameter ${name}`),
    ...(example.body !== undefined && !sent ? [`body of ${sentType}`] : []),
    ...(sent && isJson(example) ? fits(sent.schema, example.body) : []),
    ...(response ? [] : [`status ${answer.status}`]),
    ...(content?.schema && answer.json ? fits(content.schema, answer.json) : []),
    ...(response?.content && !content ? [`answer of ${answer.headers.get('content-type')}`] : []),
  ];
}
