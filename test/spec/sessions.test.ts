import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mailedLink } from './mailed-link.ts';
import { type Portico, startPortico } from './portico.ts';
import { password, pkce, type SigningIn, signingIn } from './signing-in.ts';

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
  test.each(['patient/*.rs', 'user/Observation.cruds openid', 'user/*.read launch/patient'])(
    'of %s neither lists nor ends sessions',
    async (scope) => {
      const { email } = await at.newMember();
      const { access_token: own } = await at.signIn(email);
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
    // To ask ends nothing.
    expect((await at.me(tokens[0])).status).toBe(200);
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
    const stranger = await inBoth();
    const step = await begin(tokens[0]);
    expect(step.json.memberships).toHaveLength(1);
    for (const id of stranger.memberships)
      expect((await choose(step.json.login, String(id))).status).toBe(400);
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
    const { email } = await inBoth();
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
