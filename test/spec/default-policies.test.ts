import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newPerson, tokenOf } from './people.ts';
import { type Answer, type Call, type Portico, startPortico } from './portico.ts';
import { botThat, createClient } from './running.ts';

let portico: Portico;
let botId: string;

beforeAll(async () => {
  portico = await startPortico();
  botId = await botThat(portico, 'return "ran";');
});
afterAll(() => portico.stop());

type Fields = Record<string, unknown>;

const fhir = (method: string, path: string, call: Call = {}): Promise<Answer> =>
  portico.api(method, `fhir/R4/${path}`, {
    ...call,
    headers: call.body === undefined ? {} : { 'content-type': 'application/fhir+json' },
  });

async function created(body: Fields & { resourceType: string }): Promise<string> {
  const answer = await fhir('POST', body.resourceType, { body });
  expect(answer.status).toBe(201);
  return `${body.resourceType}/${answer.json.id}`;
}

const observation = (fields: Fields) => ({
  resourceType: 'Observation',
  status: 'final',
  code: { text: 'x' },
  ...fields,
});
const about = (patient: string) => created(observation({ subject: { reference: patient } }));

async function statusOf(token: string, method: string, path: string, body?: unknown): Promise<number> {
  return (await fhir(method, path, { token, ...(body === undefined ? {} : { body }) })).status;
}

async function mayNothingAdministrative(token: string): Promise<void> {
  for (const type of [
    'AccessPolicy',
    'AuditEvent',
    'Bot',
    'ClientApplication',
    'Project',
    'ProjectMembership',
  ]) {
    expect([type, await statusOf(token, 'GET', type)]).toEqual([type, 403]);
    expect([type, await statusOf(token, 'POST', type, { resourceType: type })]).toEqual([type, 403]);
  }
}

describe('without a policy', () => {
  test('a Practitioner and a client read and write clinical resources and execute Bots', async () => {
    const practitioner = await tokenOf(portico, await newPerson(portico));
    const { token: client } = await createClient(portico);
    for (const token of [practitioner, client]) {
      const made = await fhir('POST', 'Observation', { token, body: observation({}) });
      expect(made.status).toBe(201);
      const path = `Observation/${made.json.id}`;
      expect(await statusOf(token, 'GET', path)).toBe(200);
      expect(await statusOf(token, 'PUT', path, { ...observation({}), id: made.json.id })).toBe(200);
      expect(await statusOf(token, 'GET', 'Observation')).toBe(200);
      expect(await statusOf(token, 'DELETE', path)).toBe(200);
      expect(await statusOf(token, 'POST', `Bot/${botId}/$execute`, {})).toBe(200);
      expect(await statusOf(token, 'GET', `Bot/${botId}`)).toBe(403);
      await mayNothingAdministrative(token);
    }
  });

  test('a Patient reads the own record and its compartment, and edits the own contact details only', async () => {
    const person = await newPerson(portico, { resourceType: 'Patient' });
    const token = await tokenOf(portico, person);
    const other = await created({ resourceType: 'Patient' });
    const [mine, theirs] = [await about(person.profile), await about(other)];
    const mentioned = await created(observation({ focus: [{ reference: person.profile }] }));
    const linked = await created({
      resourceType: 'Patient',
      link: [{ other: { reference: person.profile }, type: 'seealso' }],
    });
    const reads = async (path: string) => statusOf(token, 'GET', path);
    expect([await reads(person.profile), await reads(mine), await reads(linked)]).toEqual([200, 200, 200]);
    expect([await reads(other), await reads(theirs), await reads(mentioned)]).toEqual([403, 403, 403]);
    const found = (await fhir('GET', 'Observation', { token })).json.entry;
    expect(found.map(({ resource }: { resource: Fields }) => `Observation/${resource.id}`)).toEqual([mine]);

    const { json: record } = await fhir('GET', person.profile, { token });
    const put = (fields: Fields) => statusOf(token, 'PUT', person.profile, { ...record, ...fields });
    expect(await put({ telecom: [{ system: 'phone', value: '1' }], address: [{ city: 'Bern' }] })).toBe(200);
    expect(await put({ birthDate: '1970-01-01' })).toBe(403);
    expect(await put({ name: [{ family: 'Other' }] })).toBe(403);
    expect(await put({ generalPractitioner: [{ reference: 'Practitioner/x' }] })).toBe(403);
    expect(await statusOf(token, 'PUT', linked, { resourceType: 'Patient', id: linked.slice(8) })).toBe(403);
    expect(
      await statusOf(token, 'POST', 'Observation', observation({ subject: { reference: person.profile } })),
    ).toBe(403);
    expect(await statusOf(token, 'DELETE', mine)).toBe(403);
    expect(await statusOf(token, 'POST', `Bot/${botId}/$execute`, {})).toBe(403);
    await mayNothingAdministrative(token);
  });

  test('a RelatedPerson reaches each patient that it is linked to, and no other', async () => {
    const patients = [await created({ resourceType: 'Patient' }), await created({ resourceType: 'Patient' })];
    const stranger = await created({ resourceType: 'Patient' });
    const person = await newPerson(portico, {
      resourceType: 'RelatedPerson',
      patient: patients.map((reference) => ({ reference })),
    });
    const token = await tokenOf(portico, person);
    expect(await statusOf(token, 'GET', person.profile)).toBe(200);
    for (const patient of patients) {
      expect(await statusOf(token, 'GET', patient)).toBe(200);
      expect(await statusOf(token, 'GET', await about(patient))).toBe(200);
      const { json } = await fhir('GET', patient, { token });
      expect(
        await statusOf(token, 'PUT', patient, { ...json, telecom: [{ system: 'phone', value: '1' }] }),
      ).toBe(200);
      expect(await statusOf(token, 'PUT', patient, { ...json, gender: 'male' })).toBe(403);
    }
    expect(await statusOf(token, 'GET', stranger)).toBe(403);
    expect(await statusOf(token, 'GET', await about(stranger))).toBe(403);
    await mayNothingAdministrative(token);
  });

  test('a RelatedPerson who is linked to nobody reaches the own record alone', async () => {
    const person = await newPerson(portico, { resourceType: 'RelatedPerson' });
    const token = await tokenOf(portico, person);
    expect(await statusOf(token, 'GET', person.profile)).toBe(200);
    expect(await statusOf(token, 'GET', 'Observation')).toBe(403);
    expect(await statusOf(token, 'GET', await created({ resourceType: 'Patient' }))).toBe(403);
  });

  test('a Bot has what a client has', async () => {
    const id = await botThat(
      portico,
      `const made = await medplum.createResource({ resourceType: 'Patient' });
       const status = (path) => medplum.get(path).then(() => 200, (error) => error.outcome.id);
       return [made.id.length > 0, await status('fhir/R4/AccessPolicy'), await status('fhir/R4/Bot/' + event.bot.reference.slice(4))];`,
    );
    const ran = await portico.api('POST', `fhir/R4/Bot/${id}/$execute`, { body: {} });
    expect(ran.json).toEqual([true, 'forbidden', 'forbidden']);
  });
});
