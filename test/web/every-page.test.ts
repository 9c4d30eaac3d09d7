import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page, Request } from 'playwright-core';
import { botThat, createClient, execute } from '../spec/running.ts';
import { type App, describeInBrowser, signIn, startApp, views } from './app.ts';
import { badManners } from './manners.ts';

const source = join(import.meta.dirname, '../../web/src');
/** The routes of who is signed in, as the app declares them. */
const routes = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('-pages.tsx'))
  .flatMap((file) =>
    [...readFileSync(join(source, file), 'utf8').matchAll(/<Route path="(\/[^"]+)"/g)].map(
      ([, path = '']) => path,
    ),
  );
const most = { requests: 6, changeMs: 100 };
/** This machine does other things too. */
const busy = 15;

describeInBrowser('every page of the app', () => {
  let app: App;
  /** An address of each route that links lead to, from the first page on, and of each tab of it. */
  const found = new Map<string, string>();
  /** Those of them on which something can be chosen or opened. */
  const choosable = new Set<string>();
  /** What is wrong with each of them on a phone in the dark. */
  const onPhone = new Map<string, string[]>();

  beforeAll(async () => {
    app = await startApp();
    const { portico } = app;
    const bot = await botThat(portico, 'return 1', { name: 'Visited' });
    await execute(portico, bot);
    await createClient(portico);
    const entry = Array.from({ length: 25 }, (_, i) => [
      { resourceType: 'AccessPolicy', name: `Policy ${i + 1}`, resource: [{ resourceType: 'Patient' }] },
      { resourceType: 'Patient', name: [{ family: `Family ${i + 1}` }] },
    ])
      .flat()
      .map((resource) => ({ resource, request: { method: 'POST', url: resource.resourceType } }));
    const body = { resourceType: 'Bundle', type: 'batch', entry };
    const made = await portico.api('POST', 'fhir/R4', {
      body,
      headers: { 'content-type': 'application/fhir+json' },
    });
    expect(made.json.entry[0].response.status).toMatch(/^201/);
  });
  afterAll(() => app?.stop());

  async function enter(): Promise<Page> {
    const page = watch(await app.open('desktop'));
    const { email, password } = app.portico.projects[0]?.admin ?? { email: '', password: '' };
    await signIn(page, email, password);
    await page.getByRole('heading', { level: 1 }).waitFor();
    return page;
  }

  test('is led to by a link, asks for little, changes fast, and has good manners', async () => {
    const page = await enter();
    const wrong: string[] = [];
    const lines: string[] = [];
    const waiting = [new URL(page.url()).pathname.slice('/app'.length)];
    while (waiting.length > 0) {
      const path = waiting.shift() ?? '';
      const [pathname = '', tab] = path.split('?');
      const pattern = routeOf(pathname);
      if (pattern === undefined) wrong.push(`${path} is a link to nowhere`);
      const route = tab ? `${pattern}?${tab}` : (pattern ?? '');
      if (pattern === undefined || found.has(route)) continue;
      found.set(route, path);
      const { requests, changeMs: firstMs } = await visit(page, path);
      let changeMs = firstMs;
      // A busy machine may slow one change; it does not slow each of them.
      for (let turn = 0; turn < 3 && changeMs > most.changeMs * busy; turn++) {
        changeMs = Math.min(changeMs, (await visit(page, path)).changeMs);
      }
      lines.push(
        `${String(requests.length).padStart(2)} requests ${changeMs.toFixed(0).padStart(4)} ms  ${route}`,
      );
      if (requests.length > most.requests) wrong.push(`${route} asks ${requests.join(', ')}`);
      if (changeMs > most.changeMs * busy) wrong.push(`${route} takes ${changeMs} ms`);
      wrong.push(...(await badManners(page)).map((line) => `${route}: ${line}`));
      onPhone.set(route, await mannersOnPhone(page));
      if ((await controlsOf(page)).length > 0 || (await rowOf(page).isVisible())) choosable.add(route);
      waiting.push(...(await linksOf(page)), ...(tab ? [] : await tabsOf(page, path)));
    }
    process.stdout.write(`${lines.join('\n')}\n`);
    expect(wrong).toEqual([]);
    expect(routes.filter((route) => !found.has(route))).toEqual([]);
    expect(app.faults).toEqual([]);
  }, 300_000);

  test('has good manners on a phone in the dark', () => {
    const wrong = [...onPhone].flatMap(([route, lines]) => lines.map((line) => `${route}: ${line}`));
    expect(wrong).toEqual([]);
    expect([...onPhone.keys()]).toEqual([...found.keys()]);
    expect(routes.filter((route) => !onPhone.has(route))).toEqual([]);
  });

  /** Shares what can be chosen on among browsers of their own: pages wait more than they compute. */
  async function forEachChoosable(
    check: (page: Page, route: string, path: string) => Promise<void>,
  ): Promise<void> {
    const waiting = [...found].filter(([route]) => choosable.has(route));
    const go = async () => {
      const page = await enter();
      for (let next = waiting.shift(); next; next = waiting.shift()) await check(page, ...next);
      await page.context().close();
    };
    await Promise.all([go(), go(), go()]);
  }

  test('keeps tab, filters, order and length in its address, and the way back leads to the row', async () => {
    const wrong: string[] = [];
    const seen = new Set<string>();
    await forEachChoosable(async (page, route, path) => {
      await visit(page, path);
      const before = page.url();
      const controls = await controlsOf(page);
      const filters = controls.filter(({ kind }) => kind === 'filter');
      const others = controls.filter(({ kind }) => kind !== 'filter').map((control) => [control]);
      // One opening of the page shows whether all its filters hold.
      for (const together of filters.length > 0 ? [...others, filters] : others) {
        for (const control of together) {
          seen.add(control.kind);
          await control.choose();
        }
        const chosen = await Promise.all(together.map((control) => control.read()));
        await page.reload();
        await settled(page);
        for (const [i, control] of together.entries()) {
          for (let turn = 0; turn < 450 && (await control.read()) !== chosen[i]; turn++) {
            await page.waitForTimeout(100);
          }
          if ((await control.read()) !== chosen[i])
            wrong.push(`${route} forgets ${control.kind} ${chosen[i]}`);
        }
      }
      if (page.url() !== before) await visit(page, path);
      const row = rowOf(page);
      if (!(await row.isVisible())) return;
      seen.add('row');
      const id = await row.getAttribute('data-row');
      await row.getByRole('link').first().click();
      await page.waitForURL((url) => url.pathname !== `/app${path}`);
      await settled(page);
      await page.goBack();
      await page
        .locator(`[data-row="${id}"] :focus`)
        .waitFor()
        .catch(() => wrong.push(`${route} forgets the row`));
    });
    expect(wrong).toEqual([]);
    expect([...seen].sort()).toEqual(['filter', 'length', 'order', 'row', 'tab']);
    expect(app.faults).toEqual([]);
  }, 400_000);
});

