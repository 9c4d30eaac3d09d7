import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Browser } from '../issuer/browser.ts';
import { type RealIssuer, startRealIssuer } from '../issuer/real-issuer.ts';
import { expectRefused } from './inviting.ts';
import { type Portico, startPortico } from './portico.ts';
import { newAddress, type SigningIn, signingIn } from './signing-in.ts';
import { type WithIssuer, withIssuer } from './with-issuer.ts';

let portico: Portico;
let real: RealIssuer;
let at: SigningIn;
let external: WithIssuer;

beforeAll(async () => {
  [portico, real] = await Promise.all([startPortico(), startRealIssuer()]);
  at = signingIn(portico);
  external = withIssuer(portico);
  for (const index of [0, 1] as const) await register(index);
});
afterAll(async () => {
  await portico.stop();
  await real.stop();
});

/** As an administrator does it: learn the redirect URI, register, configure. */
async function register(index: 0 | 1, method?: string): Promise<void> {
  const { issuer } = real;
  const draft = await external.configure({ issuer, clientId: 'not registered yet' }, index);
  expect(draft.status).toBe(200);
  const client = await real.register(draft.json.redirectUri, method);
  expect((await external.configure({ issuer, ...client }, index)).status).toBe(200);
}

let people = 0;
/** Somebody who has not been here is signed in at the issuer. */
function somebodyNew(): string {
  people += 1;
  real.subject = `person-${people}`;
  return real.subject;
}

const errorOf = (back: URL) => [back.searchParams.get('error'), back.searchParams.get('error_description')];
const notLinked = 'This account is not linked yet: follow the link of an invitation';

