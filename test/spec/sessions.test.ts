import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MedplumClient } from '@medplum/core';
import { keys } from '../../shared/carry/table/keys.ts';
import { mailedLink } from './mailed-link.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';
import { createClient, projectOf } from './running.ts';
import { password, pkce, type SigningIn, signingIn } from './signing-in.ts';
import { until } from './subscribing.ts';

let portico: Portico;
let at: SigningIn;
beforeAll(async () => {
  portico = await startPortico();
  at = signingIn(portico);
});
afterAll(() => portico.stop());

const loginOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).login_id;
const securityOf = async (token: string) => (await at.me(token)).json.security;
const revoke = (token: string, loginId: unknown) => at.post('auth/revoke', { loginId }, token);

/** Somebody with a membership in both Projects, and a token for each. */
async function inBoth() {
  const member = await at.newMember();
  const invited = await at.invite(member.email, 1);
  const link = await mailedLink(portico, member.email, (id) => id.startsWith(`${portico.projects[1]?.id}`));
  await at.post('auth/setpassword', { ...link, password });
  const tokens = await Promise.all(
    portico.projects.map(async ({ id }) => (await at.signIn(member.email, { projectId: id })).access_token),
  );
  return { ...member, memberships: [member.membership, invited.id], tokens: tokens as [string, string] };
}

describe('auth/me', () => {
  test('lists the logins and memberships of a person, in all Projects', async () => {
    const { tokens, memberships } = await inBoth();
    const security = await securityOf(tokens[0]);
    expect(security.mfaEnrolled).toBe(false);
    expect(security.memberships.map(({ id }: { id: string }) => id).sort()).toEqual([...memberships].sort());
    expect(security.sessions.map(({ id }: { id: string }) => id).sort()).toEqual(tokens.map(loginOf).sort());
    expect(security.sessions).toContainEqual({
      id: loginOf(tokens[0]),
      lastUpdated: expect.stringMatching(/^20/),
      authMethod: 'password',
      current: true,
    });
  });

  test('tells an app of one Project nothing of the others', async () => {
    const { email, tokens, membership } = await inBoth();
    const clientId = await at.newApp();
    const { code } = (await at.login(email, { clientId })).json;
    const { access_token } = (await at.exchange(code, { client_id: clientId })).json;
    expect(access_token).toBeDefined();
    const security = await securityOf(access_token);
    expect(security.mfaEnrolled).toBeUndefined();
    expect(security.memberships.map(({ id }: { id: string }) => id)).toEqual([membership]);
    expect(security.sessions.map(({ id }: { id: string }) => id).sort()).toEqual(
      [access_token, tokens[0]].map(loginOf).sort(),
    );
    expect((await revoke(access_token, loginOf(tokens[1]))).status).toBe(404);
    expect((await at.me(tokens[1])).status).toBe(200);
  });

  test('hands the own app a key for drafts: the same at each sign-in, another for each person and Project', async () => {
    const { tokens, email } = await inBoth();
    const clientId = await at.newApp();
    const { code } = (await at.login(email, { clientId })).json;
    const { access_token: ofApp } = (await at.exchange(code, { client_id: clientId })).json;
    const { access_token: again } = await at.signIn(email, { projectId: portico.projects[0]?.id });
    const { access_token: other } = await at.signIn((await at.newMember()).email);
    const keyOf = async (token: string) => (await securityOf(token)).draftKey;
    const [first, second] = await Promise.all(tokens.map(keyOf));
    expect(first).toMatch(/^[\w-]{43}$/);
    expect(await keyOf(again)).toBe(first);
    expect(new Set([first, second, await keyOf(other), await keyOf(ofApp)]).size).toBe(4);
    expect(await keyOf(ofApp)).toBeUndefined();
  });

  test('says no such thing of a program', async () => {
    expect((await at.me(await portico.token())).json.security).toBeUndefined();
  });
});

