import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type TOTP, URI } from 'otpauth';
import { type Answer, type Portico, startPortico } from './portico.ts';
import { projectOf } from './running.ts';
import { type SigningIn, signingIn } from './signing-in.ts';

let portico: Portico;
let at: SigningIn;
let app: string;
let ann: string;
let bea: string;
/** A relative of both. */
let both: Awaited<ReturnType<typeof relative>>;

beforeAll(async () => {
  portico = await startPortico();
  at = signingIn(portico);
  app = await at.newApp();
  [ann, bea] = await Promise.all([newPatient('Ann'), newPatient('Bea')]);
  both = await relative(ann, bea);
});
afterAll(() => portico.stop());

const scope = 'openid offline_access launch/patient patient/*.rs';

async function newPatient(given: string): Promise<string> {
  const body = { resourceType: 'Patient', name: [{ given: [given], family: 'Kid' }] };
  const reference = `Patient/${(await portico.api('POST', 'fhir/R4/Patient', { body })).json.id}`;
  const observation = { resourceType: 'Observation', status: 'final', code: { text: 'x' } };
  await portico.api('POST', 'fhir/R4/Observation', {
    body: { ...observation, subject: { reference } },
  });
  return reference;
}

const relative = (...patients: string[]) =>
  at.newMember({ resourceType: 'RelatedPerson', patient: patients.map((reference) => ({ reference })) });

const login = (email: string, change: object = {}) => at.login(email, { clientId: app, scope, ...change });
const choose = (body: object) => at.post('auth/profile', body);
const exchange = (code: string) => at.exchange(code, { client_id: app });

/** From the password to tokens, picking a patient when asked. */
async function tokensFor(email: string, patient?: string, change: object = {}): Promise<Answer['json']> {
  const { json } = await login(email, change);
  const step = json.patients
    ? (await choose({ login: json.login, profile: json.profile, patient })).json
    : json;
  const answer = await exchange(step.code);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.json;
}

/** Whose Observations a token finds. */
async function subjectsSeen(token: string): Promise<string[]> {
  const { status, json } = await portico.api('GET', 'fhir/R4/Observation', { token });
  // Who has no rule at all is refused the search.
  expect([200, 403]).toContain(status);
  const found = (json.entry ?? []) as { resource: { subject: { reference: string } } }[];
  return found.map(({ resource }) => resource.subject.reference).sort();
}

async function introspected(token: string): Promise<Answer['json']> {
  const { clientId: client_id, clientSecret: client_secret } = projectOf(portico, 0);
  const body = `${new URLSearchParams({ token, client_id, client_secret })}`;
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return (await portico.api('POST', 'oauth2/introspect', { token: null, body, headers })).json;
}

const idOf = (reference: string) => reference.replace('Patient/', '');

