import { setTimeout as pause } from 'node:timers/promises';
import type { BrowserContext, Page } from 'playwright-core';
import { chromiumPath, hasChromium } from '../../infra/site/browser.ts';
import { typedKeys } from '../../shared/base/values.ts';
import { describeUnless } from '../setup/left-out.ts';
import { isLong } from '../setup/long.ts';
import { type Portico, startPortico } from '../spec/portico.ts';

/** A suite that needs a browser. */
export const describeInBrowser = (name: string, suite: () => void): void =>
  describeUnless(hasChromium ? undefined : `there is no Chromium at ${chromiumPath}`, name, suite);

export const views = {
  desktop: { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  phone: { viewport: { width: 360, height: 740 }, colorScheme: 'dark', hasTouch: true },
} as const;

/**
 * The views in which a walk goes through the app: this one, in the long form both. How each page looks in both is held
 * by `every-page`.
 */
export function walkedOn(view: keyof typeof views): readonly (keyof typeof views)[] {
  return isLong ? typedKeys(views) : [view];
}

export interface App {
  portico: Portico;
  /** A window of its own, as of another person; what goes wrong in it is noted in `faults`. */
  open(view: keyof typeof views): Promise<Page>;
  /** Another tab of the same browser. */
  openTab(beside: Page): Promise<Page>;
  /** Script errors and refusals of the pages' own policy, in all windows. */
  faults: string[];
  stop(): Promise<void>;
}

/** Of ../setup/quiet-runner.ts. */
declare const playwright: typeof import('playwright-core');

/** The whole of Portico and a browser. */
export async function startApp(): Promise<App> {
  const portico = await startPortico();
  const kept = await fetch(`${process.env.PORTICO_SPEC_STACKS}/browser/${process.env.JEST_WORKER_ID}`);
  if (!kept.ok) throw new Error(await kept.text());
  const browser = await playwright.chromium.connectOverCDP(await kept.text());
  const contexts: BrowserContext[] = [];
  const faults: string[] = [];
  const noteFaults = (page: Page) => {
    page.setDefaultTimeout(45_000);
    page.on('pageerror', (error) => faults.push(`${page.url()}: ${error.message}`));
    page.on('console', (message) => {
      const isRefusedCall = /^Failed to load resource/.test(message.text());
      if (message.type() === 'error' && !isRefusedCall) faults.push(`${page.url()}: ${message.text()}`);
    });
    return page;
  };
  return {
    portico,
    faults,
    async open(view) {
      const context = await browser.newContext({
        ...views[view],
        locale: 'en-GB',
        baseURL: portico.baseUrl,
        // What moves is drawn by the processor here.
        reducedMotion: 'reduce',
      });
      contexts.push(context);
      return noteFaults(await context.newPage());
    },
    openTab: async (beside) => noteFaults(await beside.context().newPage()),
    async stop() {
      for (const context of contexts) await context.close();
      await browser.close();
      await portico.stop();
    },
  };
}

/** From the sign-in page to the first page of the Project. */
export async function signIn(page: Page, email: string, password: string): Promise<void> {
  if (!page.url().includes('/app/sign-in')) await page.goto('/app');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('nav').waitFor({ state: 'attached' });
}

/** Opens a page by its name in the navigation. */
export async function go(page: Page, name: string): Promise<void> {
  await page.locator('nav').waitFor({ state: 'attached' });
  const menu = page.getByRole('button', { name: 'Menu' });
  if (await menu.isVisible()) await menu.click();
  await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
}

/** Until a page finds an expression true. Asked from here: the page's own policy lets nothing in it evaluate text. */
export async function untilTrue(page: Page, expression: string): Promise<void> {
  for (const untilMs = Date.now() + 45_000; !(await page.evaluate(expression)); await pause(50))
    if (Date.now() > untilMs) throw new Error(`Never: ${expression}`);
}

/** Until the page has its heading. */
export async function arrived(page: Page, heading: string | RegExp): Promise<void> {
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
}

/** Replaces the text of a code editor, as a person would. */
export async function write(page: Page, editor: string, text: string): Promise<void> {
  const box = page.getByRole('textbox', { name: editor });
  await box.click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
}

/** Picks one of a list by the beginning of its name, and by what is said of it there. A page that scrolls closes the list: it is opened again. */
export async function pick(page: Page, field: string, typed: string, option: string | RegExp): Promise<void> {
  for (let turn = 1; ; turn++) {
    const box = page.getByRole('combobox', { name: field });
    await box.evaluate((element) => (element as unknown as InView).scrollIntoView({ block: 'center' }));
    await box.click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type(typed);
    const picked = page
      .getByRole('option')
      .filter({ hasText: option })
      .click({ timeout: turn < 3 ? 2500 : turn < 4 ? 8000 : 45_000 });
    if (turn === 4) return picked;
    if (
      await picked.then(
        () => true,
        () => false,
      )
    )
      return;
  }
}

interface InView {
  scrollIntoView(how: { block: 'center' }): void;
}