describe('a token with scopes for resources', () => {
  let [email, own] = ['', ''];
  beforeAll(async () => {
    ({ email } = await at.newMember());
    own = (await at.signIn(email)).access_token;
  });

  test.each(['patient/*.rs', 'user/Observation.cruds openid', 'user/*.read launch/patient'])(
    'of %s neither lists nor ends sessions',
    async (scope) => {
      const { access_token: narrow } = await at.signIn(email, { scope });
      const me = await at.me(narrow);
      expect(me.status).toBe(200);
      expect(me.json.security).toBeUndefined();
      expect(me.text).not.toContain(loginOf(own));
      for (const id of [loginOf(own), loginOf(narrow)]) expect((await revoke(narrow, id)).status).toBe(403);
      expect((await at.me(own)).status).toBe(200);
      expect((await at.post('oauth2/logout', undefined, narrow)).status).toBe(200);
      expect([(await at.me(narrow)).status, (await at.me(own)).status]).toEqual([401, 200]);
    },
  );
});

describe('auth/revoke', () => {
  test('ends one login at once, refresh tokens included', async () => {
    const { email } = await at.newMember();
    const [one, other] = [await at.signIn(email), await at.signIn(email, { remember: true })];
    expect((await revoke(one.access_token, loginOf(other.access_token))).status).toBe(200);
    expect((await at.me(other.access_token)).status).toBe(401);
    expect((await at.refresh(other.refresh_token)).json.error).toBe('invalid_grant');
    const { sessions } = await securityOf(one.access_token);
    expect(sessions.map(({ id }: { id: string }) => id)).toEqual([loginOf(one.access_token)]);
    expect((await revoke(one.access_token, loginOf(other.access_token))).status).toBe(404);
  });

  test('does not reach the logins of others', async () => {
    const [one, other] = [await at.newMember(), await at.newMember()];
    const [own, theirs] = [await at.signIn(one.email), await at.signIn(other.email)];
    const program = loginOf(await portico.token());
    for (const id of [loginOf(theirs.access_token), program, randomUUID()]) {
      expect((await revoke(own.access_token, id)).status).toBe(404);
    }
    for (const id of [undefined, 7, '', '../x', 'a'.repeat(65)]) {
      const answer = await revoke(own.access_token, id);
      expect([answer.status, answer.json.issue[0].expression]).toEqual([400, ['loginId']]);
    }
    expect((await at.me(theirs.access_token)).status).toBe(200);
  });
});

