import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as client from 'openid-client';
import { type Portico, startPortico } from './portico.ts';
import { projectOf } from './running.ts';
import { type SigningIn, signingIn } from './signing-in.ts';
import { signInThere } from './smart-app.ts';

let portico: Portico;
let at: SigningIn;
beforeAll(async () => {
  portico = await startPortico();
  at = signingIn(portico);
});
afterAll(() => portico.stop());

const redirect_uri = 'https://app.example.org/callback';
const bye = 'https://app.example.org/bye';

async function newClient(fields: object): Promise<{ id: string; secret: string }> {
  const path = `admin/projects/${projectOf(portico, 0).id}/client`;
  const body = { name: 'OIDC app', redirectUris: [redirect_uri], postLogoutRedirectUris: [bye], ...fields };
  return (await portico.api('POST', path, { body })).json;
}

const onLoopback = { execute: [client.allowInsecureRequests] };

function discover(id: string, authentication: client.ClientAuth) {
  return client.discovery(new URL(portico.baseUrl), id, {}, authentication, onLoopback);
}

/** The authorization code flow with PKCE, state and nonce, all of which the library checks. */
async function signedIn(config: client.Configuration, email: string, scope: string) {
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const [expectedState, expectedNonce] = [client.randomState(), client.randomNonce()];
  const url = client.buildAuthorizationUrl(config, {
    ...{ redirect_uri, scope, state: expectedState, nonce: expectedNonce },
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  });
  const back = new URL(await signInThere(at, url.href, email));
  const checks = { pkceCodeVerifier, expectedState, expectedNonce };
  return client.authorizationCodeGrant(config, back, { ...checks, idTokenExpected: true });
}

const isIn = async (token: string) => (await at.me(token)).status === 200;

describe('openid-client, unmodified', () => {
  test.each<[string, object, (secret: string) => client.ClientAuth]>([
    ['a public app', { public: true }, () => client.None()],
    ['an app with a secret in the header', {}, (secret) => client.ClientSecretBasic(secret)],
    ['an app with a secret in the body', {}, (secret) => client.ClientSecretPost(secret)],
  ])('signs a person in to %s, refreshes, revokes', async (_, fields, authentication) => {
    const { id, secret } = await newClient(fields);
    const config = await discover(id, authentication(secret));
    const { email, user } = await at.newMember();
    const tokens = await signedIn(config, email, 'openid profile email offline_access');
    expect(tokens.claims()).toMatchObject({ iss: portico.baseUrl, aud: id, sub: user });
    const info = await client.fetchUserInfo(config, tokens.access_token, user);
    expect(info).toMatchObject({ sub: user, email, name: 'Ann Lee' });
    const next = await client.refreshTokenGrant(config, String(tokens.refresh_token));
    expect(await isIn(next.access_token)).toBe(true);
    await client.tokenRevocation(config, String(next.refresh_token));
    expect([await isIn(next.access_token), await isIn(tokens.access_token)]).toEqual([false, false]);
    await expect(client.refreshTokenGrant(config, String(next.refresh_token))).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  test('signs in to an app that signs its requests, and introspects', async () => {
    const keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
      'sign',
      'verify',
    ]);
    const jwk = {
      ...(await crypto.subtle.exportKey('jwk', keys.publicKey)),
      kid: 'k',
      alg: 'ES256',
      use: 'sig',
    };
    const { key_ops: _, ext: __, ...published } = jwk;
    const { id } = await newClient({ jwks: { keys: [published] } });
    const config = await discover(id, client.PrivateKeyJwt({ key: keys.privateKey, kid: 'k' }));
    const { email, user } = await at.newMember({ resourceType: 'Patient' });
    const tokens = await signedIn(config, email, 'openid launch/patient patient/*.rs');
    const told = await client.tokenIntrospection(config, tokens.access_token);
    expect(told).toMatchObject({ active: true, client_id: id, sub: user, patient: tokens.patient });
    expect(told.patient).toBeDefined();
    const own = await client.clientCredentialsGrant(config, { scope: 'system/*.rs' });
    expect((await client.tokenIntrospection(config, own.access_token)).sub).toBe(id);
    await client.tokenRevocation(config, own.access_token);
    expect(await client.tokenIntrospection(config, own.access_token)).toEqual({ active: false });
  });

  test('an app that forgets its secret is refused, and told so', async () => {
    const { id } = await newClient({});
    const config = await discover(id, client.None());
    const { email } = await at.newMember();
    await expect(signedIn(config, email, 'openid')).rejects.toMatchObject({
      error: 'invalid_client',
      error_description: expect.stringMatching(/must authenticate.*public: true/),
    });
  });

  test('signs a person out by the address that it builds', async () => {
    const { id } = await newClient({ public: true });
    const config = await discover(id, client.None());
    const { email } = await at.newMember();
    const tokens = await signedIn(config, email, 'openid offline_access');
    const url = client.buildEndSessionUrl(config, {
      id_token_hint: String(tokens.id_token),
      post_logout_redirect_uri: bye,
      state: 'out',
    });
    const answer = await fetch(url, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, `${bye}?state=out`]);
    expect(await isIn(tokens.access_token)).toBe(false);
  });
});
