import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { projectOf } from '../spec/running.ts';
import { type App, arrived, describeInBrowser, pick, signIn, startApp, walkedOn } from './app.ts';
import { badManners } from './manners.ts';

describeInBrowser('before something is done that hurts', () => {
  let app: App;
  let policy: string;
  beforeAll(async () => {
    app = await startApp();
    const body = {
      resourceType: 'AccessPolicy',
      name: 'Held',
      resource: [{ resourceType: 'Patient', readonly: true }],
    };
    policy = (await app.portico.api('POST', 'fhir/R4/AccessPolicy', { body })).json.id;
    const accessPolicy = { reference: `AccessPolicy/${policy}` };
    const path = `admin/projects/${projectOf(app.portico, 0).id}`;
    await app.portico.api('POST', `${path}/client`, { body: { name: 'Reader', accessPolicy } });
    const bot = await app.portico.api('POST', `${path}/bot`, { body: { name: 'Worker', accessPolicy } });
    await app.portico.api('POST', `${path}/bot/${bot.json.id}/secrets`, {
      body: [{ name: 'LAB_KEY', valueString: 'something secret' }],
    });
    const prepared = { email: 'prepared@example.org', sendEmail: false, emergencyPolicy: accessPolicy };
    const nurse = { resourceType: 'Practitioner', firstName: 'Eve', lastName: 'Lee', ...prepared };
    await app.portico.api('POST', `${path}/invite`, { body: nurse });
    for (const birthDate of ['1980-01-01', '2015-05-05']) {
      const patient = { resourceType: 'Patient', birthDate, name: [{ family: 'Twin', given: ['Pat'] }] };
      await app.portico.api('POST', 'fhir/R4/Patient', { body: patient });
    }
  }, 240_000);
  afterAll(() => app?.stop());

  const open = async (view: 'desktop' | 'phone') => {
    const page = await app.open(view);
    const { email, password } = projectOf(app.portico, 0).admin;
    // The address of the service alone leads to the app.
    await page.goto('/');
    await arrived(page, 'Sign in');
    await signIn(page, email, password);
    await arrived(page, 'Overview');
    return page;
  };

  test.each(walkedOn('phone'))(
    'on a %s: a policy in use says who has it, and a secret is not removed by one press',
    async (view) => {
      const page = await open(view);
      await page.goto(`/app/policies/${policy}`);
      await arrived(page, 'Held');
      await page.getByRole('button', { name: 'Delete Held' }).click();
      await page.getByText('This policy is held by 2 members, Bots and API keys included.').waitFor();
      await page.getByText('1 member has it prepared for emergency access, and loses it').waitFor();
      expect(await badManners(page)).toEqual([]);
      await page.getByRole('button', { name: 'Keep it as it is' }).click();

      await page.goto('/app/bots');
      await page.getByRole('link', { name: 'Worker' }).click();
      await page.getByRole('tab', { name: 'Secrets' }).click();
      await page.getByRole('button', { name: 'Remove LAB_KEY' }).click();
      await page.getByRole('alertdialog').getByText('From its next run on').waitFor();
      expect(await badManners(page)).toEqual([]);
      await page.getByRole('button', { name: 'Keep it as it is' }).click();
      await page.getByText('LAB_KEY').waitFor();
      expect(app.faults).toEqual([]);
    },
    240_000,
  );

  test.each(walkedOn('desktop'))(
    'on a %s: a related person: patients are told apart, the relationship is asked, and both are kept',
    async (view) => {
      const page = await open(view);
      await page.goto('/app/invite');
      await arrived(page, 'Invite somebody');
      await page.getByRole('button', { name: 'They are a' }).click();
      await page.getByRole('option', { name: 'Related person' }).click();
      await page.getByLabel('First name').fill('Pam');
      await page.getByLabel('Last name').fill('Twin');
      await page.getByRole('textbox', { name: 'E-mail' }).fill(`pam-${view}@example.org`);
      await pick(page, 'Patient', 'Pat', 'born 2015-05-05');
      await page.getByRole('button', { name: 'Relationship to the patient' }).click();
      await page.getByRole('option', { name: 'Mother' }).click();
      expect(await badManners(page)).toEqual([]);
      // The button shows that it is at work for as long as the answer takes.
      let answer = () => {};
      const held = new Promise<void>((resolve) => {
        answer = resolve;
      });
      await page.route('**/invite', async (route) => {
        await held;
        await route.continue();
      });
      const button = page.getByRole('button', { name: 'Invite', exact: true });
      await button.click();
      await page.locator('button[data-busy]').waitFor();
      expect(await button.evaluate((own) => own.getAttribute('aria-disabled'))).toBe('true');
      answer();
      await page.getByText('Pam Twin is invited').waitFor();
      const found = await app.portico.api('GET', `fhir/R4/RelatedPerson?email=pam-${view}@example.org`);
      const [{ resource }] = found.json.entry;
      expect(resource.relationship[0].coding[0].code).toBe('MTH');
      const { json } = await app.portico.api('GET', `fhir/R4/${resource.patient.reference}`);
      expect(json.birthDate).toBe('2015-05-05');
      expect(app.faults).toEqual([]);
    },
    240_000,
  );
});
