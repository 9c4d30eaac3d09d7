import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Browser } from '../issuer/browser.ts';
import { type OwnIssuer, startOwnIssuer } from '../issuer/own-issuer.ts';
import { type Portico, startPortico } from './portico.ts';
import { type WithIssuer, withIssuer } from './with-issuer.ts';

/** The honest issuer of the first Project, and one that its second Project runs to get at others. */
let portico: Portico;
let honest: OwnIssuer;
let evil: OwnIssuer;
let external: WithIssuer;

beforeAll(async () => {
  [portico, honest, evil] = await Promise.all([startPortico(), startOwnIssuer(), startOwnIssuer()]);
  external = withIssuer(portico);
  for (const [{ issuer, clientId }, index] of [
    [honest, 0],
    [evil, 1],
  ] as const) {
    expect((await external.configure({ issuer, clientId }, index)).status).toBe(200);
  }
});
afterAll(async () => {
  await portico.stop();
  await Promise.all([honest.stop(), evil.stop()]);
});

const errorOf = (back: URL) => back.searchParams.get('error');

/** Where an issuer would send the browser back to, with an ID token ready at its token endpoint. */
function callbackOf(at: OwnIssuer, location: string, claims: object): string {
  const asked = new URL(location).searchParams;
  at.idToken = at.token({ nonce: asked.get('nonce'), ...claims });
  return `${asked.get('redirect_uri')}?${new URLSearchParams({ code: 'a code', state: String(asked.get('state')) })}`;
}

async function started(issuer: string, browser: Browser, index: 0 | 1): Promise<string> {
  const answer = await browser.get(external.startUrl(issuer, {}, index));
  return String(answer.headers.get('location'));
}

async function joinHonest(sub: string) {
  const invited = await external.invite(honest.issuer);
  const browser = new Browser();
  const { json } = await external.accept(browser, invited.link);
  const back = await browser.follow(callbackOf(honest, json.location, { sub }), external.appUri);
  return { ...invited, token: (await external.tokenFor(back)).json.access_token as string };
}

describe('an issuer of another Project', () => {
  test('says who it likes, and gets nobody: subject, address and issuer of others', async () => {
    const { email } = await joinHonest('victim');
    for (const claims of [
      { sub: 'victim' },
      { sub: 'victim', email, email_verified: true, preferred_username: email },
      { sub: email },
      { sub: 'victim', iss: honest.issuer },
    ]) {
      const browser = new Browser();
      const location = await started(evil.issuer, browser, 1);
      const back = await browser.follow(callbackOf(evil, location, claims), external.appUri);
      expect([errorOf(back), back.searchParams.get('code')]).toEqual(['access_denied', null]);
    }
  });

  test('gets nobody by inviting them: only the person has the link', async () => {
    const { email } = await joinHonest('invited elsewhere');
    const invited = await external.invite(evil.issuer, { email, admin: false }, 1);
    const browser = new Browser();
    const location = await started(evil.issuer, browser, 1);
    const back = await browser.follow(callbackOf(evil, location, { sub: email }), external.appUri);
    expect(errorOf(back)).toBe('access_denied');
    const secret = `${invited.link.secret.slice(0, -2)}AA`;
    expect((await external.accept(browser, { ...invited.link, secret })).status).toBe(400);
  });

  test('cannot answer for the honest one (mix-up), nor be answered for', async () => {
    await joinHonest('mixed up');
    const browser = new Browser();
    const toHonest = await started(honest.issuer, browser, 0);
    const toEvil = await started(evil.issuer, browser, 1);
    const [honestBack, evilBack] = [toHonest, toEvil].map(
      (location) => new URL(String(new URL(location).searchParams.get('redirect_uri'))).pathname,
    );
    expect(honestBack).not.toBe(evilBack);
    const hits = evil.hits.get('/token');
    // The honest issuer's code, sent to the address of the evil one, and the other way round.
    for (const [from, to] of [
      [callbackOf(honest, toHonest, { sub: 'mixed up' }), evilBack],
      [callbackOf(evil, toEvil, { sub: 'mixed up' }), honestBack],
    ] as const) {
      const url = new URL(from);
      url.pathname = String(to);
      expect((await browser.get(url.href)).status).toBe(400);
    }
    expect(evil.hits.get('/token')).toBe(hits);
  });

  test('cannot be named as the sender of the honest one’s answer', async () => {
    await joinHonest('named');
    const browser = new Browser();
    const location = await started(honest.issuer, browser, 0);
    const url = `${callbackOf(honest, location, { sub: 'named' })}&iss=${encodeURIComponent(evil.issuer)}`;
    expect(errorOf(await browser.follow(url, external.appUri))).toBe('access_denied');
  });
});

describe('a login that an issuer of a Project made', () => {
  test('changes nothing of what the person is above Projects', async () => {
    const { token } = await joinHonest('changes nothing');
    const body = { oldPassword: 'correct horse battery', newPassword: 'another horse battery' };
    expect((await portico.api('POST', 'auth/changepassword', { token, body })).status).toBe(403);
    expect((await portico.api('POST', 'auth/mfa/enroll', { token, body: { token: '000000' } })).status).toBe(
      403,
    );
  });

  test('is worth nothing once the membership wants another way in', async () => {
    const { membership } = await joinHonest('wants another');
    const path = `admin/projects/${portico.projects[0]?.id}/members/${membership}`;
    const change = { authentication: 'password' };
    expect((await portico.api('POST', path, { body: change })).status).toBe(200);
    const browser = new Browser();
    const location = await started(honest.issuer, browser, 0);
    const back = await browser.follow(
      callbackOf(honest, location, { sub: 'wants another' }),
      external.appUri,
    );
    expect(errorOf(back)).toBe('access_denied');
  });
});

describe('an issuer that fails while somebody is on the way', () => {
  test.each([
    ['refuses the code', 400, '{"error":"invalid_grant"}', 'access_denied'],
    ['gives no ID token', 200, '{"access_token":"x"}', 'access_denied'],
    ['answers with a page', 500, '<html>', 'temporarily_unavailable'],
  ])('%s: the client is told', async (_what, status, body, error) => {
    const browser = new Browser();
    const location = await started(honest.issuer, browser, 0);
    const url = callbackOf(honest, location, { sub: 'fails' });
    honest.answers.set('/token', (_request, response) => response.writeHead(status).end(body));
    const back = await browser.follow(url, external.appUri);
    honest.answers.clear();
    expect(errorOf(back)).toBe(error);
    expect(back.searchParams.get('state')).toBe('client state');
    expect(back.href).not.toContain('html');
  });
});