describe('a person whose membership names an issuer', () => {
  test('accepts the invitation by signing in there, and comes back signed in', async () => {
    somebodyNew();
    const { back, membership, email } = await external.join(real.issuer);
    const { json } = await external.tokenFor(back);
    expect((await at.me(json.access_token)).json).toMatchObject({
      user: { email },
      membership: { id: membership, active: true, authentication: { issuer: real.issuer } },
    });
  });

  test('signs in from then on, in any browser', async () => {
    somebodyNew();
    const { membership } = await external.join(real.issuer);
    const back = await external.signIn(real.issuer);
    expect(back.searchParams.get('state')).toBe('client state');
    const { json } = await external.tokenFor(back);
    expect((await at.me(json.access_token)).json.membership.id).toBe(membership);
  });

  test('shows again who they are by signing in there anew: the same token may make keys then', async () => {
    const subject = somebodyNew();
    const { back } = await external.join(real.issuer, { admin: true });
    const token = (await external.tokenFor(back)).json.access_token;
    const makeKey = () =>
      portico.api('POST', `admin/projects/${portico.projects[0]?.id}/client`, {
        token,
        body: { name: 'Key' },
      });
    const asked = 'insufficient-user-authentication';
    // The issuer knows them from before: nobody has shown anything now.
    expect((await makeKey()).json.id).toBe(asked);
    const again = async () => {
      const browser = new Browser();
      const { json } = await external.begin(browser, token);
      expect(Object.fromEntries(new URL(json.location).searchParams)).toMatchObject({
        prompt: 'login',
        max_age: '0',
      });
      return browser.follow(json.location, external.appUri);
    };
    somebodyNew();
    expect(errorOf(await again())[0]).toBe('access_denied');
    expect((await makeKey()).json.id).toBe(asked);
    real.subject = subject;
    expect([...(await again()).searchParams]).toEqual([['state', 'of the page']]);
    expect((await makeKey()).status).toBe(201);
    const { issue } = (await at.post('auth/reauthenticate', { password: 'x' }, token)).json;
    expect(issue[0].details.text).toContain('auth/external/reauthenticate');
  });

  test('is a stranger until the link was followed, even with the invited address', async () => {
    const email = newAddress();
    real.subject = email;
    await external.invite(real.issuer, { email });
    expect(errorOf(await external.signIn(real.issuer))).toEqual(['access_denied', notLinked]);
  });

  test('cannot accept with a password, nor sign in with one', async () => {
    somebodyNew();
    const { link, email } = await external.invite(real.issuer);
    const answer = await at.post('auth/setpassword', { ...link, password: 'correct horse battery' });
    expect(answer.status).toBe(400);
    const login = await at.login(email);
    expect(login.status).toBe(400);
  });

  test('chooses an open invitation at the next sign-in, which accepts it', async () => {
    somebodyNew();
    const first = await external.join(real.issuer);
    const change = { email: first.email, resourceType: 'Patient', forceNewMembership: true };
    const second = await external.invite(real.issuer, change);
    const back = await external.signIn(real.issuer);
    expect(back.searchParams.get('code')).toBeNull();
    const fragment = new URLSearchParams(back.hash.slice(1));
    const memberships = JSON.parse(String(fragment.get('memberships'))) as { id: string }[];
    expect(memberships.map(({ id }) => id).sort()).toEqual([first.membership, second.membership].sort());
    const chosen = await at.post('auth/profile', {
      login: fragment.get('login'),
      profile: second.membership,
    });
    const { json } = await at.exchange(chosen.json.code, { redirect_uri: external.appUri });
    expect((await at.me(json.access_token)).json.membership).toMatchObject({
      id: second.membership,
      active: true,
    });
  });

  test('with several patients is asked, after the one membership, whose record an app is for', async () => {
    const patients = await Promise.all(
      ['Ann', 'Bea'].map(async (given) => {
        const body = { resourceType: 'Patient', name: [{ given: [given], family: 'Kid' }] };
        const { json } = await portico.api('POST', 'fhir/R4/Patient', { body });
        return { reference: `Patient/${json.id}` };
      }),
    );
    somebodyNew();
    const change = { resourceType: 'RelatedPerson', patient: patients };
    const { membership } = await external.join(real.issuer, change);
    const back = await external.signIn(real.issuer, { scope: 'openid launch/patient patient/*.rs' });
    expect(back.searchParams.get('code')).toBeNull();
    const fragment = new URLSearchParams(back.hash.slice(1));
    expect(JSON.parse(String(fragment.get('memberships')))).toEqual([
      expect.objectContaining({ id: membership }),
    ]);
    const sent = { login: fragment.get('login'), profile: membership };
    const asked = await at.post('auth/profile', sent);
    expect(asked.json.patients.map(({ display }: { display: string }) => display).sort()).toEqual([
      'Ann Kid',
      'Bea Kid',
    ]);
    const patient = patients[1]?.reference;
    const chosen = await at.post('auth/profile', { ...sent, patient });
    const { json } = await at.exchange(chosen.json.code, { redirect_uri: external.appUri });
    expect(`Patient/${json.patient}`).toBe(patient);
    // Without such a scope there is nothing to choose.
    expect((await external.signIn(real.issuer)).searchParams.get('code')).not.toBeNull();
  });

  test('may be one with a public client at the issuer, without a secret', async () => {
    await register(0, 'none');
    somebodyNew();
    const { back } = await external.join(real.issuer);
    expect((await external.tokenFor(back)).status).toBe(200);
    await register(0, 'client_secret_post');
  });
});

