import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { keys } from '../../shared/carry/table/keys.ts';
import { type Answer, isDeployed, type Portico, startPortico } from './portico.ts';
import { type SigningIn, signingIn } from './signing-in.ts';
import { until } from './subscribing.ts';

let portico: Portico;
let at: SigningIn;
/** Of whom nothing changes but their logins. */
let person: Awaited<ReturnType<SigningIn['newMember']>>;
beforeAll(async () => {
  portico = await startPortico();
  at = signingIn(portico);
  person = await at.newMember();
});
afterAll(() => portico.stop());

const offline = { scope: 'openid offline_access' };
const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

function expectInvalidGrant({ status, json }: Answer) {
  expect([status, json]).toEqual([
    400,
    { error: 'invalid_grant', error_description: 'The refresh token is not valid' },
  ]);
}

async function signedIn(change: object = offline, member = person) {
  return { ...member, ...(await at.signIn(member.email, change)) };
}

describe('a refresh token', () => {
  test.each<[object, boolean]>([
    [{}, false],
    [{ scope: 'openid profile' }, false],
    [{ scope: 'openid offline_access' }, true],
    [{ scope: 'offline' }, true],
    [{ scope: 'openid online_access' }, true],
    [{ remember: true }, true],
    [{ remember: false }, false],
  ])('for a sign-in with %j: %s', async (change, given) => {
    const { refresh_token } = await signedIn(change);
    expect(typeof refresh_token).toBe(given ? 'string' : 'undefined');
  });

  test('is not given to a program', async () => {
    const [project] = portico.projects;
    const answer = await at.ask({
      grant_type: 'client_credentials',
      client_id: project?.clientId ?? '',
      client_secret: project?.clientSecret ?? '',
      ...offline,
    });
    expect([answer.status, answer.json.refresh_token]).toEqual([200, undefined]);
  });

  test('gives tokens of the same login, and another refresh token', async () => {
    const first = await signedIn();
    const { status, json } = await at.refresh(first.refresh_token);
    expect(status).toBe(200);
    expect(json).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'openid offline_access' });
    expect(json.refresh_token).not.toBe(first.refresh_token);
    const [before, after] = [claimsOf(first.access_token), claimsOf(json.access_token)];
    expect(after).toMatchObject({ login_id: before.login_id, membership: before.membership, client_id: '' });
    expect(after.jti).not.toBe(before.jti);
    expect((await at.me(json.access_token)).status).toBe(200);
    expect((await at.refresh(json.refresh_token)).status).toBe(200);
  });

  test('narrows the scope when asked to, and never widens it', async () => {
    const { refresh_token } = await signedIn();
    const wider = await at.refresh(refresh_token, { scope: 'openid profile' });
    expect([wider.status, wider.json.error]).toEqual([400, 'invalid_scope']);
    const { json } = await at.refresh(refresh_token, { scope: 'openid' });
    expect([json.scope, claimsOf(json.access_token).scope]).toEqual(['openid', 'openid']);
    expect((await at.refresh(json.refresh_token)).json.scope).toBe('openid offline_access');
  });

  test.each(['x'.repeat(3000), '../x', 'a#b'])('is refused for what cannot be a client: %#', async (id) => {
    const { refresh_token } = await signedIn();
    for (const parameters of [
      { grant_type: 'refresh_token', refresh_token },
      {
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: 'a.b.c',
        subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
      },
    ]) {
      const answer = await at.ask({ ...parameters, client_id: id });
      expect([answer.status, answer.json.error]).toEqual([400, 'invalid_client']);
    }
    expect((await at.refresh(refresh_token)).status).toBe(200);
  });

  test('used twice, when its successor was used, ends the login and all its tokens', async () => {
    const first = await signedIn();
    const second = (await at.refresh(first.refresh_token)).json;
    const third = (await at.refresh(second.refresh_token)).json;
    const profile = String((await at.me(third.access_token)).json.membership.profile.reference);
    expectInvalidGrant(await at.refresh(first.refresh_token));
    for (const { access_token } of [first, second, third]) {
      expect((await at.me(access_token)).status).toBe(401);
    }
    expectInvalidGrant(await at.refresh(third.refresh_token));
    const [entry] = await until(async () => {
      const { json } = await portico.api('GET', `fhir/R4/AuditEvent?subtype=sign-out-reuse&agent=${profile}`);
      return json.entry;
    }, 'an entry');
    expect(entry.resource.agent).toMatchObject([{ who: { reference: profile } }]);
  });

  test('shown again at once, because its answer got lost, gives the same successor', async () => {
    const first = await signedIn();
    const lost = (await at.refresh(first.refresh_token)).json;
    const again = (await at.refresh(first.refresh_token)).json;
    expect(again.refresh_token).toBe(lost.refresh_token);
    for (const { access_token } of [first, lost, again]) {
      expect((await at.me(access_token)).status).toBe(200);
    }
    expect((await at.refresh(again.refresh_token)).status).toBe(200);
  });

  test('used twenty times at once gives one successor, which is good', async () => {
    const { refresh_token } = await signedIn();
    const answers = await Promise.all(Array.from({ length: 20 }, () => at.refresh(refresh_token)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    const successors = new Set(answers.map(({ json }) => json.refresh_token));
    expect(successors.size).toBe(1);
    const [next] = successors;
    expect((await at.refresh(next)).status).toBe(200);
  });

  test('shown again by another client gives nothing', async () => {
    const first = await signedIn();
    await at.refresh(first.refresh_token);
    const answer = await at.refresh(first.refresh_token, { client_id: await at.newApp() });
    expectInvalidGrant(answer);
  });

  test('made up, in whichever part, is refused and ends nothing', async () => {
    const { access_token, refresh_token } = await signedIn();
    const other = await signedIn(offline, await at.newMember());
    const parts = refresh_token.split('.');
    const others = other.refresh_token.split('.');
    const forged = [0, 1, 2, 3].map((i) => parts.with(i, i === 1 ? 'elsewhere' : others[i]).join('.'));
    const all = [
      ...forged,
      `${refresh_token}x`,
      parts.slice(0, 4).join('.'),
      access_token,
      'x',
      '../x',
      '😀',
    ];
    for (const text of all) expectInvalidGrant(await at.refresh(text));
    expect((await at.me(access_token)).status).toBe(200);
    expect((await at.refresh(refresh_token)).status).toBe(200);
  });

  test('left out is an invalid request', async () => {
    for (const refresh_token of ['', undefined]) {
      const body = { grant_type: 'refresh_token', ...(refresh_token === undefined ? {} : { refresh_token }) };
      const { status, json } = await at.ask(body);
      expect([status, json]).toEqual([
        400,
        { error: 'invalid_request', error_description: 'Missing refresh_token' },
      ]);
    }
  });

  test('is good for the client only that it was given to', async () => {
    const { refresh_token } = await signedIn();
    const { clientId: client_id = '', clientSecret: client_secret = '' } = portico.projects[0] ?? {};
    expectInvalidGrant(await at.refresh(refresh_token, { client_id, client_secret }));
    expectInvalidGrant(await at.refresh(refresh_token, { client_id: await at.newApp() }));
    expect((await at.refresh(refresh_token)).status).toBe(200);
  });

  test('of a client that was deleted gives nothing', async () => {
    const clientId = await at.newApp();
    const { email } = await at.newMember();
    const { code } = (await at.login(email, { clientId, ...offline })).json;
    const { access_token, refresh_token } = (await at.exchange(code, { client_id: clientId })).json;
    await portico.api('DELETE', `fhir/R4/ClientApplication/${clientId}`);
    expect((await at.me(access_token)).status).toBe(401);
    expectInvalidGrant(await at.refresh(refresh_token, { client_id: clientId }));
    expectInvalidGrant(await at.refresh(refresh_token));
  });

  test('is useless after signing out', async () => {
    const { access_token, refresh_token } = await signedIn();
    expect((await at.post('oauth2/logout', undefined, access_token)).status).toBe(200);
    expectInvalidGrant(await at.refresh(refresh_token));
  });

  test('is useless while the membership is inactive, and once it is removed', async () => {
    const { membership, refresh_token } = await signedIn(offline, await at.newMember());
    const path = `admin/projects/${portico.projects[0]?.id}/members/${membership}`;
    await portico.api('POST', path, { body: { active: false } });
    expectInvalidGrant(await at.refresh(refresh_token));
    await portico.api('POST', path, { body: { active: true } });
    const { json } = await at.refresh(refresh_token);
    await portico.api('DELETE', path);
    expectInvalidGrant(await at.refresh(json.refresh_token));
  });

  test('is useless once the membership wants a second factor or an issuer', async () => {
    const { membership, refresh_token } = await signedIn(offline, await at.newMember());
    const path = `admin/projects/${portico.projects[0]?.id}/members/${membership}`;
    for (const body of [
      { mfaRequired: true },
      { mfaRequired: false, authentication: { issuer: 'https://issuer.example' } },
    ]) {
      expect((await portico.api('POST', path, { body })).status).toBe(200);
      expectInvalidGrant(await at.refresh(refresh_token));
    }
  });
});