function routeOf(path: string): string | undefined {
  const fits = (route: string) => new RegExp(`^${route.replaceAll(/:\w+/g, '[^/]+')}$`).test(path);
  // `/bots/new` is no Bot.
  return routes.filter(fits).sort((a, b) => a.split(':').length - b.split(':').length)[0];
}

/** The page as it is, on a phone: nothing in the app asks for the size but its styles. */
async function mannersOnPhone(page: Page): Promise<string[]> {
  await page.setViewportSize(views.phone.viewport);
  await page.emulateMedia(views.phone);
  const wrong = await badManners(page);
  await page.setViewportSize(views.desktop.viewport);
  await page.emulateMedia(views.desktop);
  return wrong;
}

/** Goes to a page as a link would. */
async function visit(page: Page, path: string): Promise<{ requests: string[]; changeMs: number }> {
  if (new URL(page.url()).pathname === `/app${path.split('?')[0]}`) {
    await page.evaluate(change, path.startsWith('/account') ? '/app/invite' : '/app/account');
    await settled(page);
  }
  const requests: string[] = [];
  const note = (request: { url(): string; method(): string }) => {
    const { pathname } = new URL(request.url());
    if (!pathname.startsWith('/app')) requests.push(`${request.method()} ${pathname}`);
  };
  page.on('request', note);
  const changeMs = await page.evaluate(change, `/app${path}`);
  await settled(page);
  page.off('request', note);
  return { requests, changeMs };
}

interface Browser {
  document: { querySelector(selector: string): { isConnected: boolean } | null };
  history: { pushState(data: null, title: string, path: string): void };
  requestAnimationFrame(then: () => void): void;
  requestIdleCallback(then: () => void): void;
}

/** In the browser: until the page's heading is another one, and drawn. */
async function change(path: string): Promise<number> {
  const { document, history, requestAnimationFrame } = globalThis as unknown as Browser;
  const before = document.querySelector('main h1');
  const start = performance.now();
  history.pushState(null, '', path);
  for (let turn = 0; turn < 600; turn++) {
    await new Promise<void>((drawn) => requestAnimationFrame(drawn));
    const now = document.querySelector('main h1');
    if (now !== null && now !== before) break;
  }
  return performance.now() - start;
}