describe('a link', () => {
  test('is used once, also by two browsers at the same time', async () => {
    const { link, membership } = await external.invite(real.issuer);
    const starts = [];
    for (let n = 0; n < 3; n++) {
      const browser = new Browser();
      const { json } = await external.accept(browser, link);
      starts.push({ browser, location: json.location });
    }
    const backs = await Promise.all(
      starts.map(({ browser, location }, n) => {
        real.subject = `racer-${n}`;
        return browser.follow(location, external.appUri);
      }),
    );
    const codes = backs.filter((back) => back.searchParams.has('code'));
    expect(codes).toHaveLength(1);
    const path = `admin/projects/${portico.projects[0]?.id}/members/${membership}`;
    expect((await portico.api('GET', path)).json.active).toBe(true);
  });

  test('that died meanwhile accepts nothing and links nobody', async () => {
    somebodyNew();
    const { link, membership } = await external.invite(real.issuer);
    const browser = new Browser();
    const { json } = await external.accept(browser, link);
    const path = `admin/projects/${portico.projects[0]?.id}/members/${membership}/invitation`;
    expect((await portico.api('DELETE', path)).status).toBe(200);
    const back = await browser.follow(json.location, external.appUri);
    expect(errorOf(back)).toEqual(['access_denied', 'This link is not valid any more']);
    expect(errorOf(await external.signIn(real.issuer))).toEqual(['access_denied', notLinked]);
    expectRefused(await external.accept(browser, link), 400, 'This link is not valid any more');
  });

  test('links nobody who is another person of the Project already', async () => {
    somebodyNew();
    await external.join(real.issuer);
    const { back } = await external.join(real.issuer);
    expect(errorOf(back)).toEqual(['access_denied', 'This account belongs to another person']);
  });

  test('of a removed and invited person links the account they have now, and only that', async () => {
    const lost = somebodyNew();
    const first = await external.join(real.issuer);
    const path = `admin/projects/${portico.projects[0]?.id}/members/${first.membership}`;
    expect((await portico.api('DELETE', path)).status).toBe(200);
    expect(errorOf(await external.signIn(real.issuer))[0]).toBe('access_denied');
    somebodyNew();
    const { back } = await external.join(real.issuer, { email: first.email });
    expect((await external.tokenFor(back)).status).toBe(200);
    real.subject = lost;
    expect(errorOf(await external.signIn(real.issuer))).toEqual(['access_denied', notLinked]);
  });

  test('of an invitation with a password starts nothing here', async () => {
    const { link } = await external.invite(real.issuer, { authentication: 'password' });
    const answer = await external.accept(new Browser(), link);
    expectRefused(answer, 400, 'This invitation is accepted with a password');
  });
});

describe('another Project', () => {
  test('has its own subjects: the same person at the same issuer is a stranger there', async () => {
    somebodyNew();
    await external.join(real.issuer);
    expect(errorOf(await external.signIn(real.issuer, {}, 1))).toEqual(['access_denied', notLinked]);
  });

  test('is not opened by a login that an issuer of this one made, though User and issuer are the same', async () => {
    const subject = somebodyNew();
    const here = await external.join(real.issuer);
    const there = await external.join(real.issuer, { email: here.email }, 1);
    expect(there.user).toBe(here.user);
    const { json } = await external.tokenFor(await external.signIn(real.issuer));
    expect((await at.me(json.access_token)).json.membership.id).toBe(here.membership);
    real.subject = subject;
    const second = await external.invite(real.issuer, {
      email: here.email,
      resourceType: 'Patient',
      forceNewMembership: true,
    });
    const back = await external.signIn(real.issuer);
    const fragment = new URLSearchParams(back.hash.slice(1));
    const offered = JSON.parse(String(fragment.get('memberships'))) as { id: string }[];
    expect(offered.map(({ id }) => id).sort()).toEqual([here.membership, second.membership].sort());
    const chosen = await at.post('auth/profile', { login: fragment.get('login'), profile: there.membership });
    expectRefused(chosen, 400, 'Sign in again');
  });

  test('is not opened for a member with a password either', async () => {
    somebodyNew();
    const { email } = await at.newMember();
    const invited = await external.join(real.issuer, { email }, 1);
    const { json } = await external.tokenFor(invited.back);
    expect((await at.me(json.access_token)).json.project.id).toBe(portico.projects[1]?.id);
    expect(errorOf(await external.signIn(real.issuer))).toEqual(['access_denied', notLinked]);
  });
});

