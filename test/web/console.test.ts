import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { keys } from '../../shared/table/keys.ts';
import { botThat, execute, projectOf } from '../spec/running.ts';
import { put, subscribe, until } from '../spec/subscribing.ts';
import { type App, arrived, describeInBrowser, go, signIn, startApp } from './app.ts';
import { badManners } from './manners.ts';

describeInBrowser('the console', () => {
  let app: App;
  const pages: Page[] = [];
  beforeAll(async () => {
    app = await startApp();
    const { email, password } = projectOf(app.portico, 0).admin;
    for (const view of ['desktop', 'phone'] as const) {
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
    await put(portico, { resourceType: 'AccessPolicy', name: 'Readers', resource: [] });
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
    }
    expect(app.faults).toEqual([]);
  }, 240_000);
});
