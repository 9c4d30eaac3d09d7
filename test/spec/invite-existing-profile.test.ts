import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Inviting, inviting, person } from './inviting.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';

let portico: Portico;
let at: Inviting;
beforeAll(async () => {
  portico = await startPortico();
  at = inviting(portico);
});
afterAll(() => portico.stop());

const telecom = (value: string, system = 'email') => [
  { system: 'phone', value: '1' },
  { system, value },
];

function withAddress(email: string, change: object = {}, token?: string): Promise<string> {
  return at.create({ resourceType: 'Practitioner', telecom: telecom(email), ...change }, token);
}

/** 409, an issue for each profile, and nothing written. */
async function expectListed(answer: Answer, references: readonly string[], email: string) {
  expect([answer.status, answer.json.id]).toEqual([409, 'conflict']);
  const issues = answer.json.issue as { diagnostics: string; details: { text: string } }[];
  expect(issues.map(({ diagnostics }) => diagnostics).sort()).toEqual([...references].sort());
  for (const { diagnostics, details } of issues) {
    expect(details.text).toBe(
      `${diagnostics} has this e-mail address and is nobody's profile: name it as profile, or send newProfile: true`,
    );
  }
  expect(issues.every((issue) => 'expression' in issue && String(issue.expression) === 'profile')).toBe(true);
  expect((await portico.local.scan()).filter(({ pk }) => pk === `E#${email.toLowerCase()}`)).toEqual([]);
}

describe('an invitation of somebody whose profile is there already', () => {
  test('is 409 and lists it; naming it binds it', async () => {
    const body = person();
    const reference = await withAddress(body.email);
    await expectListed(await at.invite(body), [reference], body.email);
    const bound = await at.invite({ ...body, profile: { reference } });
    expect([bound.status, bound.json.profile.reference]).toEqual([200, reference]);
    // It is somebody's now.
    expect((await at.invite({ ...body, email: person().email })).status).toBe(200);
  });

  test('makes another with newProfile: true', async () => {
    const body = person();
    const reference = await withAddress(body.email);
    const made = await at.invite({ ...body, newProfile: true });
    expect(made.status).toBe(200);
    expect(made.json.profile.reference).not.toBe(reference);
  });

  test('lists all of them, and no bound one', async () => {
    const body = person();
    const references = [await withAddress(body.email), await withAddress(body.email)];
    const bound = await withAddress(body.email);
    const other = await at.invite(person({ profile: { reference: bound } }));
    expect(other.status).toBe(200);
    await expectListed(await at.invite(body), references, body.email);
  });

  test.each([
    ['in capitals', (email: string) => email.toUpperCase()],
    ['with another address before it', (email: string) => email],
    [
      'of an international domain, as it is read',
      (email: string) => email.replace('example.com', 'bücher.example'),
    ],
    [
      'of an international domain, as it is sent',
      (email: string) => email.replace('example.com', 'xn--bcher-kva.example'),
    ],
  ])('finds the address %s', async (_, written) => {
    const { email } = person();
    const more = [{ system: 'email', value: 'other@example.org' }, ...telecom(written(email))];
    const reference = await withAddress(email, { telecom: more });
    const asked = written(email).replace('bücher', 'xn--bcher-kva');
    await expectListed(await at.invite(person({ email: asked })), [reference], asked);
  });

  test.each(['Patient', 'RelatedPerson'])('is so for a %s too', async (resourceType) => {
    const body = person({ resourceType });
    const more = resourceType === 'RelatedPerson' ? { patient: { display: 'unknown' } } : {};
    const reference = await withAddress(body.email, { resourceType, ...more });
    await expectListed(await at.invite(body), [reference], body.email);
  });

  test('is so for a person of one Project, and row by row in bulk', async () => {
    const body = person({ scope: 'project' });
    const reference = await withAddress(body.email);
    await expectListed(await at.invite(body), [reference], body.email);
    const path = `admin/projects/${at.project}/invite/bulk`;
    const csv = `resourceType,firstName,lastName,email,newProfile,sendEmail
Practitioner,Ann,Lee,${body.email},,false
Practitioner,Ann,Lee,${body.email},true,false`;
    const bulk = await portico.api('POST', path, { body: csv, headers: { 'content-type': 'text/csv' } });
    expect(bulk.json.results.map(({ status }: { status: number }) => status)).toEqual([409, 200]);
  });
});

describe('no 409', () => {
  test('for another type, another Project, a telephone or an address that the record has no more', async () => {
    const { email } = person();
    await withAddress(email, { resourceType: 'Patient' });
    await withAddress(email, {}, await portico.token(portico.projects[1]));
    await withAddress(email, { telecom: telecom(email, 'phone') });
    const moved = await withAddress(email);
    const body = {
      resourceType: 'Practitioner',
      id: moved.split('/')[1],
      telecom: telecom('gone@example.org'),
    };
    expect((await portico.api('PUT', `fhir/R4/${moved}`, { body })).status).toBe(200);
    const deleted = await withAddress(email);
    expect((await portico.api('DELETE', `fhir/R4/${deleted}`)).status).toBeLessThan(300);
    expect((await at.invite(person({ email }))).status).toBe(200);
  });

  test('for a person who was removed: the noted profile is bound again, whatever else has the address', async () => {
    const body = person();
    const first = await at.invite(body);
    await withAddress(body.email);
    const member = `admin/projects/${at.project}/members/${first.json.id}`;
    expect((await portico.api('DELETE', member)).status).toBe(200);
    const again = await at.invite(body);
    expect([again.status, again.json.profile]).toEqual([200, first.json.profile]);
    expect(
      (await portico.api('DELETE', `admin/projects/${at.project}/members/${again.json.id}`)).status,
    ).toBe(200);
    const another = await at.invite({ ...body, newProfile: true });
    expect(another.status).toBe(200);
    expect(another.json.profile.reference).not.toBe(first.json.profile.reference);
  });

  test('for an invitation that is repeated', async () => {
    const body = person();
    const first = await at.invite(body);
    await withAddress(body.email);
    expect((await at.invite(body)).json.id).toBe(first.json.id);
  });
});

test('newProfile is true or false, and not beside profile', async () => {
  const wrong = await at.invite(person({ newProfile: 'yes' }));
  expect([wrong.status, wrong.json.issue[0].expression]).toEqual([400, ['newProfile']]);
  const profile = { reference: await withAddress(person().email) };
  const both = await at.invite(person({ newProfile: true, profile }));
  expect([both.status, both.json.issue[0].expression]).toEqual([400, ['newProfile']]);
});

test('only administrators of the Project learn of it', async () => {
  const body = person();
  await withAddress(body.email);
  const token = await portico.token(portico.projects[1]);
  const stranger = await portico.api('POST', `admin/projects/${at.project}/invite`, { body, token });
  expect(stranger.status).toBe(403);
  expect(stranger.text).not.toContain('Practitioner/');
});

test('many at once of one record: it is bound once, by name only', async () => {
  const body = person();
  const reference = await withAddress(body.email);
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, i) => at.invite(i % 2 === 0 ? body : { ...body, profile: { reference } })),
  );
  const ok = answers.filter(({ status }) => status === 200);
  expect(ok.length).toBeGreaterThan(0);
  expect(new Set(ok.map(({ json }) => json.profile.reference))).toEqual(new Set([reference]));
  expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
});