describe('what is made up', () => {
  /** A callback as the issuer sends it, not opened yet. */
  async function callback(browser: Browser): Promise<string> {
    const start = external.startUrl(real.issuer);
    return (await browser.follow(start, `${portico.baseUrl}/auth/external/`, { leaving: start })).href;
  }

  test('a callback in a browser that did not start the sign-in', async () => {
    somebodyNew();
    await external.join(real.issuer);
    const url = await callback(new Browser());
    for (const browser of [new Browser(), await startedAnother()]) {
      const answer = await browser.get(url);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({
        issue: [{ details: { text: 'Start the sign-in again' } }],
      });
    }
  });

  async function startedAnother(): Promise<Browser> {
    const browser = new Browser();
    await callback(browser);
    return browser;
  }

  test.each([
    ['another state', (url: URL) => url.searchParams.set('state', 'x'.repeat(43)), 400],
    ['no state', (url: URL) => url.searchParams.delete('state'), 400],
    ['the address of another issuer', (url: URL) => (url.pathname = '/auth/external/another'), 400],
    ['a code of nobody', (url: URL) => url.searchParams.set('code', 'made-up'), 302],
    ['no code', (url: URL) => url.searchParams.delete('code'), 302],
    ['another issuer as sender', (url: URL) => url.searchParams.set('iss', 'https://other.example'), 302],
    ['no sender where one is promised', (url: URL) => url.searchParams.delete('iss'), 302],
    ['an error beside a code', (url: URL) => url.searchParams.set('error', 'access_denied'), 302],
  ])('a callback with %s', async (_what, change, status) => {
    somebodyNew();
    await external.join(real.issuer);
    const browser = new Browser();
    const url = new URL(await callback(browser));
    change(url);
    const answer = await browser.get(url.href);
    expect(answer.status).toBe(status);
    if (status === 302)
      expect(errorOf(new URL(String(answer.headers.get('location'))))[0]).toBe('access_denied');
  });

  test('a callback that is opened twice', async () => {
    somebodyNew();
    await external.join(real.issuer);
    const browser = new Browser();
    const url = await callback(browser);
    expect((await browser.get(url)).status).toBe(302);
    expect((await browser.get(url)).status).toBe(400);
  });

  test.each([
    ['issuer', { issuer: 'https://unknown.example' }, 'This issuer is not configured'],
    ['redirectUri', { redirect_uri: 'https://evil.example/app/x' }, undefined],
    ['redirectUri', { redirect_uri: 'SELF/app/../auth/me' }, undefined],
    ['redirectUri', { redirect_uri: 'SELF@evil.example/app/' }, undefined],
    ['redirectUri', { redirect_uri: 'SELF.evil.example/app/' }, undefined],
    ['redirectUri', { client_id: 'unknown' }, undefined],
    ['codeChallenge', { code_challenge: '' }, undefined],
    ['codeChallengeMethod', { code_challenge_method: 'S512' }, undefined],
    ['scope', { scope: 'everything' }, undefined],
    ['state', { state: 'x'.repeat(401) }, undefined],
    ['projectId', { project_id: '../x' }, undefined],
  ])('a start with a wrong %s', async (field, change: Record<string, string>, text) => {
    const given = Object.entries(change).map(([name, value]) => [
      name,
      value.replace('SELF', portico.baseUrl),
    ]);
    const answer = await fetch(external.startUrl(real.issuer, Object.fromEntries(given)), {
      redirect: 'manual',
    });
    expect(answer.status).toBe(400);
    expect(answer.headers.getSetCookie()).toEqual([]);
    const { issue } = (await answer.json()) as {
      issue: { expression: string[]; details: { text: string } }[];
    };
    expect(issue[0]?.expression).toEqual([field]);
    if (text) expect(issue[0]?.details.text).toBe(text);
  });
});

test('a client of a Project takes codes where it is registered', async () => {
  somebodyNew();
  await external.join(real.issuer);
  const clientId = await at.newApp();
  const { json } = await portico.api('GET', `fhir/R4/ClientApplication/${clientId}`);
  const redirectUri = 'https://client.example/callback';
  const body = { ...json, redirectUris: [redirectUri] };
  expect((await portico.api('PUT', `fhir/R4/ClientApplication/${clientId}`, { body })).status).toBe(200);
  const asked = { client_id: clientId, redirect_uri: redirectUri };
  const back = await new Browser().follow(external.startUrl(real.issuer, asked), redirectUri);
  const code = String(back.searchParams.get('code'));
  const answer = await at.exchange(code, { client_id: clientId, redirect_uri: redirectUri });
  expect(answer.status).toBe(200);
  const foreign = await fetch(external.startUrl(real.issuer, asked, 1), { redirect: 'manual' });
  expect(foreign.status).toBe(400);
});