/** Of each page what is asked for and not answered yet, and when that was last another number. */
const asking = new WeakMap<Page, { open: Set<Request>; sinceMs: number }>();

function watch(page: Page): Page {
  const state = { open: new Set<Request>(), sinceMs: Date.now() };
  asking.set(page, state);
  const note = (change: (request: Request) => unknown) => (request: Request) => {
    change(request);
    state.sinceMs = Date.now();
  };
  page.on(
    'request',
    note((request) => state.open.add(request)),
  );
  for (const event of ['requestfinished', 'requestfailed'] as const) {
    page.on(
      event as 'requestfinished',
      note((request) => state.open.delete(request)),
    );
  }
  return page;
}

/** In the browser: until it has drawn and has nothing else to do. */
async function idle(): Promise<void> {
  const { requestAnimationFrame, requestIdleCallback } = globalThis as unknown as Browser;
  await new Promise<void>((drawn) => requestAnimationFrame(drawn));
  await new Promise<void>((done) => requestIdleCallback(done));
}

/** Until the page has its heading, and has asked for nothing for a moment. (`networkidle` tells of documents only.) */
async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  const state = asking.get(page);
  const isQuiet = () => !state || (state.open.size === 0 && Date.now() - state.sinceMs > 250);
  do {
    for (let turn = 0; turn < 1800 && !isQuiet(); turn++) await page.waitForTimeout(25);
    const open = [...(state?.open ?? [])].map((request) => request.url());
    if (!isQuiet()) throw new Error(`${page.url()} asks on, or has no answer from ${open}`);
    // A busy machine draws much later than it was answered.
    await page.evaluate(idle);
  } while (!isQuiet());
}

/** Those inside the app, without what they choose on a page. */
function linksOf(page: Page): Promise<string[]> {
  return page
    .locator('a[href^="/app/"]')
    .evaluateAll((links: unknown[]) =>
      (links as { pathname: string; hasAttribute(name: string): boolean }[])
        .filter((link) => !link.hasAttribute('download'))
        .map(({ pathname }) => pathname.slice('/app'.length)),
    );
}

/** The addresses of the tabs that are not shown. */
async function tabsOf(page: Page, path: string): Promise<string[]> {
  const titles = await page.locator('[role=tab]:not([aria-selected=true])').allInnerTexts();
  return titles.map((title) => `${path}?${new URLSearchParams({ tab: title })}`);
}

interface Control {
  kind: 'tab' | 'filter' | 'order' | 'length';
  /** Another than the first. @returns what `read` answers as long as it holds */
  choose(): Promise<string | null>;
  read(): Promise<string | null>;
}

/** A row that leads to a page of its own. */
const rowOf = (page: Page) => page.locator('[data-row]:has(a)').nth(2);

/** What can be chosen on a page. */
async function controlsOf(page: Page): Promise<Control[]> {
  const isTab = new URL(page.url()).searchParams.has('tab');
  const tabs = page.getByRole('tab');
  const filters = page.locator('main .filters button[aria-haspopup=listbox]');
  const orders = page.locator('th button.sort');
  const more = page.getByRole('button', { name: 'Show more', exact: true });
  const controls: Control[] = [];
  const add = (kind: Control['kind'], act: () => Promise<unknown>, read: () => Promise<string | null>) =>
    controls.push({
      kind,
      read,
      async choose() {
        await act();
        await settled(page);
        return read();
      },
    });
  const rows = () => page.locator('main .rows > li, main tbody > tr').count().then(String);
  if (await more.isVisible()) add('length', () => longer(page, more, rows), rows);
  if (await orders.first().isVisible()) {
    add(
      'order',
      () => orders.last().click(),
      async () => String(await orders.last().locator('..').getAttribute('aria-sort')),
    );
  }
  if (!isTab && (await tabs.first().isVisible())) {
    add(
      'tab',
      () => tabs.last().click(),
      () => page.locator('[role=tab][aria-selected=true]').textContent(),
    );
  }
  for (let i = 0; i < (await filters.count()); i++) {
    add(
      'filter',
      () => pickLast(page, filters.nth(i)),
      () => filters.nth(i).textContent(),
    );
  }
  return controls;
}

async function longer(page: Page, more: Locator, rows: () => Promise<string>): Promise<void> {
  const before = await rows();
  await more.click();
  for (let turn = 0; turn < 450 && (await rows()) === before; turn++) await page.waitForTimeout(100);
}

async function pickLast(page: Page, filter: Locator): Promise<void> {
  await filter.click();
  await page.getByRole('option').last().click();
}
