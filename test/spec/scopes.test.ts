import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { administrativeTypes } from '../../shared/base/resource.ts';
import { newPerson, signIn, tokenOf } from './people.ts';
import { type Answer, type Call, type Portico, startPortico } from './portico.ts';
import { botThat, createClient, projectOf } from './running.ts';
import { signingIn } from './signing-in.ts';
import { until } from './subscribing.ts';

let portico: Portico;

beforeAll(async () => {
  portico = await startPortico();
});
afterAll(() => portico.stop());

const fhir = (method: string, path: string, call: Call = {}): Promise<Answer> =>
  portico.api(method, `fhir/R4/${path}`, {
    ...call,
    headers: call.body === undefined ? {} : { 'content-type': 'application/fhir+json' },
  });

async function created(body: { resourceType: string } & Record<string, unknown>): Promise<string> {
  const answer = await fhir('POST', body.resourceType, { body });
  expect(answer.status).toBe(201);
  return answer.json.id;
}

const observation = (patient: string, code = 'x') => ({
  resourceType: 'Observation',
  status: 'final',
  code: { text: 'x' },
  category: [{ coding: [{ system: 'urn:category', code }] }],
  subject: { reference: patient },
});

const credentials = (client: { id: string; secret: string }, scope: string) =>
  signingIn(portico).ask({
    grant_type: 'client_credentials',
    client_id: client.id,
    client_secret: client.secret,
    scope,
  });

describe('a scope', () => {
  test.each([
    'system/Observation.rs',
    'system/*.cruds openid fhirUser profile email offline_access launch/patient',
    'system/Observation.rs?category=urn:category%7Claboratory',
    'system/Patient.read system/Patient.write system/Patient.*',
  ])('%s is known at the token endpoint', async (scope) => {
    const client = await createClient(portico);
    const answer = await credentials(client, scope);
    // A program has no patient to be told of.
    expect([answer.status, answer.json.scope]).toEqual([200, scope.replace(' launch/patient', '')]);
  });

  test.each([
    'nonsense',
    'system/Potato.rs',
    'system/Observation.sr',
    'system/Observation.rs?shoe-size=44',
    'system/Observation.rs?category=',
    'system/Observation.rs?_count=1',
    'system/*.rs?category=x',
    'user/Observation.rs',
    'patient/Observation.rs',
  ])('%s is refused to a program', async (scope) => {
    const client = await createClient(portico);
    const answer = await credentials(client, scope);
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_scope']);
  });

  test('of a program is refused to a person, an unknown one at the authorization endpoint', async () => {
    const person = await newPerson(portico);
    expect((await signIn(portico, person, { scope: 'system/*.rs' })).status).toBe(400);
    expect((await signIn(portico, person, { scope: 'user/Potato.rs' })).status).toBe(400);
    expect((await signIn(portico, person, { scope: 'user/*.rs launch/patient' })).status).toBe(200);
  });
});

