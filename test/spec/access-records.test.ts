import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CloudWatchLogsEvent } from 'aws-lambda';
import { handlerLoader } from '../../infra/local/functions.ts';
import { mailedLink } from './mailed-link.ts';
import { newPerson, tokenOf } from './people.ts';
import { type Portico, startPortico } from './portico.ts';
import { botThat, createClient, createPolicy, execute, projectOf, type TestClient } from './running.ts';
import { newAddress, password, pkce, signingIn } from './signing-in.ts';
import { until } from './subscribing.ts';

let portico: Portico;
let client: TestClient;
let patient: string;
let observation: string;
/** Bytes of the access log that others have written. */
let before: number;

beforeAll(async () => {
  portico = await startPortico();
  before = (await readFile(accessLog()).catch(() => '')).length;
  client = await createClient(portico);
  patient = await created('Patient', { name: [{ family: 'Wollstonecraft' }], birthDate: '1947-08-23' });
  observation = await created('Observation', aboutPatient());
});
afterAll(() => portico.stop());

function aboutPatient() {
  return { status: 'final', code: { text: 'Larkspur' }, subject: { reference: patient } };
}

async function created(resourceType: string, body: object, token?: string): Promise<string> {
  const { json } = await portico.api('POST', `fhir/R4/${resourceType}`, {
    body: { resourceType, ...body },
    ...(token ? { token } : {}),
  });
  return `${resourceType}/${json.id}`;
}

async function membershipOfClient(): Promise<string> {
  const { json } = await portico.api(
    'GET',
    `fhir/R4/ProjectMembership?profile=ClientApplication/${client.id}`,
  );
  return json.entry[0].resource.id;
}

const named = (given: string) => ({ name: [{ given: [given], family: 'Wollstonecraft' }] });

interface Line {
  traceId: string;
  [field: string]: unknown;
}

const accessLog = () => join(portico.local.dataDir, 'access.jsonl');

