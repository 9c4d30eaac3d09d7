import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { signToken } from '../issuer/own-issuer.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';
import { createClient } from './running.ts';
import { type SigningIn, signingIn } from './signing-in.ts';

let portico: Portico;
let at: SigningIn;
/** Of whom nothing changes but their logins. */
let email: string;
beforeAll(async () => {
  portico = await startPortico();
  at = signingIn(portico);
  ({ email } = await at.newMember());
});
afterAll(() => portico.stop());

const offline = { scope: 'openid offline_access' };
const clientPath = () => `admin/projects/${portico.projects[0]?.id}/client`;
const create = (body: object) => portico.api('POST', clientPath(), { body: { name: 'App', ...body } });
const mustAuthenticate =
  'This client has a secret or a key and must authenticate; an app that can keep none is made public (public: true)';

function expectMustAuthenticate({ status, json }: Answer) {
  expect([status, json]).toEqual([400, { error: 'invalid_client', error_description: mustAuthenticate }]);
}

async function codeFor(clientId: string): Promise<string> {
  return (await at.login(email, { clientId, ...offline })).json.code;
}

/** Changes a ClientApplication by PUT. */
async function change(id: string, fields: object): Promise<Answer> {
  const { json } = await portico.api('GET', `fhir/R4/ClientApplication/${id}`);
  return portico.api('PUT', `fhir/R4/ClientApplication/${id}`, { body: { ...json, ...fields } });
}

const patch = (id: string, operations: object[]) =>
  portico.api('PATCH', `fhir/R4/ClientApplication/${id}`, {
    body: JSON.stringify(operations),
    headers: { 'content-type': 'application/json-patch+json' },
  });

const credentials = (id: string, secret: string) =>
  at.ask({ grant_type: 'client_credentials', client_id: id, client_secret: secret });

describe('a client with a secret', () => {
  test('authenticates when it exchanges a code, which stays good until it does', async () => {
    const { id, secret } = await createClient(portico);
    const code = await codeFor(id);
    expectMustAuthenticate(await at.exchange(code, { client_id: id }));
    const wrong = await at.exchange(code, { client_id: id, client_secret: 'x'.repeat(43) });
    expect([wrong.status, wrong.json.error]).toEqual([400, 'invalid_client']);
    const other = await createClient(portico);
    const foreign = { client_id: other.id, client_secret: other.secret };
    const codeOfOther = await codeFor(id);
    expect((await at.exchange(codeOfOther, foreign)).json.error).toBe('invalid_grant');
    expect((await at.exchange(code, { client_id: id, client_secret: secret })).status).toBe(200);
  });

  test('authenticates when it refreshes, whether it names itself or not', async () => {
    const { id, secret } = await createClient(portico);
    const first = (await at.exchange(await codeFor(id), { client_id: id, client_secret: secret })).json;
    expectMustAuthenticate(await at.refresh(first.refresh_token, { client_id: id }));
    expectMustAuthenticate(await at.refresh(first.refresh_token));
    const basic = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
    const parameters = { grant_type: 'refresh_token', refresh_token: first.refresh_token };
    const wrong = await at.ask(parameters, { authorization: basic.replace(/.{4}$/, 'AAAA') });
    expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="portico"']);
    const second = await at.ask(parameters, { authorization: basic });
    expect(second.status).toBe(200);
    expect((await at.me(second.json.access_token)).status).toBe(200);
  });

  test('that has its keys published authenticates too', async () => {
    const { id } = (await create({ jwksUri: 'https://keys.example.org/jwks' })).json;
    expectMustAuthenticate(await at.exchange(await codeFor(id), { client_id: id }));
  });
});