if (!isDeployed) {
  test('refresh tokens and codes are stored as hashes', async () => {
    const { refresh_token } = await signedIn();
    const stored = JSON.stringify(await portico.local.scan());
    for (const part of refresh_token.split('.').slice(3)) expect(stored).not.toContain(part);
  });

  test('shown again after ten seconds ends the login', async () => {
    const first = await signedIn();
    const second = (await at.refresh(first.refresh_token)).json;
    await portico.local.store.update({
      Key: keys.login(claimsOf(first.access_token).login_id),
      UpdateExpression: 'SET rotation.untilMs = :past',
      ExpressionAttributeValues: { ':past': Date.now() },
    });
    expectInvalidGrant(await at.refresh(first.refresh_token));
    expect((await at.me(second.access_token)).status).toBe(401);
  });

  test('a successor that is kept for a repeat is sealed: nobody who reads the table can use it', async () => {
    const first = await signedIn();
    const second = (await at.refresh(first.refresh_token)).json;
    const stored = JSON.stringify(await portico.local.scan());
    for (const token of [first.refresh_token, second.refresh_token]) {
      for (const part of token.split('.').slice(3)) expect(stored).not.toContain(part);
    }
  });

  test('a login with refresh tokens ends 30 days after the sign-in', async () => {
    const { access_token, refresh_token } = await signedIn();
    const key = keys.login(claimsOf(access_token).login_id);
    const ttl = async () => Number((await portico.local.store.read([key])).get(key)?.ttl);
    const before = await ttl();
    expect(Math.abs(before - Date.now() / 1000 - 30 * 86_400)).toBeLessThan(600);
    const { json } = await at.refresh(refresh_token);
    expect(await ttl()).toBe(before);
    await portico.local.store.update({
      Key: key,
      UpdateExpression: 'SET #ttl = :past',
      ExpressionAttributeNames: { '#ttl': 'ttl' },
      ExpressionAttributeValues: { ':past': Math.floor(Date.now() / 1000) - 1 },
    });
    expectInvalidGrant(await at.refresh(json.refresh_token));
  });
}

test('the id token carries the nonce of the sign-in, and when it was', async () => {
  const nonce = randomUUID();
  const { id_token } = await signedIn({ ...offline, nonce });
  const { auth_time, iat, ...claims } = claimsOf(id_token);
  expect(claims).toMatchObject({ nonce, aud: '' });
  expect(iat - auth_time).toBeGreaterThanOrEqual(0);
});
