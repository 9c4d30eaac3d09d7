import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isAuditEvent } from '../storage/stored.ts';
import { newPerson, signIn, tokenOf } from './people.ts';
import { type Portico, startPortico } from './portico.ts';
import { botThat, createBot, createClient, execute, projectOf, type TestClient } from './running.ts';
import { until } from './subscribing.ts';

let portico: Portico;
let project: string;
let client: TestClient;

beforeAll(async () => {
  portico = await startPortico();
  project = projectOf(portico, 0).id;
  client = await createClient(portico);
});
afterAll(() => portico.stop());

interface Entry {
  subtype: { code: string }[];
  outcome: string;
  outcomeDesc?: string;
  agent: { who: { reference: string; display?: string } }[];
  entity?: {
    what?: { reference: string; display?: string };
    detail?: { type: string; valueString: string }[];
  }[];
}

/** The first Project's entries of an agent, once there are so many of the subtype; the index follows the stream. */
async function entriesOf(agent: string, subtype: string, count = 1): Promise<Entry[]> {
  return until(async () => {
    const { json } = await portico.api('GET', `fhir/R4/AuditEvent?agent=${agent}&_count=200`);
    const all = (json.entry ?? []).map(({ resource }: { resource: Entry }) => resource) as Entry[];
    const found = all.filter((one) => one.subtype[0]?.code === subtype);
    return found.length >= count ? found : undefined;
  }, `${count} entries ${subtype} of ${agent}`);
}

const detailOf = ({ entity }: Entry, type: string, at = 0) =>
  entity?.[at]?.detail?.find((one) => one.type === type)?.valueString;

