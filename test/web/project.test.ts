import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { projectOf } from '../spec/running.ts';
import { type App, arrived, describeInBrowser, pick, signIn, startApp, write } from './app.ts';
import { badManners } from './manners.ts';

describeInBrowser('what a Project sets up: policies, keys, itself', () => {
  let app: App;
  const pages: Partial<Record<'desktop' | 'phone', Page>> = {};
  beforeAll(async () => {
    app = await startApp();
    const { email, password } = projectOf(app.portico, 0).admin;
    for (const view of ['desktop', 'phone'] as const) {
      const page = await app.open(view);
      await signIn(page, email, password);
      pages[view] = page;
    }
  }, 240_000);
  afterAll(() => app?.stop());

  const pageOf = (view: 'desktop' | 'phone') => {
    const page = pages[view];
    if (!page) throw new Error('Not open');
    return page;
  };

  test.each(['desktop', 'phone'] as const)(
    'on a %s: a policy is built from sentences and as JSON, and loses nothing on either way',
    async (view) => {
      const page = pageOf(view);
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

      await write(page, 'Entries of the policy', '[{');
      await page.getByText('The builder is back as soon as').waitFor();
      await write(page, 'Entries of the policy', '[]');
      await page.getByText('whoever has it may do nothing').waitFor();
      expect(await badManners(page)).toEqual([]);
      expect(app.faults).toEqual([]);
    },
    240_000,
  );
});