describe('launch/patient, of a person with several patients', () => {
  test('asks which, by name, and the tokens are for that one', async () => {
    const { email, membership } = both;
    const { status, json } = await login(email);
    expect([status, json]).toEqual([
      200,
      {
        login: expect.any(String),
        profile: membership,
        patients: [
          { reference: ann, display: 'Ann Kid' },
          { reference: bea, display: 'Bea Kid' },
        ],
      },
    ]);
    const { code } = (await choose({ login: json.login, profile: membership, patient: bea })).json;
    const tokens = (await exchange(code)).json;
    expect([tokens.patient, tokens.scope]).toEqual([idOf(bea), scope]);
    expect(await subjectsSeen(tokens.access_token)).toEqual([bea]);
    expect(await introspected(tokens.access_token)).toMatchObject({ patient: tokens.patient, scope });
    for (const [of, expected] of [
      [ann, 403],
      [bea, 200],
    ] as const) {
      expect((await portico.api('GET', `fhir/R4/${of}`, { token: tokens.access_token })).status).toBe(
        expected,
      );
    }
    const refreshed = await at.refresh(tokens.refresh_token, { client_id: app });
    expect([refreshed.json.patient, refreshed.json.scope]).toEqual([idOf(bea), scope]);
    expect(await subjectsSeen(refreshed.json.access_token)).toEqual([bea]);
  });

  test.each<[string, unknown]>([
    ['of nobody', 'Patient/none'],
    ['that is no text', { reference: 'Patient/none' }],
    ['that is empty', ''],
    ['of another kind', 'Practitioner/none'],
  ])('refuses a choice %s', async (_, patient) => {
    const { email } = both;
    const { json } = await login(email);
    const answer = await choose({ login: json.login, profile: json.profile, patient });
    expect([answer.status, answer.json.code]).toEqual([400, undefined]);
    const again = await choose({ login: json.login, profile: json.profile, patient: ann });
    expect(again.json.code).toBeDefined();
  });

  test('is not asked of who wants no patient told, and their scopes reach all', async () => {
    const { email } = both;
    const tokens = await tokensFor(email, undefined, { scope: 'patient/*.rs' });
    expect(tokens.patient).toBeUndefined();
    expect(await subjectsSeen(tokens.access_token)).toEqual([ann, bea].sort());
    expect((await introspected(tokens.access_token)).patient).toBeUndefined();
  });

  test('comes after the choice of a membership', async () => {
    const { email, membership } = await relative(ann, bea);
    const other = await at.invite(email, 0, { forceNewMembership: true });
    const { json } = await login(email);
    expect(json.memberships.map(({ id }: { id: string }) => id).sort()).toEqual(
      [membership, other.id].sort(),
    );
    const step = await choose({ login: json.login, profile: membership });
    expect(step.json.patients).toHaveLength(2);
    // The other one has no patients: nothing of the first choice is kept.
    const practitioner = await choose({ login: json.login, profile: other.id });
    expect((await exchange(practitioner.json.code)).json.scope).toBe('openid offline_access patient/*.rs');
  });

  test('comes after the second factor, and not before', async () => {
    const { email } = await relative(ann, bea);
    const { access_token } = await at.signIn(email);
    const { enrollUri } = (await portico.api('GET', 'auth/mfa/status', { token: access_token })).json;
    const totp = URI.parse(enrollUri) as TOTP;
    const codeAt = (later: number) => totp.generate({ timestamp: Date.now() + later * 30_000 });
    await at.post('auth/mfa/enroll', { token: codeAt(0) }, access_token);
    const { json } = await login(email);
    expect(json).toEqual({ login: expect.any(String), mfaRequired: true });
    const step = await at.post('auth/mfa/verify', { login: json.login, token: codeAt(1) });
    expect(step.json.patients).toHaveLength(2);
    const { code } = (await choose({ login: json.login, profile: step.json.profile, patient: ann })).json;
    expect((await exchange(code)).json.patient).toBe(idOf(ann));
  });

  test('shows names that a policy may hide only as the invitation wrote them', async () => {
    const policy = await portico.api('POST', 'fhir/R4/AccessPolicy', {
      body: { resourceType: 'AccessPolicy', resource: [{ resourceType: 'Observation' }] },
    });
    const { email } = await at.newMember({
      resourceType: 'RelatedPerson',
      patient: [{ reference: ann, display: 'My first' }, { reference: bea }],
      accessPolicy: { reference: `AccessPolicy/${policy.json.id}` },
    });
    expect((await login(email)).json.patients).toEqual([
      { reference: ann, display: 'My first' },
      { reference: bea },
    ]);
  });

  test('of the one that was picked and is theirs no more tells nothing and reaches nothing', async () => {
    const { email, membership } = await relative(ann, bea);
    const tokens = await tokensFor(email, bea);
    const path = `admin/projects/${projectOf(portico, 0).id}/members/${membership}`;
    const cleo = await newPatient('Cleo');
    const patient = [{ reference: ann }, { reference: cleo }];
    expect((await portico.api('POST', path, { body: { patient } })).status).toBe(200);
    expect(await subjectsSeen(tokens.access_token)).toEqual([]);
    expect((await introspected(tokens.access_token)).patient).toBeUndefined();
    const { json } = await at.refresh(tokens.refresh_token, { client_id: app });
    expect([json.patient, json.scope]).toEqual([undefined, 'openid offline_access patient/*.rs']);
    expect(await subjectsSeen(json.access_token)).toEqual([]);
  });

  test('many picks at once: one code, for one patient', async () => {
    const { email } = both;
    const { json } = await login(email);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        choose({ login: json.login, profile: json.profile, patient: i % 2 ? ann : bea }),
      ),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    const { access_token, patient } = (await exchange(won[0]?.json.code)).json;
    expect(await subjectsSeen(access_token)).toEqual([`Patient/${patient}`]);
  });
});

