import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { newPkce } from '../../client/src/index.ts';
import { type Loopback, startLoopback } from '../client/loopback.ts';
import { type RealIssuer, startRealIssuer } from '../issuer/real-issuer.ts';
import { ageAll } from '../spec/aging.ts';
import { type WithIssuer, withIssuer } from '../spec/with-issuer.ts';
import { type App, arrived, describeInBrowser, go, startApp } from './app.ts';
import { badManners } from './manners.ts';

describeInBrowser('an app of others', () => {
  let app: App;
  let other: Loopback;
  beforeAll(async () => {
    [app, other] = await Promise.all([startApp(), startLoopback()]);
    other.answer({ status: 200, headers: { 'content-type': 'text/html' }, body: 'back' });
  });
  afterAll(async () => {
    await app?.stop();
    await other?.stop();
  });

  test('sends people here and gets them back with a code, at its own address only', async () => {
    const { portico } = app;
    const [project] = portico.projects;
    const redirectUri = `${other.baseUrl}/back?from=portico`;
    const body = { name: 'Scheduler', redirectUris: [redirectUri] };
    const client = await portico.api('POST', `admin/projects/${project?.id}/client`, { body });
    const pkce = await newPkce();
    const query = new URLSearchParams({
      client_id: client.json.id,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'openid',
      state: 'a state',
      code_challenge: pkce.codeChallenge,
      code_challenge_method: 'S256',
    });
    const page = await app.open('phone');
    await page.goto(`/oauth2/authorize?${query}`);
    await arrived(page, 'Sign in');
    const asked = new URL(page.url());
    await fillCredentials(page, project?.admin);
    await page.waitForURL((url) => url.origin === other.baseUrl);
    const back = new URL(page.url());
    expect([back.searchParams.get('from'), back.searchParams.get('state')]).toEqual(['portico', 'a state']);
    const form = { grant_type: 'authorization_code', client_id: client.json.id, redirect_uri: redirectUri };
    const code = String(back.searchParams.get('code'));
    const tokens = await portico.api('POST', 'oauth2/token', {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `${new URLSearchParams({ ...form, code, code_verifier: pkce.codeVerifier, client_secret: client.json.secret })}`,
    });
    expect(tokens.status).toBe(200);

    asked.searchParams.set('redirect_uri', `${other.baseUrl}/elsewhere`);
    await page.goto(asked.href);
    await fillCredentials(page, project?.admin);
    await page.getByText('The redirect URI is not one of the client').waitFor();
  }, 240_000);

  async function fillCredentials(page: Page, who: { email: string; password: string } | undefined) {
    await page.getByLabel('E-mail').fill(who?.email ?? '');
    await page.getByLabel('Password', { exact: true }).fill(who?.password ?? '');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }
});

describeInBrowser('people of an organisation that signs them in itself', () => {
  let app: App;
  let real: RealIssuer;
  let external: WithIssuer;
  beforeAll(async () => {
    [app, real] = await Promise.all([startApp(), startRealIssuer()]);
    external = withIssuer(app.portico);
    const draft = await external.configure({ issuer: real.issuer, clientId: 'not registered yet' });
    const client = await real.register(draft.json.redirectUri);
    await external.configure({ issuer: real.issuer, ...client });
  });
  afterAll(async () => {
    await app?.stop();
    await real?.stop();
  });

  const address = () =>
    `/app/sign-in?${new URLSearchParams({ issuer: real.issuer, project_id: String(app.portico.projects[0]?.id) })}`;

  test('whoever is not linked is told so', async () => {
    real.subject = 'a stranger';
    const page = await app.open('phone');
    await page.goto(address());
    await page.getByRole('button', { name: 'Continue with' }).click();
    await page.getByText('This account is not linked yet').waitFor();
    expect(await badManners(page)).toEqual([]);
  }, 240_000);

  test('accept there, and sign in there from then on', async () => {
    real.subject = 'grace';
    const { link } = await external.invite(real.issuer);
    const page = await app.open('desktop');
    await page.goto(`/app/accept#${new URLSearchParams(link)}`);
    await page.getByRole('button', { name: 'Accept with your organisation' }).click();
    await arrived(page, 'Records');
    const other = await app.open('desktop');
    await other.goto(address());
    await other.getByRole('button', { name: 'Continue with' }).click();
    await arrived(other, 'Records');
    expect(new URL(other.url()).search).toBe('');
    expect(app.faults).toEqual([]);
  }, 240_000);

  test('sign in there anew, in a window of its own, and what they began goes on', async () => {
    real.subject = 'admin of the organisation';
    const { link, email } = await external.invite(real.issuer, { admin: true });
    const page = await app.open('desktop');
    await page.goto(`/app/accept#${new URLSearchParams(link)}`);
    await page.getByRole('button', { name: 'Accept with your organisation' }).click();
    await arrived(page, 'Overview');
    await ageAll(app.portico, email);
    await go(page, 'API keys');
    await page.getByLabel('Name', { exact: true }).fill('Laboratory');
    await page.getByRole('button', { name: 'Create the key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Is it still you?' });
    await dialog.waitFor();
    expect(await badManners(page)).toEqual([]);
    const anew = async (subject: string) => {
      real.subject = subject;
      const opening = page.waitForEvent('popup');
      await dialog.getByRole('button', { name: 'Sign in there' }).click();
      const window = await opening;
      if (!window.isClosed()) await window.waitForEvent('close');
    };
    await anew('somebody else');
    await dialog.getByText('This is not the sign-in that was to be renewed').waitFor();
    await anew('admin of the organisation');
    await page.getByText('This is the only time').waitFor();
    await dialog.waitFor({ state: 'detached' });
    expect(app.faults).toEqual([]);
  }, 240_000);

  test('an answer that was not asked for here signs nobody in', async () => {
    const page = await app.open('desktop');
    await page.goto('/app/external?code=stolen&state=other');
    await page.getByText('was not begun here').waitFor();
  }, 240_000);
});
