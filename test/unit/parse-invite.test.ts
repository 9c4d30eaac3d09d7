import { describe, expect, test } from '@jest/globals';
import { type Invite, parseInvite } from '../../shared/identity/invitations/parse-invite.ts';
import fc from '../setup/fast-check.ts';

const practitioner = {
  resourceType: 'Practitioner',
  firstName: 'Ann',
  lastName: 'Lee',
  email: 'ann@example.com',
};

/** Names of the fields that were refused. */
function refused(body: unknown): (string | undefined)[] {
  const parsed = parseInvite(body);
  return 'issues' in parsed ? parsed.issues.map(({ expression }) => expression) : [];
}

function accepted(body: unknown): Invite {
  const parsed = parseInvite(body);
  if ('issues' in parsed) throw new Error(JSON.stringify(parsed.issues));
  return parsed.invite;
}

describe('parseInvite', () => {
  test.each([
    'resourceType',
    'firstName',
    'lastName',
    'email',
    'externalId',
    'sendEmail',
    'admin',
    'accessPolicy',
    'access',
    'scope',
    'patient',
    'profile',
    'authentication',
    'mfaRequired',
    'upsert',
    'relationship',
    'password',
  ])('refuses a %s that is no text, nor anything else that it may be', (field) => {
    const odd = { toString: 1 };
    expect(refused({ ...practitioner, [field]: odd })).not.toEqual([]);
    expect(refused({ ...practitioner, scope: 'project', [field]: odd })).not.toEqual([]);
  });

  test('takes the least that an invite needs', () => {
    expect(accepted(practitioner)).toEqual({
      profileType: 'Practitioner',
      firstName: 'Ann',
      lastName: 'Lee',
      email: 'ann@example.com',
      externalId: undefined,
      scope: 'server',
      sendEmail: true,
      rights: {},
      profile: undefined,
      upsert: false,
      forceNewMembership: false,
      newProfile: false,
      relationship: undefined,
      password: undefined,
    });
  });

  test('names every wrong field, not only the first', () => {
    expect(refused({})).toEqual(['resourceType', 'email', 'firstName', 'lastName']);
  });

  test.each([null, undefined, 1, 'x', true, [], [practitioner]])('refuses %j as a body', (body) => {
    expect(parseInvite(body)).toEqual({ issues: [{ text: 'The body must be a JSON object' }] });
  });

  test.each<[Record<string, unknown>, string]>([
    [{ resourceType: 'Bot' }, 'resourceType'],
    [{ resourceType: 'patient' }, 'resourceType'],
    [{ resourceType: ['Patient'] }, 'resourceType'],
    [{ firstName: '' }, 'firstName'],
    [{ firstName: '  ' }, 'firstName'],
    [{ firstName: 7 }, 'firstName'],
    [{ firstName: 'Eve\r\nBcc: x' }, 'firstName'],
    [{ firstName: 'Eve\n' }, 'firstName'],
    [{ firstName: '\tEve' }, 'firstName'],
    [{ firstName: 'Eve\u2028Bcc: x' }, 'firstName'],
    [{ lastName: 'Lee\u0000' }, 'lastName'],
    [{ lastName: 'Lee\ud800' }, 'lastName'],
    [{ lastName: 'x'.repeat(201) }, 'lastName'],
    [{ email: 'a@b' }, 'email'],
    [{ email: 7 }, 'email'],
    [{ email: ['ann@example.com'] }, 'email'],
    [{ email: null }, 'email'],
    [{ externalId: '' }, 'externalId'],
    [{ externalId: ' ' }, 'externalId'],
    [{ externalId: 7 }, 'externalId'],
    [{ externalId: 'x'.repeat(256) }, 'externalId'],
    [{ externalId: 'a\nb' }, 'externalId'],
    [{ scope: 'world' }, 'scope'],
    [{ email: undefined, externalId: 'e1', scope: 'server' }, 'scope'],
    [{ sendEmail: 'yes' }, 'sendEmail'],
    [{ sendEmail: 1 }, 'sendEmail'],
    [{ admin: 'true' }, 'admin'],
    [{ admin: true, resourceType: 'Patient' }, 'admin'],
    [{ admin: true, resourceType: 'RelatedPerson' }, 'admin'],
    [{ membership: { admin: true }, resourceType: 'Patient' }, 'admin'],
    [{ membership: [] }, 'membership'],
    [{ membership: 'x' }, 'membership'],
    [{ accessPolicy: 'AccessPolicy/1' }, 'accessPolicy'],
    [{ accessPolicy: { reference: 'Patient/1' } }, 'accessPolicy'],
    [{ accessPolicy: { reference: 'https://example.com/fhir/AccessPolicy/1' } }, 'accessPolicy'],
    [{ accessPolicy: { reference: 'AccessPolicy/1/_history/2' } }, 'accessPolicy'],
    [{ accessPolicy: { reference: 'AccessPolicy/../x' } }, 'accessPolicy'],
    [{ membership: { accessPolicy: { reference: 'Patient/1' } } }, 'accessPolicy'],
    [{ access: {} }, 'access'],
    [{ access: Array(21).fill({ policy: { reference: 'AccessPolicy/1' } }) }, 'access'],
    [{ access: [{}] }, 'access[0].policy'],
    [{ access: [null] }, 'access[0]'],
    [{ access: [accessWith({ name: '%x', valueString: 'a' })] }, 'access[0].parameter[0].name'],
    [{ access: [accessWith({ name: 'x' })] }, 'access[0].parameter[0]'],
    [{ patient: { reference: 'Patient/1' } }, 'patient'],
    [{ resourceType: 'RelatedPerson', patient: [] }, 'patient'],
    [{ resourceType: 'RelatedPerson', patient: Array(21).fill({ reference: 'Patient/1' }) }, 'patient'],
    [{ resourceType: 'RelatedPerson', patient: { reference: 'Practitioner/1' } }, 'patient'],
    [{ relationship: 'mother' }, 'relationship'],
    ...[
      1,
      '',
      [],
      {},
      { coding: [] },
      { text: 'a', extra: 1 },
      { text: 'a\nb' },
      { coding: [{ code: 'MTH' }] },
    ].map((relationship): [Record<string, unknown>, string] => [
      { resourceType: 'RelatedPerson', relationship },
      'relationship',
    ]),
    [{ profile: { reference: 'Patient/1' } }, 'profile'],
    [{ profile: 'Practitioner/1' }, 'profile'],
    [{ membership: { profile: { reference: 'https://example.com/Practitioner/1' } } }, 'profile'],
    [{ upsert: 'true' }, 'upsert'],
    [{ forceNewMembership: 1 }, 'forceNewMembership'],
    [{ authentication: 'none' }, 'authentication'],
    [{ authentication: { issuer: 'javascript:alert(1)' } }, 'authentication'],
    [{ authentication: { issuer: 'http://issuer.example' } }, 'authentication'],
    [{ mfaRequired: 'yes' }, 'mfaRequired'],
    [{ password: 'correct horse' }, 'password'],
    [{ scope: 'project', password: 'short' }, 'password'],
    [{ scope: 'project', password: 'x'.repeat(257) }, 'password'],
    [{ scope: 'project', password: 12345678 }, 'password'],
  ])('refuses %j', (change, field) => {
    expect(refused({ ...practitioner, ...change })).toEqual([field]);
  });

  test.each([
    [undefined, true],
    [null, true],
    [true, true],
    ['true', true],
    [false, false],
    ['false', false],
  ])('reads sendEmail %j as %j', (sendEmail, asked) => {
    expect(accepted({ ...practitioner, sendEmail }).sendEmail).toBe(asked);
  });

  test('takes the rights inside `membership` before those beside it', () => {
    const { rights } = accepted({
      ...practitioner,
      admin: true,
      accessPolicy: { reference: 'AccessPolicy/outer' },
      membership: { admin: false, accessPolicy: { reference: 'AccessPolicy/inner' } },
    });
    expect(rights).toEqual({ admin: false, accessPolicy: { reference: 'AccessPolicy/inner' } });
  });

  test('ignores what belongs to the server, and fields that it does not know', () => {
    const hostile = {
      ...practitioner,
      id: 'mine',
      meta: { project: 'other' },
      membership: {
        id: 'mine',
        project: { reference: 'Project/other' },
        user: { reference: 'User/other' },
        meta: { project: 'other' },
        active: true,
        invitedBy: { reference: 'Practitioner/other' },
      },
      __unknown: 1,
    };
    expect(accepted(hostile)).toEqual(accepted(practitioner));
  });

  test('a person without e-mail address lives in the Project', () => {
    const invite = accepted({ ...practitioner, email: undefined, externalId: 'e1' });
    expect(invite).toMatchObject({ scope: 'project', email: undefined, externalId: 'e1' });
  });

  test('names are text: markup and letters of every script stay', () => {
    const names = { firstName: '<b>\u674e</b>', lastName: "O'Neil & \u0160" };
    expect(accepted({ ...practitioner, ...names })).toMatchObject(names);
  });

  test('`__proto__` and `constructor` as keys change nothing', () => {
    const text = JSON.stringify(practitioner).replace(
      '{',
      '{"__proto__":{"admin":true,"upsert":true},"constructor":{"prototype":{"admin":true}},"membership":{"__proto__":{"admin":true,"profile":{"reference":"Practitioner/1"}}},',
    );
    expect(accepted(JSON.parse(text))).toEqual(accepted(practitioner));
    expect(({} as Record<string, unknown>).admin).toBeUndefined();
  });

  test('answers any JSON with an invite or with issues, and leaves Object.prototype alone', () => {
    const before = Object.getOwnPropertyNames(Object.prototype);
    const value = fc.jsonValue({ maxDepth: 4 });
    const hostile = fc.oneof(value, fc.constantFrom('__proto__', 'constructor', 'Patient/1', 'a@b.de'));
    const fields = [
      ...['resourceType', 'firstName', 'lastName', 'email', 'externalId', 'scope', 'sendEmail', 'admin'],
      ...['accessPolicy', 'access', 'patient', 'profile', 'authentication', 'mfaRequired', 'upsert'],
      ...['forceNewMembership', 'password', 'membership', 'relationship', '__proto__', 'constructor'],
    ];
    const rights = fc.dictionary(fc.constantFrom(...fields), hostile, { maxKeys: 8 });
    const body = fc.oneof(
      value,
      fc.tuple(rights, rights).map(([outer, membership]) => ({ ...practitioner, ...outer, membership })),
    );
    fc.assert(
      fc.property(body, (any) => {
        const parsed = parseInvite(JSON.parse(JSON.stringify(any)));
        if ('issues' in parsed) expect(parsed.issues.length).toBeGreaterThan(0);
        else expect(Object.getPrototypeOf(parsed.invite.rights)).toBe(Object.prototype);
      }),
      { numRuns: 2000 },
    );
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
  });

  test('refuses more `access` than an item of the table holds', () => {
    const long = { name: 'x', valueString: '\u00e9'.repeat(20_000) };
    expect(refused({ ...practitioner, access: [accessWith(long)] })).toEqual(['access']);
    const many = Array(2000).fill({ name: 'x', valueString: 'a' });
    expect(refused({ ...practitioner, access: [accessWith(...many)] })).toEqual(['access']);
  });
});

function accessWith(...parameter: unknown[]) {
  return { policy: { reference: 'AccessPolicy/1' }, parameter };
}