describe('a login with scopes for resources', () => {
  test('may do what the policy and the scopes allow', async () => {
    const patient = `Patient/${await created({ resourceType: 'Patient' })}`;
    const labs = await created(observation(patient, 'laboratory'));
    const other = await created(observation(patient, 'vital'));
    const client = await createClient(portico);
    const token = (await credentials(client, 'system/Observation.ru?category=laboratory system/Patient.c'))
      .json.access_token;
    const status = async (method: string, path: string, body?: unknown) =>
      (await fhir(method, path, { token, ...(body ? { body } : {}) })).status;
    expect(await status('GET', `Observation/${labs}`)).toBe(200);
    expect(await status('GET', `Observation/${other}`)).toBe(403);
    expect(await status('GET', 'Observation')).toBe(403);
    expect(await status('GET', patient)).toBe(403);
    expect(await status('POST', 'Patient', { resourceType: 'Patient' })).toBe(201);
    const put = (code: string) =>
      status('PUT', `Observation/${labs}`, { ...observation(patient, code), id: labs });
    expect(await put('laboratory')).toBe(200);
    expect(await put('vital')).toBe(403);
    expect(await status('DELETE', `Observation/${labs}`)).toBe(403);
  });

  test('has no more than the policy, whatever it asked for', async () => {
    const client = await createClient(portico);
    const token = (await credentials(client, 'system/*.cruds')).json.access_token;
    for (const path of ['AccessPolicy', 'AuditEvent', 'ProjectMembership', 'User', 'Bot']) {
      expect([path, (await fhir('GET', path, { token })).status]).toEqual([path, 403]);
    }
    expect((await fhir('GET', 'Patient', { token })).status).toBe(200);
  });

  test('executes a Bot only with u on it', async () => {
    const bot = await botThat(portico, 'return "ran";');
    const client = await createClient(portico);
    const run = async (scope: string) => {
      const token = (await credentials(client, scope)).json.access_token;
      return (await portico.api('POST', `fhir/R4/Bot/${bot}/$execute`, { token, body: {} })).status;
    };
    expect(await run('system/Bot.rs')).toBe(403);
    expect(await run('system/Patient.cruds')).toBe(403);
    expect(await run('system/Bot.u')).toBe(200);
    expect(await run('openid')).toBe(200);
  });

  test('administers nothing', async () => {
    const { id, clientId, clientSecret } = projectOf(portico, 0);
    const answer = await credentials({ id: clientId, secret: clientSecret }, 'system/*.cruds');
    const token = answer.json.access_token;
    for (const [method, path] of [
      ['GET', `admin/projects/${id}`],
      ['GET', `admin/projects/${id}/members`],
      ['POST', `admin/projects/${id}/invite`],
      ['POST', `admin/projects/${id}/client`],
      ['POST', `admin/projects/${id}/bot`],
    ] as const) {
      const { status } = await portico.api(method, path, {
        token,
        ...(method === 'POST' ? { body: {} } : {}),
      });
      expect([path, status]).toEqual([path, 403]);
    }
  });

  test('for every type is for none of administrators’ own records, unless it names them', async () => {
    const { clientId, clientSecret } = projectOf(portico, 0);
    const bot = await botThat(portico, 'return "ran";');
    const scoped = async (scope: string) =>
      (await credentials({ id: clientId, secret: clientSecret }, scope)).json.access_token;
    const own = [...administrativeTypes, 'Subscription'].filter((type) => type !== 'User');
    const every = await scoped('system/*.rs');
    const named = await scoped(own.map((type) => `system/${type}.rs`).join(' '));
    for (const type of own) {
      const status = async (token: string, path: string) => (await fhir('GET', path, { token })).status;
      for (const path of [type, `${type}/_history`]) {
        expect([path, await status(every, path)]).toEqual([path, 403]);
        expect([path, await status(named, path)]).toEqual([path, 200]);
      }
    }
    expect((await fhir('GET', `Bot/${bot}`, { token: every })).status).toBe(403);
    const types = await fhir('GET', '?_type=Patient,AccessPolicy', { token: every });
    expect(types.text).not.toContain('"AccessPolicy"');
    const begin = { token: every, headers: { prefer: 'respond-async' } };
    const asked = await portico.api('GET', 'fhir/R4/$export', begin);
    expect(asked.status).toBe(202);
    const at = String(asked.headers.get('content-location')).replace(`${portico.baseUrl}/`, '');
    const job = await until(async () => {
      const answer = await portico.api('GET', at, { token: every });
      return answer.status === 200 ? answer.json : undefined;
    }, 'the export ends');
    const exported = job.output.map(({ type }: { type: string }) => type);
    expect(exported.filter((type: string) => own.includes(type))).toEqual([]);
    // Which Bots may be run says the policy.
    const run = { token: await scoped('system/*.cruds'), body: {} };
    expect((await portico.api('POST', `fhir/R4/Bot/${bot}/$execute`, run)).status).toBe(200);
    const person = await newPerson(portico, { admin: true });
    const token = await tokenOf(portico, person, { scope: 'openid user/*.rs' });
    for (const type of own) expect((await fhir('GET', type, { token })).status).toBe(403);
  });

  test('makes itself no way to administer: no client’s keys, no policy, no Bot', async () => {
    const { clientId, clientSecret } = projectOf(portico, 0);
    const own = ['ClientApplication', 'AccessPolicy', 'Bot', 'AuditEvent'];
    const scopes = ['*', ...own].map((type) => `system/${type}.cruds`).join(' ');
    const token = (await credentials({ id: clientId, secret: clientSecret }, scopes)).json.access_token;
    const policy = await created({ resourceType: 'AccessPolicy', name: 'Of scopes' });
    const bot = await botThat(portico, 'return "ran";');
    const path = `ClientApplication/${clientId}`;
    const client = (await fhir('GET', path, { token })).json;
    const taken = { ...client, jwksUri: 'https://attacker.example/jwks' };
    for (const [method, where, body] of [
      ['PUT', path, taken],
      ['DELETE', path, undefined],
      ['POST', 'AccessPolicy', { resourceType: 'AccessPolicy' }],
      ['DELETE', `AccessPolicy/${policy}`, undefined],
      ['DELETE', `Bot/${bot}`, undefined],
    ] as const) {
      const answer = await fhir(method, where, { token, ...(body ? { body } : {}) });
      expect([method, where, answer.status]).toEqual([method, where, 403]);
    }
    const entry = { resource: taken, request: { method: 'PUT', url: path } };
    const body = { resourceType: 'Bundle', type: 'transaction', entry: [entry] };
    expect((await portico.api('POST', 'fhir/R4', { token, body })).status).toBe(403);
    expect((await fhir('GET', path)).json).toEqual(client);
    expect((await fhir('GET', 'AuditEvent?_count=1', { token })).status).toBe(200);
  });

  test('of a patient is for the own compartment, and tells whose it is', async () => {
    const person = await newPerson(portico, { resourceType: 'Patient' });
    const own = await created(observation(person.profile));
    const performed = await created({
      ...observation('Patient/none'),
      performer: [{ reference: person.profile }],
    });
    const focused = await created({ ...observation('Patient/none'), focus: [{ reference: person.profile }] });
    const { json } = await signIn(portico, person, { scope: 'openid patient/Observation.rs' });
    expect(json.patient).toBe(person.profile.replace('Patient/', ''));
    const token = json.access_token;
    const found = await fhir('GET', 'Observation', { token });
    const ids = found.json.entry.map(({ resource }: { resource: { id: string } }) => resource.id);
    expect(ids.sort()).toEqual([own, performed].sort());
    expect((await fhir('GET', `Observation/${focused}`, { token })).status).toBe(403);
    expect((await fhir('GET', person.profile, { token })).status).toBe(403);
  });

  test('patient/ grants nothing to whoever is no patient', async () => {
    const person = await newPerson(portico);
    const token = await tokenOf(portico, person, { scope: 'patient/*.cruds' });
    expect((await fhir('GET', 'Observation', { token })).status).toBe(403);
    expect((await fhir('GET', 'Patient', { token })).status).toBe(403);
  });

  test('is refreshed with the same scopes or fewer, never with more', async () => {
    const person = await newPerson(portico);
    const first = await signIn(portico, person, { scope: 'openid offline_access user/*.rs' });
    let refresh = first.json.refresh_token;
    const again = async (scope?: string) => {
      const answer = await signingIn(portico).ask({
        grant_type: 'refresh_token',
        refresh_token: refresh,
        ...(scope ? { scope } : {}),
      });
      refresh = answer.json.refresh_token ?? refresh;
      return answer;
    };
    for (const scope of ['user/*.cruds', 'openid', 'openid user/*.rs user/Patient.c', 'profile user/*.rs']) {
      const answer = await again(scope);
      expect([scope, answer.status, answer.json.error]).toEqual([scope, 400, 'invalid_scope']);
    }
    const fewer = await again('user/Observation.s');
    expect([fewer.status, fewer.json.scope]).toEqual([200, 'user/Observation.s']);
    const token = fewer.json.access_token;
    expect((await fhir('GET', 'Observation', { token })).status).toBe(200);
    expect((await fhir('GET', 'Patient', { token })).status).toBe(403);
    expect((await again()).json.scope).toBe('openid offline_access user/*.rs');
  });
});
