import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page, Request } from 'playwright-core';
import { startOwnIssuer } from '../issuer/own-issuer.ts';
import { projectOf } from '../spec/running.ts';
import { password, signingIn } from '../spec/signing-in.ts';
import {
  type App,
  arrived,
  describeInBrowser,
  go,
  pick,
  signIn,
  startApp,
  type views,
  walkedOn,
  write,
} from './app.ts';
import { badManners } from './manners.ts';

describeInBrowser('what a Project sets up: policies, keys, itself', () => {
  let app: App;
  const pages: Partial<Record<keyof typeof views, Page>> = {};
  beforeAll(async () => {
    app = await startApp();
  }, 240_000);
  afterAll(() => app?.stop());

  const pageOf = async (view: keyof typeof views) => {
    const { email, password } = projectOf(app.portico, 0).admin;
    const page = pages[view] ?? (await app.open(view));
    if (!pages[view]) await signIn(page, email, password);
    pages[view] = page;
    return page;
  };

  test.each(walkedOn('desktop'))(
    'on a %s: a policy is built from sentences and as JSON, and loses nothing on either way',
    async (view) => {
      const page = await pageOf(view);
      await page.goto('/app/policies/new');
      await arrived(page, 'Create a policy');
      await page.getByText('Deletes nothing.').waitFor();
      await page.getByText('May read, create and change Observations.').waitFor();
      const json = page.getByRole('textbox', { name: 'Entries of the policy' });
      await json.waitFor();
      expect(await badManners(page)).toEqual([]);

      const kept = { url: 'urn:x', valueString: 'kept' };
      const entry = { resourceType: 'Patient', criteria: 'Patient?organization=%profil' };
      await write(
        page,
        'Entries of the policy',
        JSON.stringify([
          { ...entry, extension: [kept] },
          { resourceType: '*', readonly: true },
        ]),
      );
      await page.getByText('there is no variable %profil. Do you mean %profile?').waitFor();
      const sentence = page.locator('summary', { hasText: 'Patients' });
      await sentence.click();
      await page.getByRole('textbox', { name: 'Value' }).fill('%profile');
      await page.getByText('there is no variable %profil.').waitFor({ state: 'detached' });
      await page.getByRole('checkbox', { name: 'Delete' }).uncheck();
      await page.getByText('May read, create and change Patients where').waitFor();

      await pick(page, 'Element to hide', 'telec', /^telecom$/);
      await page.getByText('Entry 1 hides telecom in vain: entry 2 shows it.').waitFor();
      await page.getByRole('combobox', { name: 'Element to protect' }).fill('nick');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Add', exact: true }).nth(1).click();
      await page.getByText('Patient has no element nick.').waitFor();
      expect(await badManners(page)).toEqual([]);
      await page.getByRole('button', { name: 'Remove nick' }).click();
      await sentence.click();

      await page.locator('summary', { hasText: 'May read clinical records of every type' }).click();
      await page.getByRole('button', { name: 'Remove entry 2' }).click();
      await page.getByRole('button', { name: 'Add an entry' }).click();
      await pick(page, 'Type of record, entry 2', 'Observ', /^Observation$/);
      await page.getByRole('button', { name: 'Add a condition' }).click();
      await page.getByText('the criteria Observation?= cannot be understood').first().waitFor();
      await pick(page, 'Parameter', 'stat', /^status$/);
      await page.getByRole('textbox', { name: 'Value' }).fill('final');
      await page.getByText('May read Observations where status is final.').waitFor();

      // What the builder does not know is still there; the service refuses it by name.
      const built = JSON.parse((await json.locator('.cm-line').allTextContents()).join(' '));
      const { extension, ...sound } = built[0];
      expect(extension).toEqual([kept]);
      await write(page, 'Entries of the policy', JSON.stringify([sound, built[1]]));
      await page.getByLabel('Name', { exact: true }).fill(`Built on a ${view}`);
      await page.getByRole('button', { name: 'Save' }).click();
      await arrived(page, `Built on a ${view}`);
      const id = new URL(page.url()).pathname.split('/').at(-1);
      const saved = await app.portico.api('GET', `fhir/R4/AccessPolicy/${id}`);
      expect(saved.json.resource).toEqual([
        {
          ...entry,
          criteria: 'Patient?organization=%profile',
          interaction: ['read', 'vread', 'search', 'history', 'create', 'update'],
          hiddenFields: ['telecom'],
        },
        { resourceType: 'Observation', readonly: true, criteria: 'Observation?status=final' },
      ]);

      // What is open, and half typed, stays with its entry when one above it goes.
      await write(page, 'Entries of the policy', JSON.stringify(['Goal', 'Flag', 'List'].map(readOnly)));
      for (const type of ['Goals', 'Flags']) await page.locator('summary', { hasText: type }).click();
      const half = page
        .locator('li', { hasText: 'Flags' })
        .getByRole('combobox', { name: 'Element to hide' });
      await half.fill('stat');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Remove entry 1' }).click();
      await page.locator('summary', { hasText: 'Goals' }).waitFor({ state: 'detached' });
      const opened = page.locator('details.policy-entry[open]');
      expect(await opened.locator('summary').allTextContents()).toEqual([expect.stringContaining('Flags')]);
      expect(await opened.getByRole('combobox', { name: 'Element to hide' }).inputValue()).toBe('stat');

      await write(page, 'Entries of the policy', '[{');
      await page.getByText('The builder is back as soon as').waitFor();
      await write(page, 'Entries of the policy', '[]');
      await page.getByText('whoever has it may do nothing').waitFor();
      expect(await badManners(page)).toEqual([]);
      expect(app.faults).toEqual([]);
    },
    240_000,
  );

  test.each(walkedOn('phone'))(
    'on a %s: a key tells when it was used, expires, has two secrets for a while, and is given other rights',
    async (view) => {
      const page = await pageOf(view);
      const { id: project } = projectOf(app.portico, 0);
      const name = `Feed of the ${view}`;
      const body = { name, redirectUris: ['https://app.example/cb'] };
      const { id, secret } = (await app.portico.api('POST', `admin/projects/${project}/client`, { body }))
        .json;
      const signsIn = async (by: string) =>
        (
          await app.portico.api('POST', 'oauth2/token', {
            token: null,
            headers: { 'content-type': 'application/x-www-form-urlencoded' },
            body: `${new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: by })}`,
          })
        ).status === 200;
      await page.goto('/app/clients');
      await arrived(page, 'API keys');
      const row = page.getByRole('listitem').filter({ hasText: name });
      await row.getByText('Never used').waitFor();
      expect(await badManners(page)).toEqual([]);
      expect(await signsIn(secret)).toBe(true);

      const asked: string[] = [];
      const note = (request: Request) => request.url().includes('/app/') || asked.push(request.url());
      page.on('request', note);
      await row.getByRole('link', { name }).click();
      await arrived(page, name);
      await page.getByText('Last used').waitFor();
      await page.getByRole('combobox', { name: 'Access policy' }).waitFor();
      page.off('request', note);
      expect(asked.length).toBeLessThanOrEqual(6);
      expect(await badManners(page)).toEqual([]);

      await page.getByRole('button', { name: 'New secret' }).click();
      await page.getByRole('alertdialog').getByText('Both secrets work meanwhile').waitFor();
      await page.getByRole('button', { name: 'Replace the secret' }).click();
      await page.getByRole('heading', { name: `${name} has a new secret` }).waitFor();
      const [, next = ''] = await page.locator('code.secret').allTextContents();
      await page.getByText('Two secrets work').waitFor();
      expect([await signsIn(secret), await signsIn(next)]).toEqual([true, true]);
      await page.getByRole('button', { name: 'End the old secret now' }).click();
      await page.getByRole('button', { name: 'End it' }).click();
      await page.getByText('Two secrets work').waitFor({ state: 'detached' });
      expect([await signsIn(secret), await signsIn(next)]).toEqual([false, true]);

      await page.getByLabel('Last day').fill('2000-01-01');
      await page.getByRole('button', { name: 'Save the last day' }).click();
      await page.getByText('expires must be to come').waitFor();
      await page.getByLabel('Last day').fill('2999-12-31');
      await page.getByRole('button', { name: 'Save the last day' }).click();
      await page.locator('time[datetime^="2999-12-31"]').waitFor();

      await page.getByLabel('Redirect URIs').fill('https://app.example/cb http://app.example/cb');
      await page.getByRole('button', { name: 'Save the redirect URIs' }).click();
      await page.getByText('A redirect URI is https').waitFor();
      await page.getByLabel('Redirect URIs').fill('https://app.example/other');
      await page.getByRole('button', { name: 'Save the redirect URIs' }).click();
      await page.getByText('Saved.', { exact: true }).waitFor();
      const stored = await app.portico.api('GET', `fhir/R4/ClientApplication/${id}`);
      expect(stored.json.redirectUris).toEqual(['https://app.example/other']);

      const policy = {
        resourceType: 'AccessPolicy',
        name: `Of ${view}s`,
        resource: [{ resourceType: 'Task' }],
      };
      await app.portico.api('POST', 'fhir/R4/AccessPolicy', { body: policy });
      await pick(page, 'Access policy', `Of ${view}`, `Of ${view}s`);
      await page.getByText('May read, create, change and delete Tasks.').waitFor();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Saved. It applies').waitFor();

      await page.getByRole('button', { name: `Delete ${name}` }).click();
      await page.getByRole('alertdialog').getByText('It was last used').waitFor();
      await page.getByRole('alertdialog').getByText('app.example').waitFor();
      expect(await badManners(page)).toEqual([]);
      await page.getByRole('button', { name: `Delete ${name} for good` }).click();
      await arrived(page, 'API keys');
      expect(await signsIn(next)).toBe(false);
      expect(app.faults).toEqual([]);
    },
    240_000,
  );

  test.each(walkedOn('desktop'))(
    'on a %s: the settings of the project: name, sender, secrets, hosts, issuers with a test, limits, an export',
    async (view) => {
      const page = await pageOf(view);
      const { id } = projectOf(app.portico, 0);
      const path = `admin/projects/${id}`;
      const tab = async (name: string) => {
        await page.getByRole('tab', { name }).click();
        await page.getByRole('tabpanel', { name }).waitFor();
      };
      await go(page, 'Settings');
      await arrived(page, 'Settings');
      await page.getByLabel('Name', { exact: true }).fill(`Clinic on a ${view}`);
      await page.getByLabel('Sender of mails').fill('Front desk');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved. Mails').waitFor();
      expect(await badManners(page)).toEqual([]);
      const { json } = await app.portico.api('GET', path);
      expect([json.project.name, json.senderName]).toEqual([`Clinic on a ${view}`, 'Front desk']);

      await tab('Secrets');
      await page.getByLabel('Name', { exact: true }).fill(`KEY_${view.toUpperCase()}`);
      await page.getByLabel('Value', { exact: true }).fill('something secret');
      await page.getByRole('button', { name: 'Set', exact: false }).first().click();
      await page.getByText('is set. It applies').waitFor();
      expect(await badManners(page)).toEqual([]);

      await tab('Fetch hosts');
      await page.getByLabel('Allowed hosts').fill('api.example.org\nhttps://x.example/path');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Not a host name').waitFor();
      await page.getByLabel('Allowed hosts').fill('api.example.org *.example.com');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved. It applies').waitFor();
      expect((await app.portico.api('GET', `${path}/fetch-hosts`)).json).toEqual({
        allow: ['api.example.org', '*.example.com'],
      });
      expect(await badManners(page)).toEqual([]);
      await app.portico.api('POST', `${path}/fetch-hosts`, { body: {} });

      await tab('Issuers');
      await page.getByText('No issuers').waitFor();
      await page.getByLabel('Issuer', { exact: true }).fill('http://127.0.0.1:9');
      await page.getByLabel('Client id').fill('us');
      await page.getByRole('button', { name: 'Add the issuer' }).click();
      await page.getByText('The issuer cannot be used').waitFor();
      const issuer = await startOwnIssuer();
      await page.getByLabel('Issuer', { exact: true }).fill(issuer.issuer);
      await page.getByRole('button', { name: 'Add the issuer' }).click();
      await page.getByRole('button', { name: `Test ${issuer.issuer}` }).click();
      await page.getByText('It answers, and its keys can be used').waitFor();
      expect(await badManners(page)).toEqual([]);
      await issuer.stop();
      await page.getByRole('button', { name: `Test ${issuer.issuer}` }).click();
      await page.getByText('It cannot be used.').waitFor();
      await page.getByRole('button', { name: `Remove ${issuer.issuer}` }).click();
      await page.getByText('locked out').waitFor();
      expect(await badManners(page)).toEqual([]);
      await page.getByRole('button', { name: 'Remove it' }).click();
      await page.getByText('No issuers').waitFor();

      await tab('Limits');
      await page.getByText('Days that an invitation is open').waitFor();
      await page.getByText('Schedules of Bots').waitFor();
      expect(await badManners(page)).toEqual([]);

      await tab('Export');
      await page.getByRole('button', { name: 'Export everything' }).click();
      await page.getByText('Exported as of').waitFor();
      await page.reload();
      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download Project-1.ndjson' }).click();
      const file = await (await downloading).path();
      expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ name: `Clinic on a ${view}` });
      expect(await badManners(page)).toEqual([]);
      await page.getByRole('button', { name: 'Remove the files' }).click();
      await page.getByRole('button', { name: 'Export everything' }).waitFor();
      expect(app.faults).toEqual([]);
    },
    240_000,
  );

  test.each(walkedOn('phone'))(
    'on a %s: somebody of two Projects changes between them without signing in again',
    async (view) => {
      const at = signingIn(app.portico);
      const [here, there] = app.portico.projects;
      const { email } = await at.newMember({ admin: true, firstName: 'Two', lastName: `Places ${view}` });
      await at.invite(email, 1, { admin: true });
      const name = `Only there ${view}`;
      await app.portico.api('POST', 'fhir/R4/AccessPolicy', {
        token: await app.portico.token(there),
        body: { resourceType: 'AccessPolicy', name },
      });
      const page = await app.open(view);
      await page.goto('/app');
      await page.getByLabel('E-mail').fill(email);
      await page.getByLabel('Password', { exact: true }).fill(password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      const ofFirst = page.getByRole('button').filter({ hasNotText: String(there?.name) });
      await ofFirst.filter({ hasText: 'Practitioner' }).click();
      await page.locator('nav').waitFor({ state: 'attached' });
      await go(page, 'Access policies');
      await arrived(page, 'Access policies');
      expect(await page.getByText(name).count()).toBe(0);
      const beside = await app.openTab(page);
      await beside.goto('/app/bots');
      await arrived(beside, 'Bots');

      const menu = page.getByRole('button', { name: 'Menu' });
      if (await menu.isVisible()) await menu.click();
      await page.getByRole('button', { name: 'Change project' }).click();
      await page.getByRole('dialog').getByText(String(there?.name)).waitFor();
      expect(await badManners(page)).toEqual([]);
      await page.getByRole('dialog').getByText(String(there?.name)).click();
      await page.locator('.shell-name', { hasText: String(there?.name) }).waitFor();
      await go(page, 'Access policies');
      await page.getByRole('link', { name }).waitFor();
      // One session a browser: the other tab can do nothing more in the Project before.
      await beside.getByRole('button', { name: 'Continue with the new session' }).click();
      await beside.locator('.shell-name', { hasText: String(there?.name) }).waitFor();
      expect(here?.id).not.toBe(there?.id);
      await page.reload();
      await page.getByRole('link', { name }).waitFor();
      expect(await badManners(page)).toEqual([]);
      expect(app.faults).toEqual([]);
    },
    240_000,
  );
});

function readOnly(resourceType: string) {
  return { resourceType, readonly: true };
}
