import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type TOTP, URI } from 'otpauth';
import { age, loginIdOf } from './aging.ts';
import { type ExampleGround, exampleGround, exampleOf, namedRoutes, send } from './calling-routes.ts';
import { mailedConfirmation, mailsTo } from './mailed-link.ts';
import { newPerson, signIn, tokenOf } from './people.ts';
import { type Answer, type Portico, requestToken, startPortico } from './portico.ts';
import { type Examples, routeExamples } from './route-examples.ts';
import { createClient, projectOf } from './running.ts';
import { newAddress, password, pkce, type SigningIn, signingIn } from './signing-in.ts';

let portico: Portico;
let at: SigningIn;
let ground: ExampleGround;
let examples: Examples;
beforeAll(async () => {
  portico = await startPortico();
  at = signingIn(portico);
  ground = await exampleGround(portico);
  examples = routeExamples(ground);
});
afterAll(() => portico.stop());

/** That the sign-in is too old, in words that programs can read, and in a way that ends no session. */
function expectAsked({ status, json, headers }: Answer, what = 'sign-in'): void {
  expect([status, json]).toEqual([
    403,
    {
      resourceType: 'OperationOutcome',
      id: 'insufficient-user-authentication',
      issue: [
        {
          severity: 'error',
          code: 'forbidden',
          details: {
            coding: [
              {
                system: 'https://www.rfc-editor.org/rfc/rfc9470',
                code: 'insufficient_user_authentication',
              },
            ],
            text: expect.stringMatching(`^This needs a ${what} of the last 5 minutes`),
          },
          diagnostics: 'max_age=300',
        },
      ],
    },
  ]);
  expect(headers.get('www-authenticate')).toContain('error="insufficient_user_authentication", max_age=300');
}

describe('a route that takes or locks accounts, or makes keys', () => {
  const recent = namedRoutes.filter(({ signIn }) => signIn === 'recent');
  /** Old tokens: of an administrator, of a program and of somebody who is none. */
  let [token, program, other] = ['', '', ''];
  beforeAll(async () => {
    token = (await late({ admin: true })).token;
    const { clientId, clientSecret } = projectOf(portico, 0);
    program = await age(portico, await requestToken(portico.baseUrl, clientId, clientSecret));
    other = (await late()).token;
  });

  test.each(recent)('$key is not for a session alone', async (route) => {
    const example = await exampleOf(examples, route);
    expectAsked(await send(portico, route, example, token));
    expect((await portico.api('GET', 'auth/me', { token })).status).toBe(200);
    if (route.access !== 'administrator') return;
    expectAsked(await send(portico, route, example, program), 'token');
    // Who may not do it at all is told that, and not to sign in.
    expect((await send(portico, route, example, other)).json.id).toBe('forbidden');
  });
});

/** A person whose sign-in is older than what takes an account needs, and what they call with their token. */
async function late(change: Record<string, unknown> = {}) {
  const person = await newPerson(portico, change);
  const { access_token: token, refresh_token: refreshToken } = await at.signIn(person.email, {
    remember: true,
  });
  await age(portico, token);
  const call = (method: string, path: string, body?: unknown) => portico.api(method, path, { token, body });
  const again = (proof: object) => call('POST', 'auth/reauthenticate', proof);
  return { ...person, token, refreshToken, call, again };
}

const patch = (path: string, value: unknown) => [{ op: 'replace', path, value }];

