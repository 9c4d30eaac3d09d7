import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newPerson, type TestPerson, tokenOf } from './people.ts';
import { type Portico, startPortico } from './portico.ts';
import { createClient, createPolicy, projectOf } from './running.ts';
import { until } from './subscribing.ts';

interface Part {
  name: string;
  valueString?: string;
  valueBoolean?: boolean;
  resource?: { resourceType: string; id: string };
}

let portico: Portico;
let nurse: TestPerson;
let plain: TestPerson;
const ids: Record<string, string> = {};
beforeAll(async () => {
  portico = await startPortico();
  for (const [name, gender] of [
    ['Allowed', 'female'],
    ['Allowed', 'male'],
    ['Hidden', 'female'],
  ]) {
    const body = {
      resourceType: 'Patient',
      name: [{ family: name, given: ['Pat'] }],
      gender,
      telecom: [{ system: 'phone', value: '555-0101' }],
    };
    ids[`${name} ${gender}`] = (await portico.api('POST', 'fhir/R4/Patient', { body })).json.id;
  }
  const accessPolicy = await createPolicy(portico, [
    {
      resourceType: 'Patient',
      criteria: 'Patient?family=Allowed',
      readonly: true,
      hiddenFields: ['telecom'],
    },
  ]);
  nurse = await newPerson(portico, { accessPolicy });
  plain = await newPerson(portico);
});
afterAll(() => portico.stop());

async function explain(person: Pick<TestPerson, 'membershipId'>, body: object, token?: string) {
  const path = `fhir/R4/ProjectMembership/${person.membershipId}/$explain`;
  const answer = await portico.api('POST', path, { body, ...(token ? { token } : {}) });
  const parameters: (Part & { part?: Part[] })[] = answer.json.parameter ?? [];
  const textOf = (name: string) => parameters.find((one) => one.name === name)?.valueString;
  const seen = parameters.flatMap(({ part }) => {
    const texts = (name: string) =>
      (part ?? []).filter((one) => one.name === name).map((one) => one.valueString);
    const resource = part?.find(({ name }) => name === 'resource')?.resource;
    return resource ? [{ resource, hidden: texts('hidden'), rules: texts('rule') }] : [];
  });
  return { status: answer.status, seen, why: textOf('why'), next: textOf('next') };
}

const idsOf = (seen: { resource: { id: string } }[]) => seen.map(({ resource }) => resource.id).sort();
const allowed = () => [ids['Allowed female'], ids['Allowed male']].sort();

describe('$explain', () => {
  test('finds what the member finds, element for element, and says which rule lets them', async () => {
    const token = await tokenOf(portico, nurse);
    const own = await portico.api('GET', 'fhir/R4/Patient', { token });
    const { seen } = await explain(nurse, { search: 'Patient' });
    expect(idsOf(seen)).toEqual(allowed());
    const bare = (one: { resource: object }) => JSON.stringify(one.resource);
    expect(seen.map(bare).sort()).toEqual(own.json.entry.map(bare).sort());
    expect(JSON.stringify(seen)).not.toContain('555-0101');
    expect(seen[0]?.hidden).toContain('telecom');
    expect(seen[0]?.rules).toEqual([expect.stringMatching(/^May read Patients .*Allowed.*without telecom/)]);
  });

  test('tells of one record why it is seen, or is not', async () => {
    const seen = await explain(nurse, { resource: `Patient/${ids['Allowed male']}` });
    expect(seen.seen[0]?.rules).toHaveLength(1);
    const hidden = await explain(nurse, { resource: `Patient/${ids['Hidden female']}` });
    expect([hidden.seen, hidden.why]).toEqual([[], 'None of their rules for Patient matches this record.']);
    const other = await explain(nurse, { search: 'Observation' });
    expect([other.seen, other.why]).toEqual([[], 'None of their rules lets them search Observation.']);
    const byPhone = await explain(nurse, { search: 'Patient?phone=555-0101' });
    expect([byPhone.seen, byPhone.why]).toEqual([[], 'They may not search by phone: their rules hide it.']);
  });

  test('tells of default rights, and page by page', async () => {
    const first = await explain(plain, { search: 'Patient?_count=2&_sort=_id' });
    const second = await explain(plain, { search: String(first.next) });
    expect(first.seen[0]?.rules[0]).toMatch(/^May /);
    const found = [...idsOf(first.seen), ...idsOf(second.seen)];
    expect(found).toEqual(expect.arrayContaining(Object.values(ids)));
    expect(new Set(found).size).toBe(found.length);
  });

  test('shows an administrator no more than they may see themselves', async () => {
    const accessPolicy = await createPolicy(portico, [
      { resourceType: 'Patient', criteria: 'Patient?gender=female' },
      { resourceType: 'ProjectMembership', readonly: true },
    ]);
    const { token } = await createClient(portico, { admin: true, accessPolicy });
    expect(idsOf((await explain(nurse, { search: 'Patient' }, token)).seen)).toEqual([ids['Allowed female']]);
    expect((await explain(nurse, { resource: `Patient/${ids['Allowed male']}` }, token)).status).toBe(403);
    expect((await explain(plain, { search: 'Observation' }, token)).status).toBe(403);
  });

  test('is for administrators, and of members of their own Project', async () => {
    const token = await tokenOf(portico, plain);
    expect((await explain(nurse, { search: 'Patient' }, token)).status).toBe(403);
    const elsewhere = await portico.token(projectOf(portico, 1));
    expect((await explain(nurse, { search: 'Patient' }, elsewhere)).status).toBe(404);
    expect((await explain({ membershipId: 'none' }, { search: 'Patient' })).status).toBe(404);
  });

  test.each([
    {},
    { resource: 'Patient/x', search: 'Patient' },
    { search: 'Shoe?size=1' },
    { search: 'User' },
    { search: 'Patient?shoe-size=1' },
    { search: 4 },
  ])('refuses %j', async (body) => {
    expect((await explain(nurse, body)).status).toBe(400);
  });

  test('is in the audit log under the administrator, and makes no login', async () => {
    const logins = async () => (await portico.local.scan()).filter(({ kind }) => kind === 'person').length;
    const before = await logins();
    await explain(nurse, { search: 'Patient?family=Allowed' });
    expect(await logins()).toBe(before);
    const query = `subtype=view-as&entity=ProjectMembership/${nurse.membershipId}`;
    // What leads to an entry by kind and by what it is about follows it.
    const resource = await until(async () => {
      const { json } = await portico.api('GET', `fhir/R4/AuditEvent?${query}`);
      return json.entry[0]?.resource;
    }, 'the entry is found');
    expect(resource.agent[0].who.reference).toMatch(/^ClientApplication\//);
    expect(JSON.stringify(resource)).not.toContain('Allowed');
  });
});
