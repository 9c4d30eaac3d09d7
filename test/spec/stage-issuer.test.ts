import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { StageIssuer } from '../../shared/identity/issuers/manage-issuers.ts';
import { Browser } from '../issuer/browser.ts';
import { type OwnIssuer, startOwnIssuer } from '../issuer/own-issuer.ts';
import { type Portico, startPortico } from './portico.ts';
import { type SigningIn, signingIn } from './signing-in.ts';
import { type Invited, type WithIssuer, withIssuer } from './with-issuer.ts';

let portico: Portico;
let own: OwnIssuer;
let at: SigningIn;
let external: WithIssuer;

beforeAll(async () => {
  [portico, own] = await Promise.all([startPortico(), startOwnIssuer()]);
  at = signingIn(portico);
  external = withIssuer(portico);
  await add();
});
afterAll(async () => {
  await remove();
  await portico.stop();
  await own.stop();
});

/** As `npm run provision -- --issuer …` does. */
async function add(change: object = {}): Promise<StageIssuer> {
  const { issuer, clientId } = own;
  return (await portico.local.load('provision'))({ issuer: { issuer, clientId, ...change } });
}

async function remove(): Promise<StageIssuer> {
  return (await portico.local.load('provision'))({ issuer: { issuer: own.issuer, remove: true } });
}

async function comeBack(location: string, browser: Browser, subject: string): Promise<URL> {
  const asked = new URL(location).searchParams;
  own.idToken = own.token({ sub: subject, nonce: asked.get('nonce'), aud: asked.get('client_id') });
  const query = new URLSearchParams({ code: 'a code', state: String(asked.get('state')) });
  return browser.follow(`${asked.get('redirect_uri')}?${query}`, external.appUri);
}

async function signIn(subject: string, change: Record<string, string> = {}): Promise<URL> {
  const browser = new Browser();
  const started = await browser.get(external.startUrl(own.issuer, change));
  expect(started.status).toBe(302);
  return comeBack(String(started.headers.get('location')), browser, subject);
}

async function join(
  subject: string,
  change: object = {},
  index: 0 | 1 = 0,
): Promise<Invited & { back: URL }> {
  const invited = await external.invite(own.issuer, change, index);
  const browser = new Browser();
  const { json } = await external.accept(browser, invited.link);
  return { ...invited, back: await comeBack(json.location, browser, subject) };
}

describe('an issuer of the stage', () => {
  test('vouches for a person in each Project that invited them with it', async () => {
    const here = await join('ann');
    const there = await external.invite(own.issuer, { email: here.email }, 1);
    const back = await signIn('ann', { project_id: '' });
    const fragment = new URLSearchParams(back.hash.slice(1));
    const offered = JSON.parse(String(fragment.get('memberships'))) as { id: string }[];
    expect(offered.map(({ id }) => id).sort()).toEqual([here.membership, there.membership].sort());
    const chosen = await at.post('auth/profile', { login: fragment.get('login'), profile: there.membership });
    const { json } = await at.exchange(chosen.json.code, { redirect_uri: external.appUri });
    expect((await at.me(json.access_token)).json.project.id).toBe(portico.projects[1]?.id);
  });

  test('opens one Project where the client asks for it', async () => {
    const here = await join('bob');
    await join('bob', { email: here.email }, 1);
    const { json } = await external.tokenFor(await signIn('bob'));
    expect((await at.me(json.access_token)).json.membership.id).toBe(here.membership);
  });

  test('has one account for a person, whom no later invitation links to another', async () => {
    const { email } = await join('carl');
    const { back, membership } = await join('carla', { email }, 1);
    expect(back.searchParams.get('error_description')).toBe(
      'You signed in with another account of this issuer before',
    );
    const token = await portico.token(portico.projects[1]);
    const path = `admin/projects/${portico.projects[1]?.id}/members/${membership}`;
    expect((await portico.api('GET', path, { token })).json.active).toBe(false);
  });

  test('is taken up by no Project for a User that lives there only', async () => {
    const inside = await join('ada', { scope: 'project', externalId: `ext-${randomUUID()}` });
    const outside = await join('ada', {}, 1);
    expect(outside.user).not.toBe(inside.user);
    const userOf = async (change: Record<string, string>) => {
      const { json } = await external.tokenFor(await signIn('ada', change));
      return (await at.me(json.access_token)).json.user.id;
    };
    expect(await userOf({})).toBe(inside.user);
    expect(await userOf({ project_id: String(portico.projects[1]?.id) })).toBe(outside.user);
    expect(await userOf({ project_id: '' })).toBe(outside.user);
  });

  test('says nothing where a Project has one of the same name, whose subjects are its own', async () => {
    const { back } = await join('dora');
    expect(back.searchParams.has('code')).toBe(true);
    const { json } = await external.configure({ issuer: own.issuer, clientId: 'of the project' });
    expect((await signIn('dora')).searchParams.get('error')).toBe('access_denied');
    const mine = await join('dora');
    expect((await external.tokenFor(mine.back)).status).toBe(200);
    const path = `admin/projects/${portico.projects[0]?.id}/issuers/${json.id}`;
    expect((await portico.api('DELETE', path)).status).toBe(200);
  });

  test('is not a Project’s to list or remove', async () => {
    const path = `admin/projects/${portico.projects[0]?.id}/issuers`;
    expect((await portico.api('GET', path)).json).toEqual({ issuers: [] });
    const { issuer } = await add();
    expect((await portico.api('DELETE', `${path}/${issuer.id}`)).status).toBe(404);
  });

  test('is refused when it is not valid, or says another name', async () => {
    await expect(add({ issuer: 'http://issuer.example' })).rejects.toThrow('https URL');
    await expect(add({ clientId: '' })).rejects.toThrow('clientId');
    await expect(add({ issuer: `${own.issuer}/other` })).rejects.toThrow('status 404');
  });

  test('that is removed signs nobody in, and refreshes nothing', async () => {
    const { back } = await join('emil');
    const scope = 'openid offline_access';
    const { json } = await external.tokenFor(await signIn('emil', { scope }));
    expect((await external.tokenFor(back)).json.refresh_token).toBeUndefined();
    const refreshed = await at.refresh(json.refresh_token);
    expect(refreshed.status).toBe(200);
    expect((await remove()).issuer).toMatchObject({ issuer: own.issuer, removed: true });
    await expect(remove()).rejects.toThrow('no such issuer');
    const answer = await fetch(external.startUrl(own.issuer), { redirect: 'manual' });
    expect(answer.status).toBe(400);
    expect((await at.refresh(refreshed.json.refresh_token)).json).toMatchObject({ error: 'invalid_grant' });
    await add();
    expect((await at.refresh(refreshed.json.refresh_token)).status).toBe(200);
  });
});