describe('a session of more than five minutes ago', () => {
  test('does not move the account to another address, nor confirm one', async () => {
    const { userId, email, call, again } = await late();
    const user = `fhir/R4/User/${userId}`;
    const next = newAddress();
    const { json } = await call('GET', user);
    expectAsked(await call('PATCH', user, patch('/email', next)));
    expectAsked(await call('PUT', user, { ...json, email: next }));
    expect((await call('PATCH', user, patch('/firstName', 'Anna'))).status).toBe(200);
    expect((await again({ password })).status).toBe(200);
    expect((await call('PATCH', user, patch('/email', next))).status).toBe(200);
    const link = await mailedConfirmation(portico, next);
    const { token } = await late();
    expect((await portico.api('POST', 'auth/verifyemail', { token, body: link })).json.id).toBe('forbidden');
    const other = await age(portico, await tokenOf(portico, { email }));
    expectAsked(await portico.api('POST', 'auth/verifyemail', { token: other, body: link }));
    // The password beside it stands for the sign-in.
    const body = { ...link, password };
    expect((await portico.api('POST', 'auth/verifyemail', { token: other, body })).status).toBe(200);
  });

  test('is not shown the secret of a second factor, and enrols none, by the way of another Project either', async () => {
    const { email, call } = await late();
    expectAsked(await call('GET', 'auth/mfa/status'));
    await at.invite(email, 1, { mfaRequired: true });
    const switched = await call('POST', 'auth/switch', pkce);
    const { login, memberships } = switched.json;
    const chosen = await at.post('auth/profile', { login, profile: memberships[0].id });
    const token = (URI.parse(chosen.json.enrollUri) as TOTP).generate();
    expectAsked(await at.post('auth/mfa/login-enroll', { login, token }));
    expect((await at.login(email)).json.mfaRequired).toBeUndefined();
  });

  test('ends no other session than itself', async () => {
    const { email, token, call } = await late();
    const other = await tokenOf(portico, { email });
    expectAsked(await call('POST', 'auth/revoke', { loginId: loginIdOf(other) }));
    expect((await portico.api('GET', 'auth/me', { token: other })).status).toBe(200);
    expect((await call('POST', 'auth/revoke', { loginId: loginIdOf(token) })).status).toBe(200);
    expect((await portico.api('GET', 'auth/me', { token })).status).toBe(401);
  });

  test('makes nobody an administrator: by invite, in bulk, by a change or by waking one up', async () => {
    const { call, again } = await late({ admin: true });
    const project = `admin/projects/${projectOf(portico, 0).id}`;
    const body = { resourceType: 'Practitioner', firstName: 'Ann', lastName: 'Lee', sendEmail: false };
    const member = await newPerson(portico);
    const asleep = await newPerson(portico, { admin: true });
    const sleeping = `${project}/members/${asleep.membershipId}`;
    const policy = { resourceType: 'AccessPolicy', name: 'Tasks', resource: [{ resourceType: 'Task' }] };
    const { id } = (await call('POST', 'fhir/R4/AccessPolicy', policy)).json;
    const narrowed = { admin: true, accessPolicy: { reference: `AccessPolicy/${id}` } };
    const freed = await newPerson(portico, narrowed);
    expect((await call('POST', sleeping, { active: false })).status).toBe(200);
    const making: [string, unknown][] = [
      [`${project}/invite`, { ...body, email: newAddress(), admin: true }],
      [`${project}/invite`, { ...body, email: newAddress(), membership: { admin: true } }],
      [`${project}/invite`, { ...body, email: member.email, upsert: true, admin: true }],
      [
        `${project}/invite/bulk`,
        [
          { ...body, email: newAddress() },
          { ...body, email: newAddress(), admin: true },
        ],
      ],
      [`${project}/members/${member.membershipId}`, { admin: true }],
      [sleeping, { active: true }],
      // One whom nothing narrows any more.
      [`${project}/members/${freed.membershipId}`, { accessPolicy: null }],
    ];
    for (const [path, sent] of making) expectAsked(await call('POST', path, sent));
    // What makes none does not ask.
    expect((await call('POST', `${project}/invite`, { ...body, email: newAddress() })).status).toBe(200);
    expect((await call('POST', `${project}/members/${member.membershipId}`, { admin: false })).status).toBe(
      200,
    );
    expect((await again({ password })).status).toBe(200);
    for (const [path, sent] of making) expect((await call('POST', path, sent)).status).toBe(200);
    // A program is asked only where keys change.
    const { clientId, clientSecret } = projectOf(portico, 0);
    const token = await age(portico, await requestToken(portico.baseUrl, clientId, clientSecret));
    const sent = { ...body, email: newAddress(), admin: true };
    expect((await portico.api('POST', `${project}/invite`, { token, body: sent })).status).toBe(200);
  });

  test('changes and ends no key through the FHIR API: alone, in a batch, in a transaction', async () => {
    const { call, again } = await late({ admin: true });
    const { id } = await createClient(portico);
    const path = `fhir/R4/ClientApplication/${id}`;
    const { json: client } = await call('GET', path);
    const bundle = (type: string, entry: object[]) =>
      call('POST', 'fhir/R4', { resourceType: 'Bundle', type, entry });
    const entryOf = (method: string, resource?: object) => ({
      ...(resource ? { resource } : {}),
      request: { method, url: `ClientApplication/${id}` },
    });
    const changes = [
      { public: true },
      { jwksUri: 'https://keys.example.org/jwks' },
      { redirectUris: ['https://app.example.org/back'] },
    ];
    for (const change of changes) {
      const next = { ...client, ...change };
      expectAsked(await call('PUT', path, next));
      expectAsked(await call('PUT', `fhir/R4/ClientApplication?_id=${id}`, next));
      expectAsked(await bundle('transaction', [entryOf('PUT', next)]));
      const { entry } = (await bundle('batch', [entryOf('PUT', next)])).json;
      expect(entry[0].response.status).toBe('403');
      expect(entry[0].response.outcome.id).toBe('insufficient-user-authentication');
    }
    expectAsked(await call('PATCH', path, [{ op: 'add', path: '/public', value: true }]));
    expectAsked(await call('DELETE', path));
    expectAsked(await bundle('transaction', [entryOf('DELETE')]));
    expect((await call('GET', path)).json).toEqual(client);
    expect((await call('PUT', path, { ...client, description: 'Of the laboratory' })).status).toBe(200);
    const { clientId, clientSecret } = projectOf(portico, 0);
    const program = await age(portico, await requestToken(portico.baseUrl, clientId, clientSecret));
    expectAsked(await portico.api('DELETE', path, { token: program }), 'token');
    expect((await again({ password })).status).toBe(200);
    expect((await call('DELETE', path)).status).toBe(200);
  });

  test('goes on with everything else, and refreshing makes it no younger', async () => {
    const { token, refreshToken, call, userId } = await late({ admin: true });
    const project = `admin/projects/${projectOf(portico, 0).id}`;
    const bot = await call('POST', `${project}/bot`, { name: 'Left alone' });
    const code = 'export async function handler() { return 1; }';
    const answers = [
      bot,
      await call('POST', `fhir/R4/Bot/${bot.json.id}/$deploy`, { code, filename: 'bot.mjs' }),
      await call('POST', `fhir/R4/Bot/${bot.json.id}/$execute`, {}),
      await call('POST', `${project}/bot/${bot.json.id}/secrets`, [
        { name: 'KEY', valueString: 'correct horse' },
      ]),
      await call('POST', 'fhir/R4/AccessPolicy', {
        resourceType: 'AccessPolicy',
        name: 'All',
        resource: [{ resourceType: '*' }],
      }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 200, 200, 201]);
    const refreshed = (await at.refresh(refreshToken)).json.access_token;
    expectAsked(
      await portico.api('PATCH', `fhir/R4/User/${userId}`, {
        token: refreshed,
        body: patch('/email', newAddress()),
      }),
    );
    expect((await portico.api('POST', 'oauth2/logout', { token })).status).toBe(200);
  });
});

