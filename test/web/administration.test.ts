import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from '../spec/subscribing.ts';
import { type App, arrived, describeInBrowser, go, signIn, startApp, write } from './app.ts';
import { badManners } from './manners.ts';

describeInBrowser('what administrators set up', () => {
  let app: App;
  let page: Page;
  beforeAll(async () => {
    app = await startApp();
    page = await app.open('phone');
    const { email, password } = app.portico.projects[0]?.admin ?? { email: '', password: '' };
    await signIn(page, email, password);
  });
  afterAll(() => app?.stop());

  const tokenFor = (id: string, secret: string) =>
    app.portico.api('POST', 'oauth2/token', {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `${new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret })}`,
    });

  test('an API key: its secret is shown once and works', async () => {
    await go(page, 'API keys');
    await arrived(page, 'API keys');
    await page.getByRole('list', { name: 'API keys' }).waitFor();
    expect(await badManners(page)).toEqual([]);
    await page.getByLabel('Name', { exact: true }).fill('Night job');
    await page.getByLabel('Redirect URIs').fill('not a uri');
    await page.getByRole('button', { name: 'Create the key' }).click();
    await page.locator('.field-error').first().waitFor();
    await page.getByLabel('Redirect URIs').fill('https://app.example.org/back');
    await page.getByRole('button', { name: 'Create the key' }).click();
    await page.getByRole('heading', { name: 'Night job is created' }).waitFor();
    expect(await badManners(page)).toEqual([]);
    const [id = '', secret = ''] = await page.locator('code.secret').allTextContents();
    const token = await tokenFor(id, secret);
    expect(token.status).toBe(200);
    await page.getByRole('link', { name: 'Night job' }).click();
    await arrived(page, 'Night job');
    await page.getByText('https://app.example.org/back').first().waitFor();
    expect(await page.getByText(secret).count()).toBe(0);
    await page.getByRole('button', { name: 'New secret' }).click();
    await page.getByRole('alertdialog').getByText('Both secrets work meanwhile').waitFor();
    expect(await badManners(page)).toEqual([]);
    await page.getByRole('button', { name: 'Replace the secret' }).click();
    await page.getByRole('heading', { name: 'Night job has a new secret' }).waitFor();
    await page.locator('h2:focus').waitFor();
    await page.getByRole('button', { name: 'Copy the secret' }).waitFor();
    expect(await badManners(page)).toEqual([]);
    const [, next = ''] = await page.locator('code.secret').allTextContents();
    expect([(await tokenFor(id, secret)).status, (await tokenFor(id, next)).status]).toEqual([200, 200]);
    await page.getByRole('button', { name: 'Delete Night job' }).click();
    await page.getByRole('button', { name: 'Delete Night job for good' }).click();
    await arrived(page, 'API keys');
    const me = await app.portico.api('GET', 'auth/me', { token: token.json.access_token });
    expect(me.status).toBe(401);
  }, 240_000);

  test('a public app: it is created without a secret, and a key can become one', async () => {
    await go(page, 'API keys');
    await page.getByLabel('Name', { exact: true }).fill('Portal');
    await page.getByText('Public app').click();
    await page.getByRole('button', { name: 'Create the key' }).click();
    await page.getByRole('heading', { name: 'Portal is created' }).waitFor();
    await page.getByText('has no secret').waitFor();
    expect(await page.locator('code.secret').count()).toBe(1);
    expect(await badManners(page)).toEqual([]);
    await page.getByLabel('Name', { exact: true }).fill('Old portal');
    await page.getByRole('button', { name: 'Create the key' }).click();
    await page.getByRole('heading', { name: 'Old portal is created' }).waitFor();
    const [id = '', secret = ''] = await page.locator('code.secret').allTextContents();
    await page.getByRole('link', { name: 'Old portal' }).click();
    await arrived(page, 'Old portal');
    await page.getByRole('button', { name: 'Make it a public app' }).click();
    await page.getByRole('alertdialog').getByText('Its secret is removed').waitFor();
    expect(await badManners(page)).toEqual([]);
    await page.getByRole('button', { name: 'Make it public' }).click();
    await page.getByText('none: it is a public app').waitFor();
    expect(await page.getByRole('button', { name: 'New secret' }).count()).toBe(0);
    expect((await tokenFor(id, secret)).status).toBe(400);
  }, 240_000);

  test('an access policy: what is wrong is told with its entry', async () => {
    await go(page, 'Access policies');
    await arrived(page, 'Access policies');
    await page.getByText('No access policies').waitFor();
    expect(await badManners(page)).toEqual([]);
    await page.getByRole('link', { name: 'Create a policy' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Readers');
    await page.getByRole('textbox', { name: 'Entries of the policy' }).waitFor();
    expect(await badManners(page)).toEqual([]);
    for (const [text, said] of [
      ['[{]', 'This is not JSON'],
      ['{}', 'must be a list of entries'],
      ['[{"criteria":"x"}]', 'Entry 1 has no resourceType'],
      ['[{"resourceType":"Patient","criteria":"Patient?shoe-size=1"}]', 'resource[0].criteria'],
    ] as const) {
      await write(page, 'Entries of the policy', text);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText(said).waitFor();
    }
    await write(page, 'Entries of the policy', '[{"resourceType":"Patient","readonly":true}]');
    await page.getByRole('button', { name: 'Save' }).click();
    await arrived(page, 'Readers');
    await write(page, 'Entries of the policy', '[{"resourceType":"Observation"}]');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved. It applies').waitFor();
    await go(page, 'Access policies');
    await page.getByText('Observation', { exact: true }).waitFor();
  }, 240_000);

  test('the audit log tells who did what, by names that outlive what they name', async () => {
    const project = app.portico.projects[0]?.id;
    const made = await app.portico.api('POST', `admin/projects/${project}/client`, {
      body: { name: 'Gone key' },
    });
    const gone = await app.portico.api('DELETE', `fhir/R4/ClientApplication/${made.json.id}`);
    expect([made.status, gone.status]).toEqual([201, 200]);
    const entries = async () =>
      (await app.portico.api('GET', 'fhir/R4/AuditEvent?_count=1000&_sort=-date')).json.entry.length;
    // Its index items come with the stream.
    await until(async () => {
      const path = `fhir/R4/AuditEvent?entity=ClientApplication/${made.json.id}`;
      return (await app.portico.api('GET', path)).json.entry?.length === 2 ? true : undefined;
    }, 'what was done to the key');
    const before = await entries();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await go(page, 'Audit log');
    await arrived(page, 'Audit log');
    const log = page.getByRole('list', { name: 'Audit log' });
    await log.getByText('Gave an API key a new secret').waitFor();
    await log.getByText('Signed in').first().waitFor();
    expect(
      (await log.locator('.row-main .row-more').allTextContents()).filter((text) => /·\s*$/.test(text)),
    ).toEqual([]);
    await page.getByRole('button', { name: 'Everything What' }).click();
    await page.getByRole('option', { name: 'Created an API key' }).click();
    await page.getByRole('list', { name: 'Audit log' }).getByText('Ada Administrator').first().waitFor();
    await page.getByRole('list', { name: 'Audit log' }).getByText('Gone key').first().waitFor();
    expect(await badManners(page)).toEqual([]);
    expect(app.faults).toEqual([]);
    expect(new Set(asked.filter((path) => path.includes('/fhir/')))).toEqual(
      new Set(['/fhir/R4/AuditEvent']),
    );
    expect(await entries()).toBe(before);
  }, 240_000);

  test('the keyboard is enough', async () => {
    await page.keyboard.press('Tab');
    const reached = new Set<string>();
    for (let presses = 0; presses < 40; presses++) {
      reached.add(String(await page.evaluate('document.activeElement?.textContent?.trim().slice(0, 20)')));
      await page.keyboard.press('Tab');
    }
    expect([...reached]).toEqual(expect.arrayContaining(['Skip to the page', 'Menu']));
  }, 240_000);
});