describe('a refused attempt', () => {
  test.each<[string, string, unknown, number, string | undefined]>([
    ['POST', 'admin/projects/{p}/invite', {}, 403, undefined],
    ['GET', 'admin/projects/{p}/members/none', undefined, 403, 'ProjectMembership/none'],
    ['POST', 'admin/projects/{p}/bot', { name: 'x' }, 403, undefined],
    ['GET', 'fhir/R4/AccessPolicy/a1', undefined, 404, 'AccessPolicy/a1'],
    ['GET', 'fhir/R4/AccessPolicy', undefined, 403, undefined],
    ['POST', 'fhir/R4/Patient', { resourceType: 'Patient', shoeSize: 44 }, 422, undefined],
    ['PUT', 'fhir/R4/AuditEvent/a1', { resourceType: 'AuditEvent', id: 'a1' }, 403, 'AuditEvent/a1'],
    ['POST', 'fhir/R4/Bot/none/$execute', {}, 404, 'Bot/none'],
    ['GET', 'fhir/R4/Patient/none/$everything', undefined, 404, 'Patient/none'],
    ['GET', 'fhir/R4/Patient/p1/Nothing', undefined, 404, 'Patient/p1'],
    ['GET', 'fhir/R4/Subscription/s1/$deliveries', undefined, 403, 'Subscription/s1'],
    ['GET', 'fhir/R4/job/j1/status', undefined, 404, undefined],
    ['GET', 'admin/projects/{p}/bot/b1/secrets', undefined, 403, 'Bot/b1'],
    ['GET', 'admin/projects/{p}/client/c1', undefined, 403, 'ClientApplication/c1'],
    ['POST', 'fhir/R4/Patient', 'not JSON', 400, undefined],
    ['POST', 'admin/projects/{p}/invite', 'not JSON', 400, undefined],
  ])('%s %s leaves one entry of whoever made it', async (method, path, body, status, what) => {
    const own = await createClient(portico);
    const answer = await portico.api(method, path.replace('{p}', project), {
      token: own.token,
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(status);
    const entries = await entriesOf(`ClientApplication/${own.id}`, 'refused');
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({ outcome: '4', outcomeDesc: String(status) });
    expect(entries[0]?.entity?.[0]?.what?.reference).toBe(what);
    expect(JSON.stringify(entries)).not.toMatch(/shoeSize|not JSON/);
  });

  test('on another Project stands in the own one alone', async () => {
    const own = await createClient(portico);
    const other = projectOf(portico, 1);
    const answer = await portico.api('GET', `admin/projects/${other.id}/members`, { token: own.token });
    expect(answer.status).toBe(403);
    await entriesOf(`ClientApplication/${own.id}`, 'refused');
    const token = await portico.token(other);
    const theirs = await portico.api('GET', `fhir/R4/AuditEvent?agent=ClientApplication/${own.id}`, {
      token,
    });
    expect(theirs.json.entry).toBeUndefined();
  });

  test('of entries in a batch is one entry for all of them', async () => {
    const own = await createClient(portico);
    const entry = ['AccessPolicy/a', 'Patient/none', 'Patient'].map((url) => ({
      request: { method: 'GET', url },
    }));
    const body = { resourceType: 'Bundle', type: 'batch', entry };
    expect((await portico.api('POST', 'fhir/R4', { token: own.token, body })).status).toBe(200);
    const [found] = await entriesOf(`ClientApplication/${own.id}`, 'refused');
    expect(found?.entity?.map(({ what }) => what?.reference)).toEqual(['AccessPolicy/a', 'Patient/none']);
  });

  test('that was forbidden is named before any number of what is not there', async () => {
    const own = await createClient(portico);
    const missing = Array.from({ length: 100 }, (_, at) => `Patient/none-${at}`);
    const entry = [
      ...missing.map((url) => ({ request: { method: 'GET', url } })),
      {
        request: { method: 'PUT', url: 'AuditEvent/a1' },
        resource: { resourceType: 'AuditEvent', id: 'a1' },
      },
    ];
    const body = { resourceType: 'Bundle', type: 'batch', entry };
    const { json } = await portico.api('POST', 'fhir/R4', { token: own.token, body });
    expect(json.entry.at(-1).response.status).toMatch(/^403/);
    const [found] = await entriesOf(`ClientApplication/${own.id}`, 'refused');
    const named = found?.entity?.map(({ what }) => what?.reference);
    expect(named).toEqual(['AuditEvent/a1', ...missing.slice(0, 99)]);
  });

  test('without a good token leaves none', async () => {
    const before = (await portico.local.scan()).filter(isAuditEvent).length;
    expect((await portico.api('GET', 'fhir/R4/Patient', { token: 'x.y.z' })).status).toBe(401);
    expect((await portico.api('GET', 'fhir/R4/Patient', { token: null })).status).toBe(401);
    const after = (await portico.local.scan()).filter(isAuditEvent).length;
    expect(after).toBe(before);
  });

  test('a Bot’s own failure is a run, not a refusal', async () => {
    const own = await createClient(portico);
    const bot = await botThat(portico, 'throw new Error("no");');
    const path = `fhir/R4/Bot/${bot}/$execute`;
    expect((await portico.api('POST', path, { token: own.token, body: {} })).status).toBe(400);
    await portico.api('GET', 'fhir/R4/AccessPolicy', { token: own.token });
    expect(await entriesOf(`ClientApplication/${own.id}`, 'refused')).toHaveLength(1);
  });
});

describe('signing in and out', () => {
  test('of a person leaves an entry each', async () => {
    const person = await newPerson(portico);
    const token = await tokenOf(portico, person);
    await portico.api('POST', 'oauth2/logout', { token });
    const [entry] = await entriesOf(person.profile, 'sign-in');
    expect(detailOf(entry as Entry, 'grant')).toBe('authorization_code');
    expect(await entriesOf(person.profile, 'sign-out')).toHaveLength(1);
  });

  test('of a program too, and a wrong secret none', async () => {
    expect(await entriesOf(`ClientApplication/${client.id}`, 'sign-in')).toHaveLength(1);
    const person = await newPerson(portico);
    await signIn(portico, person, { password: 'wrong password' });
    await tokenOf(portico, person);
    expect(await entriesOf(person.profile, 'sign-in')).toHaveLength(1);
  });
});

describe('names in the entries', () => {
  const refer = (entry: Entry | undefined) => entry?.entity?.map(({ what }) => what);
  const whoOf = (entry: Entry | undefined) => entry?.agent?.[0]?.who;
  const newest = async (query: string): Promise<Entry> => {
    const path = `fhir/R4/AuditEvent?_sort=-date&_count=1&${query}`;
    const [entry] = await until(async () => (await portico.api('GET', path)).json.entry, query);
    return entry.resource;
  };

  test('are those of actors and of administrative things', async () => {
    const display = `${portico.projects[0]?.name} client`;
    const made = await createClient(portico, { name: 'Night job' });
    const entry = await newest(`entity=ClientApplication/${made.id}&subtype=create-client`);
    expect(whoOf(entry)).toMatchObject({ display });
    expect(refer(entry)).toEqual([
      { reference: `ClientApplication/${made.id}`, display: 'Night job' },
      { reference: expect.stringMatching(/^ProjectMembership/), display: 'Night job' },
    ]);
    const bot = await createBot(portico, { name: 'Router' });
    const path = `fhir/R4/Bot/${bot}`;
    expect((await portico.api('DELETE', path)).status).toBe(200);
    const deleted = await newest(`entity=Bot/${bot}&subtype=deleted`);
    expect(refer(deleted)).toEqual([{ reference: `Bot/${bot}`, display: 'Router' }]);
    await portico.api('GET', 'fhir/R4/AccessPolicy/none', { token: made.token });
    expect(whoOf(await newest(`agent=ClientApplication/${made.id}&subtype=refused`))).toEqual({
      reference: `ClientApplication/${made.id}`,
      display: 'Night job',
    });
  });

  test('are never those of patients in what was done to them', async () => {
    const body = { resourceType: 'Patient', name: [{ family: 'Wollstonecraft' }], text: undefined };
    const { json } = await portico.api('POST', 'fhir/R4/Patient', { body });
    const entry = await newest(`entity=Patient/${json.id}&subtype=created`);
    expect(refer(entry)).toEqual([{ reference: `Patient/${json.id}` }]);
    const invited = await portico.api('POST', `admin/projects/${project}/invite`, {
      body: { resourceType: 'Patient', firstName: 'Fanny', lastName: 'Imlay', email: 'fanny@example.org' },
    });
    const { profile, id } = invited.json;
    const invite = await newest(`entity=${profile.reference}&subtype=invite`);
    expect(refer(invite)).toContainEqual({ reference: profile.reference });
    expect(refer(invite)).toContainEqual({ reference: `ProjectMembership/${id}`, display: 'Fanny Imlay' });
  });

  test('are of people who act for themselves too, and of runs', async () => {
    const person = await newPerson(portico);
    const token = await tokenOf(portico, person);
    await portico.api('POST', 'oauth2/logout', { token });
    const signOut = await newest(`agent=${person.profile}&subtype=sign-out`);
    expect(whoOf(signOut)?.display).toMatch(/\S \S/);
    const bot = await botThat(portico, 'return 1');
    expect((await execute(portico, bot)).status).toBe(200);
    const run = await newest(`entity=Bot/${bot}&subtype=execute`);
    expect(whoOf(run)?.display).toBe(`${portico.projects[0]?.name} client`);
    expect(refer(run)?.[0]?.display).toMatch(/^Bot \d+$/);
  });

  test('are read without leaving a trace, of what was deleted too', async () => {
    const { json } = await portico.api('POST', 'fhir/R4/Basic', {
      body: { resourceType: 'Basic', code: { text: 'x' } },
    });
    await portico.api('DELETE', `fhir/R4/Basic/${json.id}`);
    const count = async () => (await portico.local.scan()).filter(isAuditEvent).length;
    const before = await count();
    expect((await portico.api('GET', `fhir/R4/Basic/${json.id}`)).status).toBe(410);
    await portico.api('GET', 'fhir/R4/AuditEvent?_sort=-date');
    expect(await count()).toBe(before);
  });
});

describe('the entries', () => {
  test('are read by administrators of the Project only', async () => {
    for (const token of [client.token, await tokenOf(portico, await newPerson(portico))]) {
      expect((await portico.api('GET', 'fhir/R4/AuditEvent', { token })).status).toBe(403);
    }
    const { json } = await portico.api('GET', 'fhir/R4/AuditEvent?_count=1');
    const { id } = json.entry[0].resource;
    const other = await portico.token(projectOf(portico, 1));
    expect((await portico.api('GET', `fhir/R4/AuditEvent/${id}`, { token: other })).status).toBe(404);
  });

  test('are changed and deleted by nobody, in no way', async () => {
    const { json } = await portico.api('GET', 'fhir/R4/AuditEvent?_count=1');
    const { resource } = json.entry[0];
    const path = `fhir/R4/AuditEvent/${resource.id}`;
    const request = (method: string) => ({
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [{ resource, request: { method, url: `AuditEvent/${resource.id}` } }],
    });
    const answers = [
      await portico.api('PUT', path, { body: { ...resource, outcome: '8' } }),
      await portico.api('PATCH', path, { body: [{ op: 'replace', path: '/outcome', value: '8' }] }),
      await portico.api('DELETE', path),
      await portico.api('DELETE', `fhir/R4/AuditEvent?_id=${resource.id}`),
      await portico.api('POST', 'fhir/R4/AuditEvent', { body: resource }),
      await portico.api('POST', 'fhir/R4', { body: request('PUT') }),
      await portico.api('POST', 'fhir/R4', { body: request('DELETE') }),
    ];
    expect(answers.map(({ status }) => status)).toEqual(Array(7).fill(403));
    expect((await portico.api('GET', path)).json).toEqual(resource);
  });

  test('tell of every change that administrators make', async () => {
    const before = await portico.local.scan();
    const { membershipId } = await newPerson(portico);
    const members = `admin/projects/${project}/members/${membershipId}`;
    expect((await portico.api('POST', members, { body: { accessPolicy: null } })).status).toBe(200);
    expect((await portico.api('DELETE', members)).status).toBe(200);
    await createBot(portico);
    await createClient(portico);
    const known = new Set(before.map(({ sk }) => sk));
    const fresh = (await portico.local.scan()).filter(
      (item) => isAuditEvent(item) && item.pk.startsWith(`P#${project}#`) && !known.has(item.sk),
    );
    const subtypes = fresh.map(({ content }) => JSON.parse(String(content)).subtype[0].code);
    expect(subtypes.sort()).toEqual(
      ['accept', 'change-member', 'create-bot', 'create-client', 'invite', 'remove-member', 'sign-in'].sort(),
    );
  });
});