describe('showing again who one is', () => {
  test('with the password makes the same token good, for five minutes', async () => {
    const { token, call, again } = await late();
    const { status, json } = await again({ password });
    expect([status, Date.now() - Date.parse(json.signedIn) < 60_000]).toEqual([200, true]);
    expect((await call('GET', 'auth/mfa/status')).status).toBe(200);
    await age(portico, token);
    expectAsked(await call('GET', 'auth/mfa/status'));
    await age(portico, token, -2);
    expect((await call('GET', 'auth/mfa/status')).status).toBe(200);
  });

  test('with a code of the second factor does the same, once', async () => {
    const { userId, token, call, again, email } = await late();
    await again({ password });
    const totp = URI.parse((await call('GET', 'auth/mfa/status')).json.enrollUri) as TOTP;
    const { json } = await call('POST', 'auth/mfa/enroll', {
      token: totp.generate({ timestamp: Date.now() - 30_000 }),
    });
    await age(portico, token);
    const other = await tokenOf(portico, await newPerson(portico));
    const ends = () => call('POST', 'auth/revoke', { loginId: loginIdOf(other) });
    expect((await again({ token: '000000' })).json.issue[0].expression).toEqual(['token']);
    const code = totp.generate();
    expect((await again({ token: code })).status).toBe(200);
    expect((await again({ token: code })).status).toBe(400);
    expect((await ends()).status).toBe(404);
    expect((await again({ token: json.recoveryCodes[0] })).status).toBe(200);
    expect((await again({ token: json.recoveryCodes[0] })).status).toBe(400);
    await mailsTo(portico, email, 'A recovery code was used');
    const events = (await portico.local.scan('#AuditEvent#')).map(({ content }) => String(content));
    const isUse = (event: string) => event.includes('use-recovery-code') && event.includes(`User/${userId}`);
    expect(events.filter(isUse)).toHaveLength(1);
  });

  test('is refused to a wrong password, and counted as a sign-in is', async () => {
    const { call, again, email } = await late();
    for (const wrong of [
      {},
      { password: '' },
      { password: 7 },
      { token: [] },
      { password: 'x'.repeat(3000) },
    ])
      expect((await again(wrong)).status).toBe(400);
    const statuses = [];
    for (let i = 0; i < 11; i++) statuses.push((await again({ password: `guess ${i}` })).status);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
    expect((await again({ password })).status).toBe(429);
    expectAsked(await call('GET', 'auth/mfa/status'));
    // Whoever has no session of theirs cannot use these tries up, nor do they use up those of a sign-in.
    expect((await signIn(portico, { email })).status).toBe(200);
  });

  test('is for people, each for their own login', async () => {
    expect((await portico.api('POST', 'auth/reauthenticate', { body: { password } })).status).toBe(403);
    const { email } = await late();
    const scoped = await tokenOf(portico, { email }, { scope: 'user/*.rs' });
    expect(
      (await portico.api('POST', 'auth/reauthenticate', { token: scoped, body: { password } })).status,
    ).toBe(403);
    const ended = await tokenOf(portico, { email });
    await portico.api('POST', 'oauth2/logout', { token: ended });
    expect(
      (await portico.api('POST', 'auth/reauthenticate', { token: ended, body: { password } })).status,
    ).toBe(401);
  });

  test('goes along when its person changes the Project', async () => {
    const { email, call, again } = await late();
    const { id } = await at.invite(email, 1);
    const token = async () => {
      const { login } = (await call('POST', 'auth/switch', pkce)).json;
      const { code } = (await at.post('auth/profile', { login, profile: id })).json;
      return (await at.exchange(code)).json.access_token as string;
    };
    await again({ password });
    expect((await portico.api('GET', 'auth/mfa/status', { token: await token() })).status).toBe(200);
  });
});
