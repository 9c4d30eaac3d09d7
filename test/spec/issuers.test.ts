import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type OwnIssuer, startOwnIssuer } from '../issuer/own-issuer.ts';
import { expectRefused } from './inviting.ts';
import { type Portico, startPortico } from './portico.ts';
import { createClient } from './running.ts';
import { type SigningIn, signingIn } from './signing-in.ts';
import { type WithIssuer, withIssuer } from './with-issuer.ts';

let portico: Portico;
let own: OwnIssuer;
let at: SigningIn;
let external: WithIssuer;
let path = '';

beforeAll(async () => {
  [portico, own] = await Promise.all([startPortico(), startOwnIssuer()]);
  at = signingIn(portico);
  external = withIssuer(portico);
  path = `admin/projects/${portico.projects[0]?.id}/issuers`;
});
afterAll(async () => {
  await portico.stop();
  await own.stop();
});

const clientSecret = 'a secret of our client at the issuer';

describe('the issuers of a Project', () => {
  test('are listed without their secrets, which are stored encrypted', async () => {
    const added = await external.configure({ issuer: own.issuer, clientId: 'us', clientSecret });
    expect(added.status).toBe(200);
    const shown = {
      id: added.json.id,
      issuer: own.issuer,
      clientId: 'us',
      hasSecret: true,
      redirectUri: `${portico.baseUrl}/auth/external/${added.json.id}`,
    };
    expect(added.json).toEqual(shown);
    expect((await portico.api('GET', path)).json).toEqual({ issuers: [shown] });
    expect(JSON.stringify(await portico.local.scan())).not.toContain(clientSecret);
  });

  test('are replaced by configuring one again, and keep their id', async () => {
    const first = await external.configure({ issuer: own.issuer, clientId: 'us', clientSecret });
    const second = await external.configure({ issuer: own.issuer, clientId: 'we' });
    expect(second.json).toMatchObject({ id: first.json.id, clientId: 'we', hasSecret: false });
    expect((await portico.api('GET', path)).json.issuers).toHaveLength(1);
  });

  test('are removed, and then nobody signs in with them', async () => {
    const { json } = await external.configure({ issuer: own.issuer, clientId: own.clientId });
    expect((await fetch(external.startUrl(own.issuer), { redirect: 'manual' })).status).toBe(302);
    expect((await portico.api('DELETE', `${path}/${json.id}`)).status).toBe(200);
    expect((await portico.api('DELETE', `${path}/${json.id}`)).status).toBe(404);
    expect((await portico.api('DELETE', `${path}/..%2fx`)).status).toBe(404);
    expect((await fetch(external.startUrl(own.issuer), { redirect: 'manual' })).status).toBe(400);
  });

  test('are another matter in another Project', async () => {
    const here = await external.configure({ issuer: own.issuer, clientId: 'us' });
    const there = await external.configure({ issuer: own.issuer, clientId: 'us' }, 1);
    expect(there.json.id).not.toBe(here.json.id);
    const token = await portico.token(portico.projects[1]);
    const foreign = `admin/projects/${portico.projects[1]?.id}/issuers`;
    expect((await portico.api('DELETE', `${foreign}/${here.json.id}`, { token })).status).toBe(404);
    expect((await portico.api('GET', path)).json.issuers).toHaveLength(1);
  });

  test('are tested as they answer just now, and nothing from memory', async () => {
    const passing = await startOwnIssuer();
    const { json } = await external.configure({ issuer: passing.issuer, clientId: 'us' });
    const tried = () => portico.api('POST', `${path}/${json.id}/test`);
    const works = await tried();
    expect([works.status, works.json]).toEqual([
      200,
      {
        works: true,
        authorizationEndpoint: expect.stringContaining(passing.issuer),
        tokenEndpoint: expect.stringContaining(passing.issuer),
      },
    ]);
    const token = await portico.token(portico.projects[1]);
    const foreign = `admin/projects/${portico.projects[1]?.id}/issuers/${json.id}/test`;
    expect((await portico.api('POST', foreign, { token })).status).toBe(404);
    expect((await portico.api('POST', `${path}/none/test`)).status).toBe(404);
    await passing.stop();
    expect((await tried()).json).toEqual({ works: false, problem: expect.any(String) });
    expect((await portico.api('DELETE', `${path}/${json.id}`)).status).toBe(200);
  });

  test('are for its administrators only', async () => {
    const { email } = await at.newMember();
    const { access_token: member } = await at.signIn(email);
    const { token: program } = await createClient(portico);
    const otherAdmin = await portico.token(portico.projects[1]);
    for (const token of [member, program, otherAdmin]) {
      for (const [method, where] of [
        ['GET', path],
        ['POST', path],
        ['DELETE', `${path}/x`],
      ] as const) {
        const body = method === 'POST' ? { issuer: own.issuer, clientId: 'us' } : undefined;
        expect((await portico.api(method, where, { token, body })).status).toBe(403);
      }
    }
    expect((await portico.api('GET', path, { token: null })).status).toBe(401);
  });

  test('are added by nobody who was removed while the issuer was asked', async () => {
    const asked = await startOwnIssuer();
    const leaving = await createClient(portico, { admin: true });
    const metadata = '/.well-known/openid-configuration';
    asked.answers.set(metadata, async (_request, response) => {
      await portico.api('DELETE', `fhir/R4/ClientApplication/${leaving.id}`);
      const endpoints = { authorization_endpoint: `${asked.issuer}/a`, token_endpoint: `${asked.issuer}/t` };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ issuer: asked.issuer, jwks_uri: `${asked.issuer}/jwks`, ...endpoints }));
    });
    const body = { issuer: asked.issuer, clientId: 'us' };
    expect((await portico.api('POST', path, { token: leaving.token, body })).status).toBe(401);
    expect(asked.hits.get(metadata)).toBe(1);
    expect((await portico.api('GET', path)).text).not.toContain(asked.issuer);
    await asked.stop();
  });

  test('leave an AuditEvent when they change', async () => {
    const { json } = await external.configure({ issuer: own.issuer, clientId: 'audited' });
    await portico.api('DELETE', `${path}/${json.id}`);
    const events = (await portico.local.scan('#AuditEvent#')).filter(({ content }) =>
      String(content).includes(json.id),
    );
    const codes = events.map(({ content }) => JSON.parse(String(content)).subtype[0].code);
    expect(codes.sort().at(-1)).toBe('remove-issuer');
    expect(codes).toContain('add-issuer');
  });
});

