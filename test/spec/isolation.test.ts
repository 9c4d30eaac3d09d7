import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Inviting, inviting, person } from './inviting.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';

let portico: Portico;
let at: Inviting;
/** The second Project's, who asks for what is the first's. */
let stranger = '';
let bot = '';
let membership = '';
let patient = '';
const system = 'https://example.com/bots';

beforeAll(async () => {
  portico = await startPortico();
  at = inviting(portico);
  stranger = await portico.token(portico.projects[1]);
  const body = { name: 'Echo', identifier: [{ system, value: 'echo' }] };
  bot = (await portico.api('POST', `admin/projects/${at.project}/bot`, { body })).json.id;
  const code = 'export const handler = async (medplum, event) => event.input;';
  const deployed = await portico.api('POST', `fhir/R4/Bot/${bot}/$deploy`, {
    body: { code, filename: 'index.js' },
  });
  if (deployed.status !== 200) throw new Error(deployed.text);
  membership = (await at.invite(person())).json.id;
  patient = await at.create({ resourceType: 'Patient' });
});
afterAll(() => portico.stop());

const unknownProject = '11111111-2222-4333-8444-555555555555';

/** What of an answer a stranger can look at, the trace apart. */
function seen({ status, headers, text }: Answer) {
  const names = [...headers.keys()].filter((name) => name !== 'date').sort();
  return { status, names, text: text.replace(/Trace [\w-]+/g, 'Trace') };
}

describe('an administrator of another Project', () => {
  test.each<[string, string, unknown]>([
    ['GET', '', undefined],
    ['POST', '/invite', person()],
    ['POST', '/invite', {}],
    ['POST', '/client', { name: 'Mine' }],
    ['POST', '/client', {}],
    ['POST', '/bot', { name: 'Mine' }],
    ['GET', '/members/MEMBERSHIP', undefined],
  ])(
    'gets 403 from %s admin/projects/<id>%s, whether the Project exists or not',
    async (method, tail, body) => {
      const path = tail.replace('MEMBERSHIP', membership);
      const ask = (project: string) =>
        portico.api(method, `admin/projects/${project}${path}`, { token: stranger, body });
      const [existing, unknown] = [await ask(at.project), await ask(unknownProject)];
      expect(existing.status).toBe(403);
      expect(existing.json).toEqual({
        resourceType: 'OperationOutcome',
        id: 'forbidden',
        issue: [{ severity: 'error', code: 'forbidden', details: { text: 'Forbidden' } }],
      });
      expect(seen(unknown)).toEqual(seen(existing));
    },
  );

  test('gets 404 for a membership of ours under their own Project', async () => {
    const path = `admin/projects/${portico.projects[1]?.id}/members/${membership}`;
    expect((await portico.api('GET', path, { token: stranger })).status).toBe(404);
  });

  test.each(['..', '%2e%2e', '__proto__', 'P%23x', '%00', 'x'.repeat(200)])(
    'gets no further with %s as Project',
    async (project) => {
      const answer = await portico.api('POST', `admin/projects/${project}/invite`, {
        token: stranger,
        body: person(),
      });
      expect([403, 404]).toContain(answer.status);
    },
  );
});

describe('what belongs to one Project is not there for another', () => {
  test('a resource: reading it is a plain 404, and deleting it is what it is for one that never was', async () => {
    for (const method of ['GET', 'DELETE']) {
      const [ours, unknown] = await Promise.all(
        [patient, 'Patient/none'].map((path) => portico.api(method, `fhir/R4/${path}`, { token: stranger })),
      );
      if (method === 'GET') expect(ours?.status).toBe(404);
      expect(seen(ours as Answer)).toEqual(seen(unknown as Answer));
    }
    expect((await portico.api('GET', `fhir/R4/${patient}`)).status).toBe(200);
  });

  test.each(['$execute', '$deploy'])('a Bot: %s by its id is a plain 404', async (operation) => {
    const call = { token: stranger, body: { code: 'exports.handler = async () => 1', filename: 'index.js' } };
    const [ours, unknown] = await Promise.all(
      [bot, unknownProject].map((id) => portico.api('POST', `fhir/R4/Bot/${id}/${operation}`, call)),
    );
    expect(ours?.status).toBe(404);
    expect(seen(ours as Answer)).toEqual(seen(unknown as Answer));
  });

  test('a Bot: its identifier is unknown there, and free', async () => {
    const path = `fhir/R4/Bot/$execute?identifier=${encodeURIComponent(`${system}|echo`)}`;
    const call = { token: stranger, body: {} };
    expect((await portico.api('POST', path, call)).status).toBe(404);
    const created = await portico.api('POST', `admin/projects/${portico.projects[1]?.id}/bot`, {
      token: stranger,
      body: { name: 'Theirs', identifier: [{ system, value: 'echo' }] },
    });
    expect(created.status).toBe(201);
    const own = await portico.api('POST', path, { body: { from: 'us' } });
    expect([own.status, own.json]).toEqual([200, { from: 'us' }]);
    const theirs = await portico.api('POST', path, call);
    expect([theirs.status, theirs.text.includes('Bot has no deployed code')]).toEqual([400, true]);
  });

  test('a policy, a profile and a patient: an invite cannot name them', async () => {
    const token = await portico.token();
    const named = {
      accessPolicy: { reference: await at.create({ resourceType: 'AccessPolicy' }, token) },
      profile: {
        reference: await at.create({ resourceType: 'RelatedPerson', patient: { reference: patient } }, token),
      },
      patient: { reference: patient },
    };
    for (const [field, value] of Object.entries(named)) {
      const answer = await at.inviteByOther(person({ resourceType: 'RelatedPerson', [field]: value }));
      expect([answer.status, answer.json.issue[0].expression]).toEqual([400, [field]]);
    }
  });

  test('a policy: a client and a Bot cannot be given it', async () => {
    const reference = await at.create({ resourceType: 'AccessPolicy' });
    for (const kind of ['client', 'bot']) {
      const answer = await portico.api('POST', `admin/projects/${portico.projects[1]?.id}/${kind}`, {
        token: stranger,
        body: { name: 'Mine', accessPolicy: { reference } },
      });
      expect([answer.status, answer.json.issue[0].expression]).toEqual([400, ['accessPolicy']]);
    }
  });

  test('a person: the other Project learns neither the names nor the membership', async () => {
    const body = person({ firstName: 'Zebedee', lastName: 'Quux' });
    const ours = await at.invite(body);
    const theirs = await at.inviteByOther({ ...body, firstName: 'Z', lastName: 'Q' });
    expect(theirs.text).not.toMatch(/Zebedee|Quux/);
    expect(theirs.text).not.toContain(ours.json.id);
    expect(theirs.text).not.toContain(at.project);
    const user = await portico.api('GET', `fhir/R4/${ours.json.user.reference}`, { token: stranger });
    expect(user.text).not.toMatch(/Zebedee|Quux/);
  });

  test('the mark that a request leaves: a project in the body changes nothing', async () => {
    const body = { resourceType: 'Patient', meta: { project: at.project } };
    const headers = { 'x-medplum': 'extended' };
    const made = await portico.api('POST', 'fhir/R4/Patient', { token: stranger, body, headers });
    expect([made.status, made.json.meta.project]).toEqual([201, portico.projects[1]?.id]);
    expect((await portico.api('GET', `fhir/R4/Patient/${made.json.id}`)).status).toBe(404);
  });
});