describe('launch/patient, of anybody else', () => {
  test('is the only patient of a relative, also when another is linked later', async () => {
    const { email, membership } = await relative(ann);
    const tokens = await tokensFor(email);
    expect([tokens.patient, tokens.scope]).toEqual([idOf(ann), scope]);
    const path = `admin/projects/${projectOf(portico, 0).id}/members/${membership}`;
    const body = { patient: [{ reference: ann }, { reference: bea }] };
    expect((await portico.api('POST', path, { body })).status).toBe(200);
    expect(await subjectsSeen(tokens.access_token)).toEqual([ann]);
    const { json } = await at.refresh(tokens.refresh_token, { client_id: app });
    expect(json.patient).toBe(idOf(ann));
    expect(await subjectsSeen(json.access_token)).toEqual([ann]);
  });

  test('does not keep an app with fhirUser from reading who the person is, and nobody else', async () => {
    const other = await relative(bea);
    const tokens = await tokensFor(both.email, bea, { scope: `${scope} fhirUser` });
    const { profile: theirs } = await tokensFor(other.email);
    const read = (reference: string, token = tokens.access_token) =>
      portico.api('GET', `fhir/R4/${reference}`, { token });
    expect((await read(tokens.profile.reference)).status).toBe(200);
    const search = await read('RelatedPerson?_count=50');
    expect(search.text).not.toContain(tokens.profile.reference);
    const without = await tokensFor(both.email, bea);
    expect((await read(tokens.profile.reference, without.access_token)).status).toBe(403);
    // Of another relative of the patient in context: that is what patient/*.rs reaches.
    expect((await read(theirs.reference)).status).toBe(200);
    const stranger = await relative(ann);
    const { profile } = await tokensFor(stranger.email);
    expect((await read(profile.reference)).status).toBe(403);
  });

  test('is a patient themself', async () => {
    const { email, user } = await at.newMember({ resourceType: 'Patient' });
    expect(user).toBeDefined();
    const tokens = await tokensFor(email);
    expect(tokens.profile.reference).toBe(`Patient/${tokens.patient}`);
    expect((await introspected(tokens.access_token)).patient).toBe(tokens.patient);
  });

  test.each([['Practitioner'], ['RelatedPerson']])(
    'is not granted to a %s without patients',
    async (type) => {
      const { email } = await at.newMember({ resourceType: type });
      const tokens = await tokensFor(email);
      expect([tokens.patient, tokens.scope]).toEqual([undefined, 'openid offline_access patient/*.rs']);
      expect((await introspected(tokens.access_token)).scope).toBe(tokens.scope);
      expect(await subjectsSeen(tokens.access_token)).toEqual([]);
    },
  );

  test('is not granted to a program', async () => {
    const { clientId: client_id, clientSecret: client_secret } = projectOf(portico, 0);
    const grant_type = 'client_credentials';
    const answer = await at.ask({ grant_type, client_id, client_secret, scope: 'launch/patient openid' });
    expect([answer.status, answer.json.scope, answer.json.patient]).toEqual([200, 'openid', undefined]);
  });
});

describe('a launch that an EHR has begun', () => {
  const text = (name: string) =>
    `The scope ${name} is of a launch from an EHR, which is not supported: ask for launch/patient`;

  test.each(['launch', 'launch/encounter'])('is refused by name: %s', async (name) => {
    const { email } = await at.newMember();
    const refused = await login(email, { scope: `openid ${name}` });
    expect([refused.status, refused.json.issue[0].details.text]).toEqual([400, text(name)]);
    const { clientId: client_id, clientSecret: client_secret } = projectOf(portico, 0);
    const grant_type = 'client_credentials';
    const token = await at.ask({ grant_type, client_id, client_secret, scope: name });
    expect([token.status, token.json]).toEqual([
      400,
      { error: 'invalid_scope', error_description: text(name) },
    ]);
  });

  test('is told to the app that asks for it', async () => {
    const redirectUri = 'https://app.example.org/back';
    const client_id = await at.newApp({ redirectUris: [redirectUri] });
    const asked = {
      client_id,
      redirect_uri: redirectUri,
      response_type: 'code',
      code_challenge: 'x'.repeat(43),
    };
    for (const [change, error, description] of [
      [{ scope: 'launch openid' }, 'invalid_scope', text('launch')],
      [
        { scope: 'openid', launch: 'abc' },
        'invalid_request',
        'launch is not supported: ask for launch/patient',
      ],
      [{ scope: 'openid "é\\' }, 'invalid_scope', 'Unknown scope ???'],
    ] as const) {
      const query = new URLSearchParams({ ...asked, ...change });
      const { headers } = await portico.api('GET', `oauth2/authorize?${query}`, { token: null });
      const back = new URL(String(headers.get('location')));
      expect(`${back.origin}${back.pathname}`).toBe(redirectUri);
      expect([back.searchParams.get('error'), back.searchParams.get('error_description')]).toEqual([
        error,
        description,
      ]);
    }
  });
});
