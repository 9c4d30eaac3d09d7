import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asStored, expectRefused, type Inviting, invitationOf, inviting, person } from './inviting.ts';
import { isDeployed, type Portico, startPortico } from './portico.ts';

let portico: Portico;
let at: Inviting;

beforeAll(async () => {
  portico = await startPortico();
  at = inviting(portico);
});
afterAll(() => portico.stop());

const policy = { resourceType: 'AccessPolicy', name: 'Nurse', resource: [{ resourceType: 'Patient' }] };

const alreadyInvited = 'User is already invited to this project with another type, policy or role';

describe('an invite', () => {
  test.each(['Patient', 'Practitioner', 'RelatedPerson'])(
    'of a %s answers with a pending membership',
    async (type) => {
      const body = person({ resourceType: type });
      const answer = await at.invite(body);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('application/fhir+json; charset=utf-8');
      expect(answer.json).toMatchObject({
        resourceType: 'ProjectMembership',
        id: expect.any(String),
        meta: { versionId: expect.any(String), lastUpdated: expect.any(String), project: at.project },
        project: { reference: `Project/${at.project}` },
        user: { reference: expect.stringMatching(/^User\/[0-9a-f-]{36}$/), display: 'Ann Lee' },
        profile: { reference: expect.stringMatching(`^${type}/[0-9a-f-]{36}$`), display: 'Ann Lee' },
        active: false,
        invitedBy: { reference: `ClientApplication/${portico.projects[0]?.clientId}` },
      });
      const { state, expires, mailRequested } = invitationOf(answer);
      expect({ state, mailRequested }).toEqual({ state: 'pending', mailRequested: false });
      const days = (Date.parse(String(expires)) - Date.now()) / 86_400_000;
      expect(days).toBeGreaterThan(6.9);
      expect(days).toBeLessThanOrEqual(7);
      expect(answer.text).not.toMatch(/secret/i);

      const profile = (await portico.api('GET', `fhir/R4/${answer.json.profile.reference}`)).json;
      expect(profile).toMatchObject({
        resourceType: type,
        name: [{ given: ['Ann'], family: 'Lee' }],
        telecom: [{ system: 'email', use: 'work', value: body.email }],
      });
    },
  );

  test('of a RelatedPerson without a patient says so in the resource', async () => {
    const { json } = await at.invite(person({ resourceType: 'RelatedPerson' }));
    const profile = (await portico.api('GET', `fhir/R4/${json.profile.reference}`)).json;
    expect(profile.patient.extension).toEqual([
      { url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' },
    ]);
  });

  test.each([
    [
      'a coded one',
      { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-RoleCode', code: 'MTH' }] },
    ],
    ['a text', 'foster mother'],
  ])('of a RelatedPerson says how they are related: %s', async (_how, relationship) => {
    const { json } = await at.invite(person({ resourceType: 'RelatedPerson', relationship }));
    const profile = (await portico.api('GET', `fhir/R4/${json.profile.reference}`)).json;
    expect(profile.relationship).toEqual([
      typeof relationship === 'string' ? { text: relationship } : relationship,
    ]);
  });

  test('of a RelatedPerson keeps all patients, the resource the first', async () => {
    const patients = await Promise.all([1, 2].map(() => at.create({ resourceType: 'Patient' })));
    const patient = patients.map((reference) => ({ reference }));
    const { json } = await at.invite(person({ resourceType: 'RelatedPerson', patient }));
    expect(json.patient).toEqual(patient);
    const profile = (await portico.api('GET', `fhir/R4/${json.profile.reference}`)).json;
    expect(profile.patient).toEqual(patient[0]);
  });

  test.each(['application/json', 'application/fhir+json', 'application/json; charset=utf-8'])(
    'is read as %s',
    async (type) => {
      const answer = await at.invite(JSON.stringify(person()), { 'content-type': type });
      expect(answer.status).toBe(200);
    },
  );

  test('gives the role and the policy that it names', async () => {
    const reference = await at.create(policy);
    const access = [{ policy: { reference }, parameter: [{ name: 'ward', valueString: 'A 1' }] }];
    const { json } = await at.invite(person({ admin: true, accessPolicy: { reference }, access }));
    expect(json).toMatchObject({ admin: true, accessPolicy: { reference }, access });
    const stored = await portico.api('GET', `admin/projects/${at.project}/members/${json.id}`);
    expect(stored.json).toEqual(asStored(json));
  });

  test('takes what stands inside `membership` before what stands beside it', async () => {
    const reference = await at.create(policy);
    const { json } = await at.invite(
      person({ admin: true, membership: { admin: false, accessPolicy: { reference } } }),
    );
    expect(json).toMatchObject({ admin: false, accessPolicy: { reference } });
  });

  test('binds an existing profile that nobody uses', async () => {
    const reference = await at.create({ resourceType: 'Practitioner' });
    const { json } = await at.invite(person({ profile: { reference } }));
    expect(json.profile.reference).toBe(reference);
  });

  test('takes no profile over that another member uses', async () => {
    const { profile } = (await at.invite(person())).json;
    const answer = await at.invite(person({ profile: { reference: profile.reference } }));
    expectRefused(answer, 409, 'Profile is already used by another member of this project');
  });

  test('of a person without e-mail address makes a User of this Project', async () => {
    const externalId = `ext-${randomUUID()}`;
    const body = { ...person(), email: undefined, externalId };
    const answer = await at.invite(body);
    expect(answer.json).toMatchObject({ externalId, active: false });
    expect((await at.invite(body)).json.id).toBe(answer.json.id);
    const other = await at.inviteByOther(body);
    expect(other.json.user.reference).not.toBe(answer.json.user.reference);
  });

  test('leads to the same person by the second name that an earlier one gave', async () => {
    const both = person({ scope: 'project', externalId: `ext-${randomUUID()}` });
    const first = await at.invite(both);
    const byAddress = await at.invite({ ...both, externalId: undefined });
    const byExternalId = await at.invite({ ...both, email: undefined });
    expect([byAddress.status, byAddress.json.id]).toEqual([200, first.json.id]);
    expect([byExternalId.status, byExternalId.json.id]).toEqual([200, first.json.id]);
  });

  test('is refused when its two names belong to two people', async () => {
    const [one, two] = [1, 2].map(() => person({ scope: 'project', externalId: `ext-${randomUUID()}` }));
    await Promise.all([at.invite(one), at.invite(two)]);
    const mixed = await at.invite({ ...one, email: two?.email });
    expectRefused(
      mixed,
      409,
      'A user with this external ID or e-mail address already exists in this project',
    );
    const late = await at.invite({ ...person(), email: one?.email });
    expectRefused(late, 409, 'User is already invited to this project with another scope');
  });

  test.each<[unknown, boolean]>([
    [true, true],
    ['true', true],
    [undefined, true],
    [null, true],
    [false, false],
    ['false', false],
  ])('reads sendEmail %j as %j', async (sendEmail, asked) => {
    expect(invitationOf(await at.invite(person({ sendEmail }))).mailRequested).toBe(asked);
  });

  test('knows one address however it is written', async () => {
    const id = randomUUID();
    const first = await at.invite(person({ email: `jos\u00e9-${id}@b\u00fccher.example` }));
    for (const email of [`Jose\u0301-${id}@B\u00dcCHER.example`, `jos\u00e9-${id}@xn--bcher-kva.example`]) {
      expect((await at.invite(person({ email }))).json.id).toBe(first.json.id);
    }
    const other = await at.invite(person({ email: `jose-${id}@b\u00fccher.example` }));
    expect(other.json.user.reference).not.toBe(first.json.user.reference);
  });

  test('ignores what belongs to the server', async () => {
    const other = portico.projects[1]?.id;
    const text = JSON.stringify({
      ...person(),
      id: 'mine',
      membership: {
        id: 'mine',
        active: true,
        project: { reference: `Project/${other}` },
        user: { reference: 'User/mine' },
        invitedBy: { reference: 'Practitioner/mine' },
        meta: { project: other, versionId: 'mine' },
      },
    });
    const { status, json } = await at.invite(text, { 'content-type': 'application/json' });
    expect(status).toBe(200);
    expect(json).toMatchObject({ active: false, project: { reference: `Project/${at.project}` } });
    expect(JSON.stringify(json)).not.toContain('mine');
    expect(json.admin).toBeUndefined();
  });

  test('keeps markup in names as text', async () => {
    const { json } = await at.invite(person({ firstName: '<img src=x>', lastName: 'https://evil.example' }));
    expect(json.user.display).toBe('<img src=x> https://evil.example');
  });
});

describe('an invite is refused', () => {
  test('with one issue for each wrong field', async () => {
    const answer = await at.invite({ resourceType: 'Bot', firstName: '', email: 'a@b', sendEmail: 1 });
    expect(answer.status).toBe(400);
    expect(answer.json.issue.map((issue: { expression: string[] }) => issue.expression)).toEqual([
      ['resourceType'],
      ['email'],
      ['firstName'],
      ['lastName'],
      ['sendEmail'],
    ]);
  });

  test.each<[string, Record<string, unknown>, string, string]>([
    ['no type', { resourceType: undefined }, 'resourceType', 'Resource type is required'],
    ['no first name', { firstName: undefined }, 'firstName', 'First name is required'],
    ['no last name', { lastName: ' ' }, 'lastName', 'Last name is required'],
    ['neither address nor external id', { email: undefined }, 'email', 'Valid email address is required'],
    [
      'an address with a display name',
      { email: 'Bob <b@x.com>' },
      'email',
      'Valid email address is required',
    ],
    ['a list of addresses', { email: 'b@x.com, c@x.com' }, 'email', 'Valid email address is required'],
    [
      'an address with a header',
      { email: 'b@x.com\r\nBcc: c@x.com' },
      'email',
      'Valid email address is required',
    ],
    ['an address with a path', { email: 'b@x.com/evil' }, 'email', 'Valid email address is required'],
    [
      'an address of 255',
      { email: `b@${'x'.repeat(60)}.${'y.'.repeat(95)}com` },
      'email',
      'Valid email address is required',
    ],
    ['an empty external id', { externalId: '' }, 'externalId', 'External ID cannot be empty'],
    [
      'a name with a header',
      { firstName: 'Eve\r\nBcc: x' },
      'firstName',
      'First name must not contain control characters',
    ],
    [
      'a name that ends its line',
      { lastName: 'Eve\n' },
      'lastName',
      'Last name must not contain control characters',
    ],
    [
      'an administrating Patient',
      { resourceType: 'Patient', admin: true },
      'admin',
      'A Patient cannot be an administrator',
    ],
    [
      'a password for a User above Projects',
      { password: 'correct horse' },
      'password',
      'Only the user may set the password of a user above Projects',
    ],
  ])('for %s', async (_, change, field, text) => {
    expectRefused(await at.invite(person(change)), 400, text, field);
  });

  test.each([
    ['malformed', '{"resourceType":', 400],
    ['empty', '', 400],
    ['null', 'null', 400],
    ['an array', '[]', 400],
    ['text', '"x"', 400],
    ['half of a character', '{"resourceType":"Patient","firstName":"\\ud83d","lastName":"Lee"}', 400],
    ['with __proto__', '{"__proto__":{"admin":true},"resourceType":"Patient"}', 400],
  ])('for a body that is %s', async (_, text, status) => {
    const answer = await at.invite(text, { 'content-type': 'application/json' });
    expect(answer.status).toBe(status);
    expect(answer.json.resourceType).toBe('OperationOutcome');
  });

  test('for another content type', async () => {
    const answer = await at.invite('a=b', { 'content-type': 'application/x-www-form-urlencoded' });
    expect(answer.status).toBe(415);
    expect(answer.json.resourceType).toBe('OperationOutcome');
  });

  test.each([
    ['unknown', async () => 'AccessPolicy/11111111-2222-4333-8444-555555555555'],
    ['of another Project', async () => at.create(policy, await portico.token(portico.projects[1]))],
  ])('for a policy that is %s', async (_, make) => {
    const reference = await make();
    const text = `Access policy ${reference} does not exist`;
    expectRefused(await at.invite(person({ accessPolicy: { reference } })), 400, text, 'accessPolicy');
    const nested = await at.invite(person({ membership: { access: [{ policy: { reference } }] } }));
    expectRefused(nested, 400, text, 'access[0].policy');
  });

  test.each([
    ['policy', { accessPolicy: { reference: 'Patient/1' } }, 'accessPolicy'],
    [
      'policy by an absolute address',
      { accessPolicy: { reference: 'https://x.example/AccessPolicy/1' } },
      'accessPolicy',
    ],
    ['profile', { profile: { reference: 'Patient/1' } }, 'profile'],
    [
      'profile by an absolute address',
      { profile: { reference: 'https://x.example/Practitioner/1' } },
      'profile',
    ],
  ])('for a %s of the wrong form or type', async (_, change, field) => {
    const answer = await at.invite(person(change));
    expect([answer.status, answer.json.issue[0].expression]).toEqual([400, [field]]);
  });

  test('for a profile or a patient that is unknown or of another Project', async () => {
    const token = await portico.token(portico.projects[1]);
    const profiles = ['Practitioner/none', await at.create({ resourceType: 'Practitioner' }, token)];
    for (const reference of profiles) {
      const answer = await at.invite(person({ profile: { reference } }));
      expectRefused(answer, 400, 'Profile does not belong to project', 'profile');
    }
    const patients = ['Patient/none', await at.create({ resourceType: 'Patient' }, token)];
    for (const reference of patients) {
      const answer = await at.invite(person({ resourceType: 'RelatedPerson', patient: { reference } }));
      expectRefused(answer, 400, `${reference} does not exist`, 'patient');
    }
  });

  if (!isDeployed) {
    test('and leaves nothing behind, not even a User', async () => {
      const before = await portico.local.scan();
      for (const change of [
        { accessPolicy: { reference: 'AccessPolicy/none' } },
        { profile: { reference: 'Practitioner/none' } },
        { lastName: '' },
      ]) {
        expect((await at.invite(person({ ...change, sendEmail: true }))).status).toBe(400);
      }
      expect(withoutCounters(await portico.local.scan())).toEqual(withoutCounters(before));
    });
  }
});

describe('a person who is invited again', () => {
  test('at once: the same membership, link and end', async () => {
    const body = person();
    const first = await at.invite(body);
    const again = await at.invite(body);
    expect(again.status).toBe(200);
    expect([invitationOf(first).outcome, invitationOf(again).outcome]).toEqual(['created', 'kept']);
    expect(asStored(again.json)).toEqual(asStored(first.json));
  });

  test('with another type, policy or role: refused, unless upsert', async () => {
    const reference = await at.create(policy);
    const body = person();
    const first = await at.invite(body);
    const changes = [{ accessPolicy: { reference } }, { admin: true }, { resourceType: 'Patient' }];
    for (const change of changes) expectRefused(await at.invite({ ...body, ...change }), 409, alreadyInvited);

    const upserted = await at.invite({ ...body, accessPolicy: { reference }, upsert: true });
    expect(upserted.json).toMatchObject({ id: first.json.id, accessPolicy: { reference } });
    const kept = await at.invite({ ...body, admin: true, upsert: true });
    expect(kept.json).toMatchObject({ id: first.json.id, accessPolicy: { reference }, admin: true });
  });

  test('as another type with upsert: the other invitation ends, its profile stays and comes back', async () => {
    const body = person();
    const first = await at.invite(body);
    const asPatient = await at.invite({ ...body, resourceType: 'Patient', upsert: true });
    expect(asPatient.json.profile.reference).toMatch(/^Patient\//);
    expect(asPatient.json.user.reference).toBe(first.json.user.reference);
    const ended = await portico.api('GET', `admin/projects/${at.project}/members/${first.json.id}`);
    expect(ended.status).toBe(404);
    expect((await portico.api('GET', `fhir/R4/${first.json.profile.reference}`)).status).toBe(200);

    const back = await at.invite({ ...body, upsert: true });
    expect(back.json.profile.reference).toBe(first.json.profile.reference);
    expect(back.json.id).not.toBe(first.json.id);
  });

  test('as another type with forceNewMembership: two memberships of one User', async () => {
    const body = person();
    const first = await at.invite(body);
    const second = await at.invite({ ...body, resourceType: 'Patient', forceNewMembership: true });
    expect(second.status).toBe(200);
    expect(second.json.user.reference).toBe(first.json.user.reference);
    const kept = await portico.api('GET', `admin/projects/${at.project}/members/${first.json.id}`);
    expect(kept.status).toBe(200);
  });

  test('by another Project: another membership and profile, the same User and the same answer', async () => {
    const body = person();
    const first = await at.invite(body);
    const second = await at.inviteByOther(body);
    expect(second.status).toBe(200);
    expect(second.json.user).toEqual(first.json.user);
    expect(second.json.profile.reference).not.toBe(first.json.profile.reference);
    expect(shape(second.json)).toEqual(shape(first.json));
    expect([...second.headers.keys()].sort()).toEqual([...first.headers.keys()].sort());
  });

  test('by another Project under another name: nobody learns the first', async () => {
    const body = person({ firstName: 'Maiden', lastName: 'Name' });
    await at.invite(body);
    const second = await at.inviteByOther({ ...body, firstName: 'Other', lastName: 'Name' });
    expect(second.text).not.toContain('Maiden');
    expect(second.json.user.display).toBe('Other Name');
  });
});

/** Types and keys of a JSON value, without the values. */
function shape(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shape);
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shape(part)]));
}

function withoutCounters(items: { pk: string; sk: string }[]): string[] {
  return items
    .map(({ pk, sk }) => `${pk} ${sk}`)
    .filter((key) => !/#RATE#|^L#|#AuditEvent#/.test(key))
    .sort();
}