describe('a public client', () => {
  test('is created without a secret', async () => {
    const { status, json, headers } = await create({
      public: true,
      redirectUris: ['https://app.example.org/'],
    });
    expect(status).toBe(201);
    expect(json).toMatchObject({ resourceType: 'ClientApplication', public: true });
    expect(json.secret).toBeUndefined();
    const stored = await portico.api(
      'GET',
      String(headers.get('location')).replace(`${portico.baseUrl}/`, ''),
    );
    expect(stored.json.public).toBe(true);
    for (const secret of ['', 'undefined', 'x'.repeat(43)]) {
      expect((await credentials(json.id, secret)).json.error).toBe('invalid_client');
    }
    const rotated = await portico.api('POST', `${clientPath()}/${json.id}/secret`);
    expect([rotated.status, rotated.json.issue[0].details.text]).toEqual([
      409,
      'This client is public: it has no secret',
    ]);
  });

  test('exchanges a code with its id and PKCE, and refreshes with the token alone', async () => {
    const clientId = await at.newApp();
    const first = (await at.exchange(await codeFor(clientId), { client_id: clientId })).json;
    const second = await at.ask({ grant_type: 'refresh_token', refresh_token: first.refresh_token });
    expect(second.status).toBe(200);
    expect((await at.me(second.json.access_token)).status).toBe(200);
    const named = await at.refresh(second.json.refresh_token, { client_id: clientId });
    expect(named.status).toBe(200);
  });

  test('keeps the rotation and the revocation of the family', async () => {
    const clientId = await at.newApp();
    const first = (await at.exchange(await codeFor(clientId), { client_id: clientId })).json;
    const refresh = (refresh_token: string) => at.ask({ grant_type: 'refresh_token', refresh_token });
    const second = (await refresh(first.refresh_token)).json;
    const third = (await refresh(second.refresh_token)).json;
    expect((await refresh(first.refresh_token)).json.error).toBe('invalid_grant');
    expect((await refresh(third.refresh_token)).json.error).toBe('invalid_grant');
    expect((await at.me(third.access_token)).status).toBe(401);
  });

  test.each<[string, object, string]>([
    ['a secret of no kind of truth', { public: 'yes' }, 'public'],
    ['keys', { public: true, jwksUri: 'https://keys.example.org/jwks' }, 'public'],
    ['keys of its own', { public: true, jwks: { keys: [] } }, 'public'],
  ])('has no %s', async (_, body, field) => {
    const { status, json } = await create(body);
    expect(status).toBe(400);
    expect(json.issue.flatMap(({ expression }: { expression: string[] }) => expression)).toContain(field);
  });
});

describe('an existing client', () => {
  test.each<[string, (id: string) => Promise<Answer>]>([
    ['PUT', (id) => change(id, { public: true })],
    ['PATCH', (id) => patch(id, [{ op: 'add', path: '/public', value: true }])],
  ])('that is made public by %s has no secret any more', async (_, makePublic) => {
    const { id, secret } = await createClient(portico);
    const answer = await makePublic(id);
    expect([answer.status, answer.json.public, answer.json.secret]).toEqual([200, true, undefined]);
    expect((await credentials(id, secret)).json.error).toBe('invalid_client');
    const code = await codeFor(id);
    const withSecret = await at.exchange(code, { client_id: id, client_secret: secret });
    expect(withSecret.json.error).toBe('invalid_client');
    expect((await at.exchange(code, { client_id: id })).status).toBe(200);
  });

  test('is given a secret by a rotation when it is public no longer, and not before', async () => {
    const id = await at.newApp();
    expect((await change(id, { public: false })).status).toBe(200);
    expectMustAuthenticate(await at.exchange(await codeFor(id), { client_id: id }));
    const rotated = await portico.api('POST', `${clientPath()}/${id}/secret`);
    expect(rotated.status).toBe(200);
    expect((await credentials(id, rotated.json.secret)).status).toBe(200);
  });

  test('with keys is not made public', async () => {
    const { id } = (await create({ jwksUri: 'https://keys.example.org/jwks' })).json;
    const answer = await change(id, { public: true });
    expect([answer.status, answer.json.issue[0].expression]).toEqual([400, ['jwksUri']]);
  });

  test('with keys of its own loses them when it is made public', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const jwks = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256', use: 'sig' }] };
    const { id } = (await create({ jwks })).json;
    const ask = () => {
      const exp = Math.floor(Date.now() / 1000) + 200;
      const claims = { iss: id, sub: id, aud: portico.baseUrl, jti: randomUUID(), exp };
      return at.ask({
        grant_type: 'client_credentials',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: signToken(privateKey, { alg: 'RS256', kid: 'k' }, claims),
      });
    };
    expect((await ask()).status).toBe(200);
    expect((await change(id, { public: true })).status).toBe(200);
    expect((await ask()).json.error).toBe('invalid_client');
  });

  test('keeps its secret through any other change', async () => {
    const { id, secret } = await createClient(portico);
    expect((await change(id, { name: 'Another name' })).status).toBe(200);
    expect((await credentials(id, secret)).status).toBe(200);
  });

  test('made public and rotated at once ends in one of the two, never with both', async () => {
    for (let round = 0; round < 6; round++) {
      const { id, secret } = await createClient(portico);
      const [made, rotated] = await Promise.all([
        change(id, { public: true }),
        portico.api('POST', `${clientPath()}/${id}/secret`),
      ]);
      expect(made.status).toBe(200);
      expect([200, 409]).toContain(rotated.status);
      for (const one of [secret, rotated.json.secret ?? randomUUID()]) {
        expect((await credentials(id, one)).json.error).toBe('invalid_client');
      }
      const item = (await portico.local.scan()).find(({ pk }) => pk === `C#${id}`);
      expect([item?.isPublic, item?.secretHash]).toEqual([true, undefined]);
    }
  });
});