describe('POST auth/switch', () => {
  const begin = (token: string) => at.post('auth/switch', pkce, token);
  const choose = (login: string, profile: string) => at.post('auth/profile', { login, profile });

  test('leads to another Project of the person without a new sign-in, and ends the present login', async () => {
    const { tokens, memberships } = await inBoth();
    const step = await begin(tokens[0]);
    expect(step.status).toBe(200);
    expect(step.json.memberships).toEqual([
      expect.objectContaining({
        id: memberships[1],
        project: expect.objectContaining({ display: portico.projects[1]?.name }),
      }),
    ]);
    // To ask ends nothing, and the present membership is not to be had anew.
    expect((await at.me(tokens[0])).status).toBe(200);
    expect((await choose(step.json.login, String(memberships[0]))).status).toBe(400);
    const chosen = await choose(step.json.login, String(memberships[1]));
    const { json } = await at.exchange(chosen.json.code);
    const me = await at.me(json.access_token);
    expect([me.json.project.id, me.json.membership.id]).toEqual([portico.projects[1]?.id, memberships[1]]);
    expect((await at.me(tokens[0])).status).toBe(401);
    // A token shows its own Project only.
    const other = await portico.api('GET', `fhir/R4/ProjectMembership/${memberships[0]}`, {
      token: json.access_token,
    });
    expect([403, 404]).toContain(other.status);
    expect((await choose(step.json.login, String(memberships[0]))).status).toBe(400);
  });

  test('offers neither the present membership nor those of others, and chooses none of them', async () => {
    const { tokens } = await inBoth();
    const step = await begin(tokens[0]);
    expect(step.json.memberships).toHaveLength(1);
    const { membership } = await at.newMember();
    expect((await choose(step.json.login, membership)).status).toBe(400);
    expect((await at.me(tokens[0])).status).toBe(200);
  });

  test('a login that ended meanwhile leads nowhere, and of two choices at once one is carried out', async () => {
    const { tokens, memberships } = await inBoth();
    const gone = await begin(tokens[0]);
    expect((await at.post('oauth2/logout', {}, tokens[0])).status).toBe(200);
    expect((await choose(gone.json.login, String(memberships[1]))).status).toBe(400);
    expect((await begin(tokens[0])).status).toBe(401);
    const steps = await Promise.all([begin(tokens[1]), begin(tokens[1])]);
    const results = await Promise.all(steps.map(({ json }) => choose(json.login, String(memberships[0]))));
    expect(results.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test('is not for programs, nor for apps of others', async () => {
    const { email } = await at.newMember();
    const clientId = await at.newApp({ redirectUris: ['https://app.example/cb'] });
    const login = await at.login(email, {
      clientId,
      redirectUri: 'https://app.example/cb',
      projectId: portico.projects[0]?.id,
    });
    const { json } = await at.exchange(login.json.code, {
      client_id: clientId,
      redirect_uri: 'https://app.example/cb',
    });
    expect((await begin(json.access_token)).status).toBe(403);
    expect((await begin(await portico.token(portico.projects[0]))).status).toBe(403);
    expect((await at.post('auth/switch', pkce)).status).toBe(401);
  });
});

test('a change of Project gives no more than the token that asked for it had', async () => {
  const { email, memberships } = await inBoth();
  const full = await at.signIn(email, { projectId: portico.projects[0]?.id, scope: 'openid offline_access' });
  const narrow = (await at.refresh(full.refresh_token, { scope: 'openid' })).json;
  const { login } = (await at.post('auth/switch', pkce, narrow.access_token)).json;
  const { code } = (await at.post('auth/profile', { login, profile: memberships[1] })).json;
  const there = (await at.exchange(code)).json;
  expect([there.scope, there.refresh_token]).toEqual(['openid', undefined]);
});

describe('a Project with an idle time', () => {
  const offline = { scope: 'openid offline_access' };
  const second = () => projectOf(portico, 1);
  const path = () => `admin/projects/${second().id}`;
  const headKey = () => keys.resource(second().id, 'Project', second().id);
  const set = async (idleMinutes: unknown) =>
    portico.api('POST', path(), { token: await portico.token(second()), body: { idleMinutes } });

  beforeAll(async () => {
    expect((await set(15)).json.idleMinutes).toBe(15);
  });
  afterAll(() => set(0));

  /** Tokens of somebody of that Project, for the own app unless another is named. */
  async function signedIn(change: Record<string, unknown> = offline, clientId = '') {
    const email = `idle-${randomUUID()}@example.com`;
    await at.invite(email, 1);
    await at.post('auth/setpassword', { ...(await mailedLink(portico, email)), password });
    const { code } = (await at.login(email, { ...change, clientId, projectId: second().id })).json;
    return { email, ...(await at.exchange(code, { client_id: clientId })).json };
  }

  /** Makes so many minutes pass, for these logins and for the setting. */
  async function pass(minutes: number, ...all: { access_token: string }[]) {
    const { store } = portico.local;
    const shift = (Key: ReturnType<typeof headKey>, names: readonly string[]) =>
      store.update({
        Key,
        UpdateExpression: `ADD ${names.map((name) => `${name} :ms`).join(', ')}`,
        ExpressionAttributeValues: { ':ms': -minutes * 60_000 },
      });
    for (const { access_token } of all) {
      const key = keys.login(loginOf(access_token));
      const isOfPerson = (await store.read([key])).get(key)?.kind === 'person';
      await shift(key, ['createdAtMs', ...(isOfPerson ? ['usedAtMs'] : [])]);
    }
    await shift(headKey(), ['idleFromMs', 'idleOverMs']);
  }

  const isIn = async (token: string) => (await at.me(token)).status === 200;
  const entries = async (subtype: string, profile: string): Promise<Answer['json'][]> => {
    const query = `fhir/R4/AuditEvent?subtype=${subtype}&agent=${profile}`;
    return (await portico.api('GET', query, { token: await portico.token(second()) })).json.entry ?? [];
  };
  const untilEntries = async (subtype: string, profile: string) => {
    return until(async () => {
      const found = await entries(subtype, profile);
      return found.length > 0 ? found : undefined;
    }, subtype);
  };

  test('says so to its administrators alone, keeps what was set, and takes no other numbers', async () => {
    for (const wrong of [9, 1441, 10.5, -1, '15', true]) expect((await set(wrong)).status).toBe(400);
    const token = await portico.token(second());
    const { json } = await portico.api('POST', path(), { token, body: { name: second().name } });
    expect(json.idleMinutes).toBe(15);
    const member = await signedIn();
    expect(
      (await portico.api('POST', path(), { token: member.access_token, body: { idleMinutes: 0 } })).status,
    ).toBe(403);
    const audited = await untilEntries('change-project', `ClientApplication/${second().clientId}`);
    expect(JSON.stringify(audited)).toContain('"idleMinutes","valueString":"15"');
  });

  test('ends a login that was not used: token, refresh token and session, with one entry of it', async () => {
    const tokens = await signedIn();
    expect(tokens.expires_in).toBe(450);
    const me = await at.me(tokens.access_token);
    expect(me.headers.get('x-idle-seconds')).toBe('900');
    const again = await at.exchange((await at.login(tokens.email, { projectId: second().id })).json.code);
    expect(again.json.expires_in).toBe(900);
    const sessions = async () => (await securityOf(again.json.access_token)).sessions.length;
    expect(await sessions()).toBe(2);
    await pass(14.5, tokens);
    expect([await isIn(tokens.access_token), await sessions()]).toEqual([true, 2]);
    await pass(0.6, tokens);
    expect([await isIn(tokens.access_token), await sessions()]).toEqual([false, 1]);
    for (let i = 0; i < 3; i++) {
      const refused = await at.refresh(tokens.refresh_token);
      expect([refused.status, refused.json.error]).toEqual([400, 'invalid_grant']);
    }
    expect(await untilEntries('sign-out-idle', tokens.profile.reference)).toHaveLength(1);
    expect(await entries('sign-out', tokens.profile.reference)).toEqual([]);
  });

  test('goes by what the person does: a refresh is a use, unless it says how long ago that was', async () => {
    const tokens = await signedIn();
    await pass(10, tokens);
    const used = (await at.refresh(tokens.refresh_token)).json;
    await pass(10, used);
    // A page that asks by itself gets tokens and no more time.
    const polled = (await at.refresh(used.refresh_token, { idle_seconds: '600' })).json;
    expect(await isIn(polled.access_token)).toBe(true);
    await pass(4, polled);
    // Nothing makes what is known of its use untrue.
    const later = (await at.refresh(polled.refresh_token, { idle_seconds: '890' })).json;
    expect(await isIn(later.access_token)).toBe(true);
    await pass(2, later);
    expect(await isIn(later.access_token)).toBe(false);
    // Nor does it come back, whatever its app says.
    expect((await at.refresh(later.refresh_token, { idle_seconds: '0' })).json.error).toBe('invalid_grant');
    const other = await signedIn();
    for (const wrong of ['-1', '1e3', '1.5', 'x'])
      expect((await at.refresh(other.refresh_token, { idle_seconds: wrong })).json.error).toBe(
        'invalid_request',
      );
    expect((await at.refresh(other.refresh_token, { idle_seconds: '900' })).json.error).toBe('invalid_grant');
    expect(await isIn(other.access_token)).toBe(false);
  });

  test('is held at the next request when it is set or shortened, and counts from then', async () => {
    await set(0);
    const tokens = await signedIn();
    const me = await at.me(tokens.access_token);
    expect([tokens.expires_in, me.headers.get('x-idle-seconds')]).toEqual([3600, null]);
    await pass(50, tokens);
    await set(30);
    expect(await isIn(tokens.access_token)).toBe(true);
    await set(10);
    await pass(9, tokens);
    expect(await isIn(tokens.access_token)).toBe(true);
    // Saved as it was: not counted anew.
    await set(10);
    await pass(2, tokens);
    expect(await isIn(tokens.access_token)).toBe(false);
    await set(15);
  });

  test('made longer or taken away, it holds at once; what is over stays over', async () => {
    const [gone, stays] = [await signedIn(), await signedIn()];
    await pass(16, gone);
    await set(0);
    const next = (await at.refresh(stays.refresh_token)).json;
    expect([next.expires_in, await isIn(gone.access_token)]).toEqual([3600, false]);
    await pass(50, next, gone);
    expect(await isIn(next.access_token)).toBe(true);
    expect((await at.refresh(gone.refresh_token)).json.error).toBe('invalid_grant');
    await set(15);
  });

  test('holds apps to it but those with offline_access, and no program', async () => {
    const body = { name: 'App', public: true };
    const app = (
      await portico.api('POST', `${path()}/client`, { token: await portico.token(second()), body })
    ).json.id;
    const [away, there, once] = await Promise.all([
      signedIn(offline, app),
      signedIn({ scope: 'openid online_access' }, app),
      signedIn({ scope: 'openid' }, app),
    ]);
    expect([away, there, once].map(({ expires_in }) => expires_in)).toEqual([3600, 450, 900]);
    await pass(16, away, there, once);
    expect(await Promise.all([away, there, once].map((one) => isIn(one.access_token)))).toEqual([
      true,
      false,
      false,
    ]);
    const refresh = (one: Answer['json']) => at.refresh(one.refresh_token, { client_id: app });
    expect([(await refresh(away)).status, (await refresh(there)).status]).toEqual([200, 400]);
    const program = await createClient(portico, {}, second());
    await pass(60, { access_token: program.token });
    expect(await isIn(program.token)).toBe(true);
  });

  test('goes by refreshes where a MedplumClient is used, which is told when it is over', async () => {
    const { email } = await signedIn();
    let ended = 0;
    const client = new MedplumClient({
      baseUrl: `${portico.baseUrl}/`,
      fetch,
      onUnauthenticated: () => {
        ended += 1;
      },
    });
    const { code = '' } = await client.startLogin({
      email,
      password,
      remember: true,
      projectId: second().id,
    });
    await client.processCode(code);
    const login = { access_token: client.getAccessToken() ?? '' };
    await pass(14, login);
    await client.refreshIfExpired(3_600_000);
    await pass(14, login);
    expect((await client.get('auth/me')).project.id).toBe(second().id);
    await pass(2, login);
    await expect(client.get('auth/me')).rejects.toThrow();
    expect(ended).toBe(1);
  });

  test('its app ends a login with oauth2/revoke, and the log says why', async () => {
    const end = (token: string, more: Record<string, string>) =>
      portico.api('POST', 'oauth2/revoke', {
        token: null,
        body: `${new URLSearchParams({ token, ...more })}`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
    const [idle, byPerson] = [await signedIn(), await signedIn()];
    await Promise.all([1, 2, 3].map(() => end(idle.refresh_token, { idle_seconds: '900' })));
    await end(byPerson.refresh_token, { idle_seconds: '30' });
    expect(await untilEntries('sign-out-idle', idle.profile.reference)).toHaveLength(1);
    expect(await untilEntries('sign-out', byPerson.profile.reference)).toHaveLength(1);
    expect(await isIn(idle.access_token)).toBe(false);
  });

  test('ends with the change to another Project, which has a time of its own', async () => {
    const tokens = await signedIn();
    const invited = await at.invite(tokens.email, 0);
    const link = await mailedLink(portico, tokens.email, (id) => id.startsWith(`${portico.projects[0]?.id}`));
    await at.post('auth/setpassword', { ...link, password });
    await pass(14, tokens);
    const { login } = (await at.post('auth/switch', pkce, tokens.access_token)).json;
    const { code } = (await at.post('auth/profile', { login, profile: invited.id })).json;
    const there = (await at.exchange(code)).json;
    expect([there.expires_in, await isIn(there.access_token)]).toEqual([3600, true]);
    await pass(40, there);
    expect(await isIn(there.access_token)).toBe(true);
  });
});
