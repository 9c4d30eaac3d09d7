import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Browser } from '../issuer/browser.ts';
import { type OwnIssuer, startOwnIssuer } from '../issuer/own-issuer.ts';
import { age } from './aging.ts';
import { newPerson, tokenOf } from './people.ts';
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

async function joinHonest(sub: string, change: object = {}, claims: object = {}) {
  const invited = await external.invite(honest.issuer, change);
  const browser = new Browser();
  const { json } = await external.accept(browser, invited.link);
  const back = await browser.follow(callbackOf(honest, json.location, { sub, ...claims }), external.appUri);
  return { ...invited, token: (await external.tokenFor(back)).json.access_token as string };
}

describe('an issuer that is asked for a sign-in anew', () => {
  const seconds = () => Math.floor(Date.now() / 1000);
  const isAsked = async (token: string) => {
    const path = `admin/projects/${portico.projects[0]?.id}/client`;
    const { json } = await portico.api('POST', path, { token, body: { name: 'Key' } });
    return json.id === 'insufficient-user-authentication';
  };

  test.each<[string, (sub: string) => object]>([
    ['does not say when that was', (sub) => ({ sub })],
    ['has asked for nothing', (sub) => ({ sub, auth_time: seconds() - 301 })],
    ['says it in words', (sub) => ({ sub, auth_time: String(seconds()) })],
    ['names somebody else', (sub) => ({ sub: `${sub}-too`, auth_time: seconds() })],
    ['answers another request', (sub) => ({ sub, auth_time: seconds(), nonce: 'of another' })],
  ])('renews nothing when it %s', async (what, claims) => {
    const sub = `anew ${what}`;
    const { token } = await joinHonest(sub, { admin: true });
    await joinHonest(`${sub}-too`);
    const browser = new Browser();
    const { json } = await external.begin(browser, token);
    const back = await browser.follow(callbackOf(honest, json.location, claims(sub)), external.appUri);
    expect([errorOf(back), await isAsked(token)]).toEqual(['access_denied', true]);
  });

  test('renews the login that asked, in the browser that asked, while it lasts', async () => {
    const { token } = await joinHonest('lasting', { admin: true });
    const begun = async () => {
      const browser = new Browser();
      const { json } = await external.begin(browser, token);
      return {
        browser,
        callback: callbackOf(honest, json.location, { sub: 'lasting', auth_time: seconds() - 200 }),
      };
    };
    const stolen = await new Browser().get((await begun()).callback);
    expect([stolen.status, await isAsked(token)]).toEqual([400, true]);
    const { browser, callback } = await begun();
    expect(errorOf(await browser.follow(callback, external.appUri))).toBeNull();
    expect(await isAsked(token)).toBe(false);
    // What the issuer says counts, not when they came back.
    await age(portico, token, 2);
    expect(await isAsked(token)).toBe(true);
    const last = await begun();
    await portico.api('POST', 'oauth2/logout', { token });
    expect(errorOf(await last.browser.follow(last.callback, external.appUri))).toBe('access_denied');
  });

  test('with a membership that wants a second factor, renews nothing without one', async () => {
    const change = { admin: true, mfaRequired: true };
    const { token } = await joinHonest('factors', change, { amr: ['mfa'] });
    for (const [claims, isRenewed] of [
      [{}, false],
      [{ amr: ['mfa'] }, true],
    ] as const) {
      const browser = new Browser();
      const { json } = await external.begin(browser, token);
      const callback = callbackOf(honest, json.location, { sub: 'factors', auth_time: seconds(), ...claims });
      await browser.follow(callback, external.appUri);
      expect(await isAsked(token)).toBe(!isRenewed);
    }
  });

  test('that says when they signed in is believed at once', async () => {
    const just = await joinHonest('just', { admin: true }, { auth_time: seconds() - 10 });
    const longAgo = await joinHonest('long ago', { admin: true }, { auth_time: seconds() - 600 });
    expect([await isAsked(just.token), await isAsked(longAgo.token)]).toEqual([false, true]);
    // Nothing is to be renewed then; a login that has ended meanwhile is refused all the same.
    const browser = new Browser();
    const { json } = await external.begin(browser, just.token);
    const claims = { sub: 'just', auth_time: seconds() - 60 };
    await portico.api('POST', 'oauth2/logout', { token: just.token });
    const back = await browser.follow(callbackOf(honest, json.location, claims), external.appUri);
    expect(errorOf(back)).toBe('access_denied');
  });

  test('is asked for nobody else’s login, nor for one that it did not vouch for', async () => {
    const answer = await external.begin(new Browser(), await tokenOf(portico, await newPerson(portico)));
    expect(answer.status).toBe(400);
    expect((await external.begin(new Browser(), await portico.token())).status).toBe(403);
  });
});

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
