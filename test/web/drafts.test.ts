import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { projectOf } from '../spec/running.ts';
import {
  type App,
  arrived,
  describeInBrowser,
  go,
  signIn,
  startApp,
  untilTrue,
  walkedOn,
  write,
} from './app.ts';
import { badManners } from './manners.ts';

const code = 'export async function handler() { return "not saved yet"; }';

describeInBrowser('what was typed and not saved', () => {
  let app: App;
  let bot: string;
  beforeAll(async () => {
    app = await startApp();
    const path = `admin/projects/${projectOf(app.portico, 0).id}/bot`;
    bot = (await app.portico.api('POST', path, { body: { name: 'Drafted' } })).json.id;
  }, 240_000);
  afterAll(() => app?.stop());

  const editor = (page: Page) => page.getByRole('textbox', { name: 'Code of the Bot' });
  const stored = async (page: Page) => String(await page.evaluate('JSON.stringify(localStorage)'));

  /** Signed in, with the access token that the page sends. */
  async function open(view: 'desktop' | 'phone') {
    const page = await app.open(view);
    const tokens: string[] = [];
    page.on('request', (request) => {
      const { authorization } = request.headers();
      if (authorization) tokens.push(authorization.replace('Bearer ', ''));
    });
    const { email, password } = projectOf(app.portico, 0).admin;
    const again = () => signIn(page, email, password);
    await again();
    await arrived(page, 'Overview');
    /** Ends the session behind the page's back, as another device of the person could. */
    const kill = async () => {
      const ended = await app.portico.api('POST', 'oauth2/logout', { token: tokens.at(-1) ?? null });
      expect(ended.status).toBe(200);
    };
    return { page, again, kill };
  }

  async function signsOut(page: Page) {
    const menu = page.getByRole('button', { name: 'Menu' });
    if (await menu.isVisible()) await menu.click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  }

  test.each(walkedOn('desktop'))(
    'on a %s: the session is killed while a Bot is edited, and the code is found again',
    async (view) => {
      const { page, again, kill } = await open(view);
      await page.goto(`/app/bots/${bot}`);
      await arrived(page, 'Drafted');
      await write(page, 'Code of the Bot', code);
      await untilTrue(page, 'localStorage.length === 1');
      expect(await stored(page)).not.toContain('not saved yet');
      await kill();
      await page.getByRole('tab', { name: 'Executions' }).click();
      await arrived(page, 'Sign in');
      await page.getByText('Your session has ended').waitFor();
      await again();
      await arrived(page, 'Drafted');
      await page.getByRole('tab', { name: 'Workbench' }).click();
      await page.getByText('These are your unsaved changes').waitFor();
      await editor(page).getByText('not saved yet').waitFor();
      expect(await badManners(page)).toEqual([]);

      await page.reload();
      await arrived(page, 'Drafted');
      await editor(page).getByText('not saved yet').waitFor();
      await page.getByRole('button', { name: 'Discard my changes' }).click();
      await editor(page).getByText('not saved yet').waitFor({ state: 'detached' });
      expect(await stored(page)).toBe('{}');
      expect(app.faults).toEqual([]);
    },
    240_000,
  );

  test.each(walkedOn('phone'))(
    'on a %s: inputs that may hold health data outlive tabs and the session, in memory only',
    async (view) => {
      const { page, again, kill } = await open(view);
      await go(page, 'Invite');
      await page.getByLabel('First name').fill('Grace');
      await go(page, 'Bots');
      await page.getByRole('link', { name: 'Drafted' }).click();
      await page.getByRole('tab', { name: 'Workbench' }).click();
      await page.getByRole('textbox', { name: 'Input' }).fill('PID|1||12345');
      await page.getByRole('tab', { name: 'Versions' }).click();
      await kill();
      await page.getByRole('tab', { name: 'Secrets' }).click();
      await arrived(page, 'Sign in');
      await again();
      await arrived(page, 'Drafted');
      await page.getByRole('tab', { name: 'Workbench' }).click();
      expect(await page.getByRole('textbox', { name: 'Input' }).inputValue()).toBe('PID|1||12345');
      await go(page, 'Invite');
      expect(await page.getByLabel('First name').inputValue()).toBe('Grace');
      expect(await stored(page)).toBe('{}');
      const asked = page.waitForEvent('dialog');
      const reloaded = page.reload();
      const dialog = await asked;
      expect(dialog.type()).toBe('beforeunload');
      await dialog.accept();
      await reloaded;
      await arrived(page, 'Invite somebody');
      expect(await page.getByLabel('First name').inputValue()).toBe('');
    },
    240_000,
  );

  test.each(walkedOn('desktop'))(
    'on a %s: a template replaces what was written only when asked to, and signing out leaves nothing',
    async (view) => {
      const { page, again } = await open(view);
      await page.goto('/app/policies/new');
      await page.getByLabel('Name', { exact: true }).fill('Night nurses');
      await write(page, 'Entries of the policy', '[{"resourceType":"Encounter"}]');
      await chooses(page, 'Integration that sends messages to Bots');
      await page.getByRole('heading', { name: 'Replace what you have written?' }).waitFor();
      expect(await badManners(page)).toEqual([]);
      await page.getByRole('button', { name: 'Keep it as it is' }).click();
      const entries = page.getByRole('textbox', { name: 'Entries of the policy' });
      await entries.getByText('Encounter').waitFor();
      await chooses(page, 'Integration that sends messages to Bots');
      await page.getByRole('button', { name: 'Replace it' }).click();
      await entries.getByText('execute').waitFor();
      expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Night nurses');
      await write(page, 'Entries of the policy', '[{"resourceType":"Condition"}]');
      await untilTrue(page, 'localStorage.length === 1');
      await page.reload();
      await entries.getByText('Condition').waitFor();

      await signsOut(page);
      await page.getByRole('heading', { name: 'Sign out and discard your changes?' }).waitFor();
      expect(await badManners(page)).toEqual([]);
      await page.getByRole('button', { name: 'Sign out and discard them' }).click();
      await arrived(page, 'Sign in');
      expect(await stored(page)).toBe('{}');
      await again();
      await arrived(page, 'Create a policy');
      await entries.waitFor();
      expect(await page.getByText('These are your unsaved changes').count()).toBe(0);
      expect(app.faults).toEqual([]);
    },
    240_000,
  );

  async function chooses(page: Page, template: string) {
    await page.getByRole('button', { name: 'Begin with' }).click();
    await page.getByRole('option', { name: template }).click();
  }
});
