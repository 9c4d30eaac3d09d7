import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { handlerLoader } from '../../infra/local/functions.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import { botThat, execute, projectOf } from '../spec/running.ts';
import { put, subscribe, until } from '../spec/subscribing.ts';
import { type App, arrived, describeInBrowser, go, pick, signIn, startApp, walkedOn, write } from './app.ts';
import { badManners } from './manners.ts';

describeInBrowser('the console', () => {
  let app: App;
  const pages: Page[] = [];
  beforeAll(async () => {
    app = await startApp();
    // The key that the demo comes with is used.
    await app.portico.token();
    const { email, password } = projectOf(app.portico, 0).admin;
    for (const view of walkedOn('phone')) {
      const page = await app.open(view);
      await signIn(page, email, password);
      pages.push(page);
    }
  }, 240_000);
  afterAll(() => app?.stop());

  /** The paths of the API that a page asks for while something is done. */
  const asked = async (page: Page, act: () => Promise<void>): Promise<string[]> => {
    const paths: string[] = [];
    const note = (request: { url(): string }) => {
      const { pathname } = new URL(request.url());
      if (!pathname.startsWith('/app/')) paths.push(pathname);
    };
    page.on('request', note);
    await act();
    page.off('request', note);
    return paths;
  };

  test('in an empty Project says what to do first, and leads there', async () => {
    for (const page of pages) {
      await arrived(page, 'Overview');
      const steps = page.getByRole('list', { name: 'First steps' });
      // The demo comes with a key.
      await steps.getByText('Done').waitFor();
      expect(await steps.getByRole('link').allTextContents()).toEqual([
        'Create a policy',
        'Invite somebody',
        'Create a Bot',
      ]);
      await page.getByText('Nothing needs your attention').waitFor();
      expect(await badManners(page)).toEqual([]);
      await steps.getByRole('link', { name: 'Create a policy' }).click();
      await arrived(page, 'Create a policy');
    }
  }, 240_000);

  test('afterwards says what needs attention, each line leading to its place', async () => {
    const { portico } = app;
    const { id: project } = projectOf(portico, 0);
    await portico.local.store.transact([
      {
        ...{ name: 'project', update: keys.resource(project, 'Project', project) },
        ...{ set: 'SET invitationDays = :days', values: { ':days': 1 } },
      },
    ]);
    const invite = { resourceType: 'Practitioner', firstName: 'Lena', lastName: 'Late', sendEmail: false };
    await portico.api('POST', `admin/projects/${project}/invite`, {
      body: { ...invite, email: 'lena.late@example.org' },
    });
    await portico.api('POST', `admin/projects/${project}/client`, { body: { name: 'Forgotten key' } });
    await put(portico, { resourceType: 'AccessPolicy', name: 'Readers' });
    const bot = await botThat(portico, 'throw new Error("no")', { name: 'Failing Bot' });
    await execute(portico, bot, 'x');
    await subscribe(portico, `Bot/${bot}`, 'Basic?identifier=urn:console|1', { reason: 'Tell the lab' });
    const identifier = [{ system: 'urn:console', value: '1' }];
    await put(portico, { resourceType: 'Basic', code: { text: 'x' }, identifier });
    await until(async () => {
      const { json } = await portico.api('GET', `admin/projects/${project}/failures`);
      return json.subscriptions.length > 0 ? true : undefined;
    }, 'a delivery that failed');

    for (const page of pages) {
      const list = page.getByRole('list', { name: 'Needs attention' });
      const paths = await asked(page, async () => {
        await go(page, 'Overview');
        await list.getByText(/runs? failed/).waitFor();
      });
      expect(paths.length).toBeLessThanOrEqual(6);
      expect(await page.getByText('First steps').count()).toBe(0);
      expect(await badManners(page)).toEqual([]);
      await list.getByRole('link', { name: 'Failing Bot' }).click();
      await page.getByRole('tab', { name: 'Executions', selected: true }).waitFor();
      await page.goBack();
      await list.getByRole('link', { name: 'Tell the lab' }).click();
      await page.getByRole('tab', { name: 'Triggers', selected: true }).waitFor();
      await page.goBack();
      await list.getByRole('link', { name: 'Lena Late' }).click();
      await arrived(page, 'Lena Late');
      await page.goBack();
      await list.getByRole('link', { name: 'Forgotten key' }).click();
      await arrived(page, 'Forgotten key');
    }
    expect(app.faults).toEqual([]);
  }, 240_000);

  test('records are searched, read, and lead on to one another', async () => {
    const patients = [
      { birthDate: '1950-03-04', name: [{ family: 'Older', given: ['Olga'] }], gender: 'female' },
      { birthDate: '2004-05-06', name: [{ family: 'Younger', given: ['Yan'] }], gender: 'male' },
    ];
    const [, younger] = await Promise.all(
      patients.map((one) => put(app.portico, { resourceType: 'Patient', ...one })),
    );
    await put(app.portico, {
      ...{ resourceType: 'Observation', status: 'final', code: { text: 'Body weight' } },
      subject: { reference: `Patient/${younger.id}`, display: 'Yan Younger' },
      valueQuantity: { value: 71.5, unit: 'kg' },
    });
    for (const page of pages) {
      await go(page, 'Records');
      await arrived(page, 'Records');
      const table = page.getByRole('table', { name: 'Patient' });
      await table.getByRole('link', { name: 'Olga Older' }).waitFor();
      const paths = await asked(page, async () => {
        await page.getByRole('button', { name: 'Search by' }).click();
        await page.getByRole('option', { name: 'birthdate (date)', exact: true }).click();
        await page.getByRole('textbox', { name: 'Value' }).fill('ge2000');
        await page.getByRole('button', { name: 'Search', exact: true }).click();
        await page.getByText('1 record', { exact: true }).waitFor();
      });
      expect(paths.length).toBeLessThanOrEqual(6);
      expect(page.url()).not.toContain('ge2000');
      expect(await badManners(page)).toEqual([]);
      await table.getByRole('link', { name: 'Yan Younger' }).click();
      await arrived(page, 'Yan Younger');
      await page.getByRole('region', { name: 'Record' }).getByText('2004-05-06').waitFor();
      await page.getByRole('region', { name: 'JSON' }).getByText('"birthDate": "2004-05-06"').waitFor();
      expect(await badManners(page)).toEqual([]);
      await page.goBack();
      await page.getByText('1 record', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Remove the condition birthdate ge2000' }).click();
      await table.getByRole('link', { name: 'Olga Older' }).waitFor();

      await page.getByRole('button', { name: 'Type' }).click();
      await page.getByRole('option', { name: 'Observation', exact: true }).click();
      await page.getByRole('link', { name: 'Body weight' }).click();
      await arrived(page, 'Body weight');
      await page.getByText('71.5 kg').waitFor();
      await page.getByRole('link', { name: 'Yan Younger' }).click();
      await arrived(page, 'Yan Younger');

      await page.getByRole('tab', { name: 'Who saw it' }).click();
      await page.getByRole('region', { name: 'Query' }).getByText(`Patient\\/${younger.id}`).waitFor();
      expect(await badManners(page)).toEqual([]);
    }
    expect(app.faults).toEqual([]);
  }, 240_000);

  test('where the project keeps looks at records, a patient’s page says who has seen them', async () => {
    const { id: project } = projectOf(app.portico, 0);
    const provision = await handlerLoader()('provision');
    await provision({ project, auditReads: true });
    const patient = await put(app.portico, { resourceType: 'Patient', name: [{ family: 'Seen' }] });
    await put(app.portico, {
      ...{ resourceType: 'Observation', status: 'final', code: { text: 'Height' } },
      subject: { reference: `Patient/${patient.id}` },
    });
    await app.portico.api('GET', `fhir/R4/Patient/${patient.id}/$everything`);
    for (const page of pages) {
      await go(page, 'Records');
      await page.getByRole('link', { name: 'Seen' }).click();
      await arrived(page, 'Seen');
      // The index follows in a moment, and the tab shows what it has when it opens.
      await until(async () => {
        await page.getByRole('tab', { name: 'History' }).click();
        await page.getByRole('tab', { name: 'Who saw it' }).click();
        await page.getByRole('tabpanel', { name: 'Who saw it' }).locator('.row, .empty').first().waitFor();
        const texts = await page.getByRole('list', { name: 'Who saw this patient' }).allTextContents();
        const all = texts.join(' ');
        return (
          (all.includes('read all of the record') &&
            all.includes('opened it') &&
            all.includes('Ada Administrator')) ||
          undefined
        );
      }, 'looks at the patient');
      expect(await badManners(page)).toEqual([]);
    }
    await provision({ project, auditReads: false });
    expect(app.faults).toEqual([]);
  }, 240_000);

  test('a record is changed, and nothing typed is lost when somebody else changes it too', async () => {
    const path = 'fhir/R4/Patient';
    for (const page of pages) {
      const patient = await put(app.portico, { resourceType: 'Patient', birthDate: '1990-01-01' });
      const edited = (birthDate: string) => JSON.stringify({ ...patient, birthDate }, undefined, 2);
      await page.goto(`/app/records/Patient/${patient.id}?tab=Edit`);
      const save = page.getByRole('button', { name: 'Save', exact: true });
      await write(page, 'The record, as JSON', edited('yesterday'));
      await page.getByRole('button', { name: 'Check without saving' }).click();
      await page
        .getByRole('alert')
        .getByText(/birthDate/)
        .waitFor();
      expect(await badManners(page)).toEqual([]);
      await write(page, 'The record, as JSON', edited('1991-01-01'));
      await page.getByRole('tab', { name: 'History' }).click();
      await page.getByText('As it stands').waitFor();
      await page.getByRole('tab', { name: 'Edit' }).click();
      await page.getByText('1991-01-01').waitFor();

      await put(app.portico, { ...patient, active: true });
      await save.click();
      await page.getByText('Somebody else has changed this record since you began.').waitFor();
      const difference = page.getByRole('region', { name: 'From their version to yours' });
      await difference.getByText('"active": true').waitFor();
      expect(await badManners(page)).toEqual([]);
      const stored = await app.portico.api('GET', `${path}/${patient.id}`);
      expect(stored.json.birthDate).toBe('1990-01-01');
      await page.getByRole('button', { name: 'Go on with mine' }).click();
      await page.getByText('1991-01-01').waitFor();
      await save.click();
      await page.getByText('Saved.', { exact: true }).waitFor();
      const now = await app.portico.api('GET', `${path}/${patient.id}`);
      expect([now.json.birthDate, now.json.active]).toEqual(['1991-01-01', undefined]);

      await page.getByRole('tab', { name: 'History' }).click();
      const versions = page.getByRole('list', { name: 'Versions' });
      await versions.getByText('As it stands').click();
      await versions.locator('.diff-added').getByText('1991-01-01').waitFor();
      expect(await versions.getByText('As it was created').count()).toBe(1);
      expect(await badManners(page)).toEqual([]);
    }
    expect(app.faults).toEqual([]);
  }, 240_000);

  test('the audit log is narrowed by kind, person, record and time, and downloaded without formulas', async () => {
    const { id: project } = projectOf(app.portico, 0);
    const name = '=HYPERLINK("https://evil.example.org","Ada")';
    const key = await app.portico.api('POST', `admin/projects/${project}/client`, { body: { name } });
    expect(key.status).toBe(201);
    const reference = `ClientApplication/${key.json.id}`;
    for (const page of pages) {
      await go(page, 'Audit log');
      await arrived(page, 'Audit log');
      const log = page.getByRole('list', { name: 'Audit log' });
      await log.getByRole('listitem').nth(1).waitFor();
      const paths = await asked(page, async () => {
        await page.getByLabel('Record (Type/id)').fill(reference);
        await log.getByRole('listitem').nth(1).waitFor({ state: 'detached' });
        await log.getByText('Created an API key').waitFor();
      });
      expect(paths).toEqual(['/fhir/R4/AuditEvent']);
      expect(await log.getByRole('listitem').count()).toBe(1);
      expect(await badManners(page)).toEqual([]);
      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download as CSV' }).click();
      const csv = await readFile(await (await downloading).path(), 'utf8');
      const [, entry = ''] = csv.split('\r\n');
      expect(entry).toContain(',create-client,');
      expect(entry).toContain(`,"'=HYPERLINK(""https://evil.example.org"",""Ada"")`);
      await page.getByText('1 entry downloaded.').waitFor();

      await page.getByLabel('From').fill('2000-01-01');
      await page.getByLabel('Until').fill('2000-01-02');
      await page.getByText('Nothing of this kind yet').waitFor();
      await page.goto('/app/audit');
      await pick(page, 'Who', 'Ada', 'Ada Administrator');
      await page.waitForURL(/who=Practitioner/);
      await log.getByText('Demo Clinic client').first().waitFor({ state: 'detached' });
      await log.getByText('Ada Administrator').first().waitFor();
      const rows = await log.getByRole('listitem').allTextContents();
      expect(rows.filter((text) => !text.includes('Ada Administrator'))).toEqual([]);
      await page.reload();
      await log.getByText('Ada Administrator').first().waitFor();
      expect(await page.getByRole('combobox', { name: 'Who' }).inputValue()).toBe('Ada Administrator');
      expect(await badManners(page)).toEqual([]);
    }
    expect(app.faults).toEqual([]);
  }, 240_000);

  test('what a page is about is said where one hesitates, and leads on', async () => {
    for (const page of pages) {
      await go(page, 'Access policies');
      await arrived(page, 'Access policies');
      await page.getByRole('button', { name: 'What is this?' }).click();
      const dialog = page.getByRole('dialog', { name: 'Access policies' });
      await dialog.getByText('what no entry grants is refused').waitFor();
      expect(await badManners(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'What is this?' }).click();
      await dialog.getByRole('link', { name: 'Members' }).click();
      await arrived(page, 'Members');
    }
    expect(app.faults).toEqual([]);
  }, 240_000);
});