async function allLines(): Promise<Line[]> {
  const text = (await readFile(accessLog())).subarray(before).toString();
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** The only line of a request. */
async function lineOf(method: string, path: string, call: Parameters<Portico['api']>[2] = {}): Promise<Line> {
  const { headers } = await portico.api(method, path, { token: client.token, ...call });
  const lines = (await allLines()).filter(({ traceId }) => traceId === headers.get('x-trace-id'));
  expect(lines).toHaveLength(1);
  return lines[0] as Line;
}

const form = { 'content-type': 'application/x-www-form-urlencoded' };

const looksAt = (reference: string, as: string, least = 1) =>
  entriesOf(`patient=${reference}&subtype=looked&_sort=-date`, as, least);

/** Entries are found some time after they are written. */
// biome-ignore lint/suspicious/noExplicitAny: entries are looked into
async function entriesOf(query: string, as: string, least: number): Promise<any[]> {
  return until(async () => {
    const { json } = await portico.api('GET', `fhir/R4/AuditEvent?${query}`, { token: as });
    const entry = json.entry ?? [];
    return entry.length >= least ? entry.map((one: { resource: unknown }) => one.resource) : undefined;
  }, `${least} entries for ${query}`);
}

describe('the access log', () => {
  test.each<[string, string, () => string, unknown, readonly (() => string)[]]>([
    ['a read', 'GET', () => patient, undefined, [() => patient]],
    ['a read of what is about a patient', 'GET', () => observation, undefined, [() => observation]],
    ['a history', 'GET', () => `${observation}/_history`, undefined, [() => observation]],
    ['a search', 'GET', () => 'Patient?family=Wollstonecraft', undefined, [() => patient]],
    ['a search by form', 'POST', () => 'Patient/_search', 'birthdate=1947-08-23', [() => patient]],
    ['a search of a compartment', 'GET', () => `${patient}/Observation`, undefined, [() => observation]],
    ['$everything', 'GET', () => `${patient}/$everything`, undefined, [() => patient, () => observation]],
    ['a part of a record', 'GET', () => 'Observation?_elements=status', undefined, [() => observation]],
  ])('names who, what and whose of %s', async (_, method, path, body, resources) => {
    const line = await lineOf(method, `fhir/R4/${path()}`, body ? { body, headers: form } : {});
    expect(line).toMatchObject({
      ...{ status: 200, project: projectOf(portico, 0).id, who: `ClientApplication/${client.id}` },
      patients: [patient],
    });
    expect(line.resources).toEqual(expect.arrayContaining(resources.map((one) => one())));
    expect(line.resources).toHaveLength(resources.length);
  });

  test('a batch names what all of its entries have shown', async () => {
    const entry = [patient, 'Observation?code:text=Larkspur', 'Patient/none'].map((url) => ({
      request: { method: 'GET', url },
    }));
    const line = await lineOf('POST', 'fhir/R4', { body: { resourceType: 'Bundle', type: 'batch', entry } });
    expect(line).toMatchObject({ interaction: 'batch', patients: [patient] });
    expect(new Set(line.resources as string[])).toEqual(new Set([patient, observation]));
  });

  test('tells whose a record is though its subject is hidden from who reads it', async () => {
    const accessPolicy = await createPolicy(portico, [
      { resourceType: 'Observation', hiddenFields: ['subject'] },
    ]);
    const blind = await createClient(portico, { accessPolicy });
    const { json } = await portico.api('GET', `fhir/R4/${observation}`, { token: blind.token });
    expect(json).not.toHaveProperty('subject');
    expect(await lineOf('GET', `fhir/R4/${observation}`, { token: blind.token })).toMatchObject({
      who: `ClientApplication/${blind.id}`,
      patients: [patient],
    });
  });

  test('names whose a Binary is, by what it is part of, as long as anybody can have it', async () => {
    const document = await created('DocumentReference', {
      ...{ status: 'current', subject: { reference: patient } },
      content: [{ attachment: { contentType: 'text/plain' } }],
    });
    const { json } = await portico.api('POST', 'fhir/R4/Binary', {
      headers: { 'content-type': 'text/plain', 'x-security-context': document },
      body: 'Wollstonecraft',
    });
    const binary = `Binary/${json.id}`;
    const shown = { resources: [binary], patients: [patient] };
    expect(await lineOf('GET', `fhir/R4/${binary}`)).toMatchObject(shown);
    const entry = [{ request: { method: 'GET', url: binary } }];
    const batch = { body: { resourceType: 'Bundle', type: 'batch', entry } };
    expect(await lineOf('POST', 'fhir/R4', batch)).toMatchObject(shown);
    await portico.api('DELETE', `fhir/R4/${document}`);
    expect(await lineOf('GET', `fhir/R4/${binary}`, { token: await portico.token() })).toMatchObject(shown);
  });

  test('names what an administrator is shown of what somebody else sees', async () => {
    const seer = await membershipOfClient();
    const path = `fhir/R4/ProjectMembership/${seer}/$explain`;
    const token = await portico.token();
    const shown = { resources: [observation], patients: [patient] };
    for (const body of [{ resource: observation }, { search: 'Observation?code:text=Larkspur' }])
      expect(await lineOf('POST', path, { body, token })).toMatchObject(shown);
  });

  test('names the members that an administrator is shown', async () => {
    const token = await portico.token();
    const [seer, path] = [await membershipOfClient(), `admin/projects/${projectOf(portico, 0).id}/members`];
    expect(await lineOf('GET', `${path}/${seer}`, { token })).toMatchObject({
      ...{ interaction: 'read', resources: [`ProjectMembership/${seer}`], patients: [] },
    });
    const list = await lineOf('GET', path, { token });
    expect(list).toMatchObject({ interaction: 'search-type', project: projectOf(portico, 0).id });
    expect(list.resources).toContain(`ProjectMembership/${seer}`);
  });

  test('has the history of a Patient for one, by whichever route it is found', async () => {
    expect(await lineOf('GET', `fhir/R4/${patient}/_history`)).toMatchObject({
      interaction: 'history-instance',
      resources: [patient],
    });
  });

  test('names the Bot and its run', async () => {
    const id = patient.split('/')[1];
    const bot = await botThat(portico, `return (await medplum.readResource('Patient', '${id}')).id`);
    const answer = await execute(portico, bot, '');
    expect(answer.status).toBe(200);
    const byBot = (await allLines()).filter(({ who }) => who === `Bot/${bot}`);
    expect(byBot).toEqual([
      expect.objectContaining({ run: expect.any(String), resources: [patient], patients: [patient] }),
    ]);
  });

  test('has a line without resources of what was refused, and without a caller of who is not known', async () => {
    const refused = await lineOf('GET', 'fhir/R4/Patient/none');
    expect(refused).toMatchObject({ status: 404, who: `ClientApplication/${client.id}` });
    expect(refused).not.toHaveProperty('resources');
    const unknown = await lineOf('GET', `fhir/R4/${patient}`, { token: null });
    expect(unknown).toMatchObject({ status: 401, route: 'GET /fhir/R4/{resourceType}/{id}' });
    expect(unknown).not.toHaveProperty('who');
  });

  test('is handed on as it is by the function that keeps it on AWS', async () => {
    const lines = (await allLines()).map((line) => JSON.stringify(line));
    const logEvents = lines.map((message, i) => ({ id: String(i), timestamp: i, message: `${message}\n` }));
    const zipped = (messageType: string) => ({
      awslogs: { data: gzipSync(JSON.stringify({ messageType, logEvents })).toString('base64') },
    });
    const keep = await handlerLoader()('access-records');
    const printed: string[] = [];
    const { write } = process.stdout;
    process.stdout.write = ((text: string) => printed.push(text) > 0) as typeof write;
    try {
      await keep(zipped('CONTROL_MESSAGE') as CloudWatchLogsEvent);
      expect(printed).toEqual([]);
      await keep(zipped('DATA_MESSAGE') as CloudWatchLogsEvent);
    } finally {
      process.stdout.write = write;
    }
    expect(printed).toEqual(lines.map((line) => `${line}\n`));
  });

  test('holds no content and nothing of a query', async () => {
    const text = JSON.stringify(await allLines());
    expect(text).toContain(patient);
    expect(text).not.toMatch(/Wollstonecraft|1947-08|Larkspur|birthdate|family|code:text|Patient\/none/);
  });
});

describe('AuditEvents of what is read', () => {
  let token: string;
  let own: string;

  beforeAll(async () => {
    const project = projectOf(portico, 1);
    const provision = await portico.local.load('provision');
    expect(await provision({ project: project.id, auditReads: true })).toMatchObject({
      project: { auditReads: true },
    });
    const { json } = await portico.api('GET', `admin/projects/${project.id}`, {
      token: await portico.token(project),
    });
    expect(json).toMatchObject({ project: { id: project.id }, auditReads: true });
    token = await portico.token(project);
    own = await created('Patient', { name: [{ family: 'Shelley' }] }, token);
  });

  test('are found by the patient, in the shape of IHE BALP', async () => {
    await portico.api('GET', `fhir/R4/${own}`, { token });
    const [event] = await looksAt(own, token);
    expect(event).toMatchObject({
      action: 'R',
      outcome: '0',
      subtype: [
        { system: 'urn:portico:audit', code: 'looked' },
        { system: 'http://hl7.org/fhir/restful-interaction', code: 'read' },
      ],
      entity: [
        { what: { reference: own }, type: { code: '2' }, role: { code: '4' } },
        { what: { reference: own }, type: { code: '1' }, role: { code: '1' } },
      ],
    });
    const who = `ClientApplication/${projectOf(portico, 1).clientId}`;
    expect(event.agent[0]).toMatchObject({ who: { reference: who }, requestor: true });
    expect(
      event.agent.map((one: { type?: { coding: { code: string }[] } }) => one.type?.coding[0]?.code),
    ).toEqual([undefined, '110152', '110153']);
  });

  test('tell of a search whose records it has shown, and of no name that was searched for', async () => {
    await portico.api('GET', 'fhir/R4/Patient?family=Shelley', { token });
    const [event] = await looksAt(own, token, 2);
    expect(event).toMatchObject({ action: 'E', subtype: [{}, { code: 'search-type' }] });
    expect(event.entity).toEqual([expect.objectContaining({ what: { reference: own } })]);
    expect(JSON.stringify(event)).not.toMatch(/Shelley/i);
  });

  test('tell of a write that has changed nothing and shown all', async () => {
    const body = [{ op: 'test', path: '/resourceType', value: 'Patient' }];
    const headers = { 'content-type': 'application/json-patch+json' };
    const same = await portico.api('PATCH', `fhir/R4/${own}`, { token, body, headers });
    expect(same.json.name).toEqual([{ family: 'Shelley' }]);
    await portico.api('PUT', `fhir/R4/${own}`, { token, body: same.json });
    const [put, patch] = await looksAt(own, token, 4);
    expect(patch).toMatchObject({ action: 'R', subtype: [{}, { code: 'patch' }] });
    expect(put).toMatchObject({ action: 'R', subtype: [{}, { code: 'update' }] });
    // What has changed something is told of as a change.
    await portico.api('PUT', `fhir/R4/${own}`, { token, body: { ...same.json, gender: 'female' } });
    expect(await entriesOf(`entity=${own}&subtype=updated`, token, 1)).toHaveLength(1);
    expect(await looksAt(own, token, 4)).toHaveLength(4);
  });

  test('tell of names that are shown before there is a token: by a link, and where an app asks whose record', async () => {
    const { id: project } = projectOf(portico, 1);
    const both = await Promise.all(['Ada', 'Bea'].map((given) => created('Patient', named(given), token)));
    const app = await portico.api('POST', `admin/projects/${project}/client`, {
      token,
      body: { name: 'App', public: true },
    });
    const at = signingIn(portico);
    const email = newAddress();
    const patient = both.map((reference) => ({ reference }));
    const change = { resourceType: 'RelatedPerson', patient };
    const { id: membership, profile } = await at.invite(email, 1, change);
    const link = await mailedLink(portico, email);
    const who = { project, who: profile.reference, membership };
    const invited = await lineOf('POST', 'auth/invitation', { token: null, body: link });
    expect(invited).toMatchObject({ ...who, client: '', interaction: 'operation', patients: [] });
    expect(invited.resources).toContain(profile.reference);
    await at.post('auth/setpassword', { ...link, password });

    const clientId = app.json.id;
    const scope = 'openid launch/patient patient/*.rs';
    const body = { email, password, clientId, scope, ...pkce };
    const asked = await lineOf('POST', 'auth/login', { token: null, body });
    expect(asked).toMatchObject({ ...who, client: clientId, login: expect.any(String) });
    expect([asked.resources, asked.patients, asked.status]).toEqual([both, both, 200]);
    for (const reference of both) {
      const [event] = await looksAt(reference, token);
      expect(event).toMatchObject({
        ...{ action: 'E', subtype: [{}, { code: 'operation' }] },
        agent: [{ who: profile }, { who: { identifier: { value: clientId } } }, {}],
        entity: both.map((one) => ({ what: { reference: one } })),
      });
      expect(JSON.stringify(event)).not.toMatch(/Bea|Wollstonecraft/);
    }
    const wrong = { ...body, password: 'another battery' };
    expect(await lineOf('POST', 'auth/login', { token: null, body: wrong })).not.toHaveProperty('who');
    const other = await lineOf('POST', 'auth/login', { token: null, body: { ...body, scope: 'openid' } });
    expect(other).not.toHaveProperty('resources');
  });

  test('are not kept of answers that tell of no patient and name no record', async () => {
    const searches = async () =>
      (await portico.local.scan()).filter((item) => JSON.stringify(item).includes('search-type')).length;
    const before = await searches();
    for (const path of ['Patient?family=Nobody', 'Bot', 'AccessPolicy?name=none'])
      expect((await portico.api('GET', `fhir/R4/${path}`, { token })).status).toBe(200);
    expect(await searches()).toBe(before);
    await portico.api('GET', 'fhir/R4/Patient?family=Shelley', { token });
    expect(await searches()).toBeGreaterThan(before);
  });

  test('are not kept of looks at AuditEvents, nor where the Project has not asked for them', async () => {
    expect(await looksAt(own, token, 5)).toHaveLength(5);
    await portico.api('GET', `fhir/R4/${patient}`);
    const looked = (await portico.local.scan()).filter((item) =>
      JSON.stringify(item).includes('restful-interaction'),
    );
    expect(new Set(looked.map(({ pk }) => String(pk).split('#')[1]))).toEqual(
      new Set([projectOf(portico, 1).id]),
    );
  });
});

test('who has emergency access is seen to have it in all that they read, write and run, whatever the Project keeps', async () => {
  const emergencyPolicy = await createPolicy(portico, [
    { resourceType: 'Patient' },
    { resourceType: 'Bot', interaction: ['execute'] },
  ]);
  const bot = await botThat(portico, 'return 1');
  const id = patient.split('/')[1];
  const reading = await botThat(portico, `return (await medplum.readResource('Patient', '${id}')).id`);
  const accessPolicy = await createPolicy(portico, [{ resourceType: 'Location' }]);
  const nurse = await newPerson(portico, { accessPolicy, emergencyPolicy });
  const token = await tokenOf(portico, nurse);
  const read = () => portico.api('GET', `fhir/R4/${patient}`, { token });
  expect((await read()).status).toBe(403);

  const secondsLeft = async () =>
    (await portico.api('GET', 'auth/me', { token })).headers.get('x-emergency-seconds');
  expect(await secondsLeft()).toBeNull();

  const reason = 'Unconscious, brought in by ambulance';
  const taken = await portico.api('POST', 'auth/emergency', { token, body: { reason } });
  expect(taken).toMatchObject({ status: 200, json: { minutes: 60, active: { reason } } });
  expect(taken.json.opens).toEqual([expect.stringContaining('Patient'), expect.stringContaining('Bot')]);
  expect((await portico.api('GET', 'auth/me', { token })).json.emergency).toEqual(taken.json);
  expect(Number(await secondsLeft())).toBeGreaterThan(3300);
  expect(Number(await secondsLeft())).toBeLessThanOrEqual(3600);
  const project = projectOf(portico, 0).id;
  const memberPath = `admin/projects/${project}/members/${nurse.membershipId}`;
  const isMarked = async () => (await portico.api('GET', memberPath)).text.includes('emergency-access');
  expect(await isMarked()).toBe(true);

  expect(await lineOf('GET', 'auth/me', { token })).toMatchObject({ resources: [nurse.profile] });
  const line = await lineOf('GET', `fhir/R4/${patient}`, { token });
  expect(line).toMatchObject({ who: nurse.profile, purpose: 'BTG', patients: [patient] });
  const [look] = await looksAt(patient, await portico.token());
  expect(look).toMatchObject({
    agent: [{ who: { reference: nurse.profile } }, {}],
    purposeOfEvent: [{ coding: [{ code: 'BTG' }] }],
  });
  const written = await created('Patient', { gender: 'unknown' }, token);
  const [change] = await entriesOf(`entity=${written}&subtype=created`, await portico.token(), 1);
  expect(change).toMatchObject({ purposeOfEvent: [{ coding: [{ code: 'BTG' }] }] });
  expect((await execute(portico, bot, undefined, null, { token })).text).toBe('1');
  const [run] = await entriesOf(`entity=Bot/${bot}&subtype=execute`, await portico.token(), 1);
  expect(run).toMatchObject({ purposeOfEvent: [{ coding: [{ code: 'BTG' }] }] });

  expect((await execute(portico, reading, undefined, null, { token })).status).toBe(200);
  const byBot = (await allLines()).find(({ who, resources }) => who === `Bot/${reading}` && resources);
  expect(byBot).toMatchObject({ purpose: 'BTG', resources: [patient] });

  for (const path of [memberPath, `admin/projects/${project}`, 'fhir/R4/AuditEvent'])
    expect((await portico.api('GET', path, { token })).status).toBe(403);
  const [refused] = await entriesOf(
    `agent=${nurse.profile}&subtype=refused&_sort=-date`,
    await portico.token(),
    4,
  );
  expect(refused).toMatchObject({ purposeOfEvent: [{ coding: [{ code: 'BTG' }] }] });
  expect((await portico.api('DELETE', 'auth/emergency', { token })).status).toBe(200);
  expect((await read()).status).toBe(403);
  expect(await secondsLeft()).toBeNull();
  expect(await isMarked()).toBe(false);
});

test('an administrator with emergency access is seen to have it in what they have explained and export', async () => {
  const emergencyPolicy = await createPolicy(portico, [{ resourceType: 'Patient' }]);
  const admin = await newPerson(portico, { admin: true, emergencyPolicy });
  const token = await tokenOf(portico, admin);
  const body = { reason: 'Unconscious, brought in by ambulance' };
  expect((await portico.api('POST', 'auth/emergency', { token, body })).status).toBe(200);

  const explaining = `fhir/R4/ProjectMembership/${await membershipOfClient()}/$explain`;
  const about = await created('Observation', aboutPatient());
  const line = await lineOf('POST', explaining, { token, body: { resource: about } });
  expect(line).toMatchObject({ who: admin.profile, purpose: 'BTG', resources: [about] });
  const marked = { purposeOfEvent: [{ coding: [{ code: 'BTG' }] }] };
  const looks = `patient=${patient}&agent=${admin.profile}&subtype=looked`;
  expect((await entriesOf(looks, await portico.token(), 1))[0]).toMatchObject(marked);

  const headers = { prefer: 'respond-async' };
  const begun = await portico.api('GET', 'fhir/R4/$export?_type=Patient', { token, headers });
  expect(begun.status).toBe(202);
  const [begin] = await entriesOf(`agent=${admin.profile}&subtype=begin-export`, await portico.token(), 1);
  expect(begin).toMatchObject(marked);
  expect(begin.agent[0].who.reference).toBe(admin.profile);
  const location = String(begun.headers.get('content-location'));
  expect([200, 202]).toContain((await portico.api('DELETE', location, { token })).status);
});
