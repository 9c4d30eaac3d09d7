/** `npm run screenshots`: pictures of the app's pages into docs/screenshots, from a stack of its own. */

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { startStack } from '../local/stack.ts';
import { openBrowser } from './browser.ts';
import { fillDemo } from './demo-content.ts';

const folder = fileURLToPath(new URL('../../docs/screenshots', import.meta.url));
const views = {
  desktop: { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  phone: { viewport: { width: 360, height: 740 }, colorScheme: 'dark' },
} as const;

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const dataDir = await mkdtemp(join(tmpdir(), 'portico-pictures-'));
const stack = await startStack({ dataDir, port: 0 });
const browser = await openBrowser();
try {
  const [project] = stack.demo.projects;
  if (!project) throw new Error('There is no demo Project');
  const { botId } = await fillDemo(stack, project);
  for (const [view, options] of Object.entries(views)) {
    const context = await browser.newContext({ ...options, locale: 'en-GB', baseURL: stack.baseUrl });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const shoot = (name: string) => picture(page, `${name}-${view}`);
    await page.goto('/app');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByLabel('E-mail').fill(project.admin.email);
    await page.getByLabel('Password', { exact: true }).fill(project.admin.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'Night import' }).waitFor();
    if (view === 'desktop') await shoot('overview');
    await open(page, '/members');
    await page.getByRole('link', { name: 'Grace Hopper' }).waitFor();
    await shoot('members');
    await open(page, `/bots/${botId}`);
    await page.getByRole('textbox', { name: 'Code of the Bot' }).waitFor();
    await page.getByRole('button', { name: 'Content type' }).click();
    await page.getByRole('option', { name: 'HL7 v2' }).click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('patient Doe').first().waitFor();
    await shoot('workbench');
    if (view === 'phone') {
      const guest = await context.newPage();
      await guest.goto(linkIn((await stack.mailbox.list())[0]?.text));
      await guest.getByRole('heading', { name: 'Accept your invitation' }).waitFor();
      await picture(guest, 'accept-phone');
    } else {
      await desktopPictures(page, shoot, botId);
    }
    await context.close();
  }
} finally {
  await browser.close();
  await stack.stop();
  await rm(dataDir, { recursive: true, force: true });
}
process.exit(0);

async function desktopPictures(
  page: Page,
  shoot: (name: string) => Promise<void>,
  botId: string,
): Promise<void> {
  for (const tab of ['Triggers', 'Executions']) {
    await page.getByRole('tab', { name: tab }).click();
    await page.getByRole('tabpanel').waitFor();
    await shoot(tab.toLowerCase());
  }
  await open(page, '/invite');
  await page.getByLabel('First name').fill('Ada');
  await page.getByLabel('Last name').fill('Lovelace');
  await page.getByRole('textbox', { name: 'E-mail' }).fill('ada@example.org');
  await page.getByRole('combobox', { name: 'Access policy' }).fill('Lab');
  await page.getByRole('option', { name: 'Laboratory' }).click();
  await shoot('invite');
  await open(page, '/audit');
  await page.getByText('returned').first().waitFor();
  await shoot('audit-log');
  await open(page, `/bots/${botId}`);
}

/** Without a reload, which would need the session again. */
async function open(page: Page, path: string): Promise<void> {
  await page.evaluate((href) => {
    const { history, dispatchEvent, PopStateEvent } = globalThis as never as Record<string, never> & {
      history: { pushState(state: null, title: string, url: string): void };
      dispatchEvent(event: object): void;
      PopStateEvent: new (name: string) => object;
    };
    history.pushState(null, '', href);
    dispatchEvent(new PopStateEvent('popstate'));
  }, `/app${path}`);
}

function linkIn(text = ''): string {
  return /https?:\S+/.exec(text)?.[0] ?? '';
}

async function picture(page: Page, name: string): Promise<void> {
  // Lists and editors have arrived; what breathes or slides stands still.
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' });
}