describe('an issuer is refused', () => {
  const wrong = 'issuer must be an https URL without query or fragment';
  test.each([
    [undefined],
    [''],
    ['http://issuer.example'],
    ['https://issuer.example/?a=b'],
    ['https://issuer.example/#a'],
    ['https://user:password@issuer.example'],
    ['ftp://issuer.example'],
    ['https://'],
    [`https://issuer.example/${'x'.repeat(255)}`],
    [{ toString: 'x' }],
    ['http://169.254.169.254'],
    ['http://localhost.evil.example'],
  ])('as %p', async (issuer) => {
    expectRefused(await external.configure({ issuer, clientId: 'us' }), 400, wrong, 'issuer');
  });

  test.each([
    ['a private address', 'https://10.0.0.1', /not a public address/],
    ['the metadata service', 'https://169.254.169.254', /not a public address/],
    ['a private address in decimal', 'https://167772161', /not a public address/],
    ['a private address in IPv6', 'https://[::ffff:10.0.0.1]', /not a public address/],
    ['a port where nobody listens', 'http://127.0.0.1:9', /ECONNREFUSED/],
  ])('at %s', async (_what, issuer, text) => {
    const answer = await external.configure({ issuer, clientId: 'us' });
    expect(answer.status).toBe(400);
    expect(answer.json.issue[0]).toMatchObject({ expression: ['issuer'] });
    expect(answer.json.issue[0].details.text).toMatch(text);
  });

  test.each([
    ['clientId', { clientId: undefined }],
    ['clientId', { clientId: 'a\nb' }],
    ['clientId', { clientId: 'x'.repeat(501) }],
    ['clientSecret', { clientSecret: 'a\u0000b' }],
    ['clientSecret', { clientSecret: 7 }],
  ])('with a wrong %s', async (field, change) => {
    const answer = await external.configure({ issuer: own.issuer, clientId: 'us', ...change });
    expect([answer.status, answer.json.issue[0].expression]).toEqual([400, [field]]);
  });
});
