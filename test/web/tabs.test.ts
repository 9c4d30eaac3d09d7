import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { botThat, createBot, projectOf } from '../spec/running.ts';
import { until } from '../spec/subscribing.ts';
import { type App, arrived, describeInBrowser, go, signIn, startApp, walkedOn, write } from './app.ts';
import { badManners } from './manners.ts';

describeInBrowser('several tabs, and the way back', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp();
    for (let number = 10; number < 40; number++) {
      const body = {
        resourceType: 'AccessPolicy',
        name: `Policy ${number}`,
        resource: [{ resourceType: 'Patient' }],
      };
      await app.portico.api('POST', 'fhir/R4/AccessPolicy', { body });
    }
  }, 240_000);
  afterAll(() => app?.stop());

  const admin = () => projectOf(app.portico, 0).admin;

  /** The refresh tokens that a tab sends, in order. */
  function refreshesOf(page: Page): string[] {
    const sent: string[] = [];
    page.on('request', (request) => {
      const token = new URLSearchParams(request.postData() ?? '').get('refresh_token');
      if (request.url().endsWith('/oauth2/token') && token) sent.push(token);
    });
    return sent;
  }

  test.each(walkedOn('desktop'))(
    'on a %s: a second tab is signed in, none ends the session of another, and signing out ends all',
    async (view) => {
      const first = await app.open(view);
      const sentByFirst = refreshesOf(first);
      await signIn(first, admin().email, admin().password);
      await arrived(first, 'Overview');

      const second = await app.openTab(first);
      const sentBySecond = refreshesOf(second);
      await second.goto('/app/bots');
      await arrived(second, 'Bots');
      await Promise.all([first.reload(), second.reload()]);
      await Promise.all([arrived(first, 'Overview'), arrived(second, 'Bots')]);
      await first.reload();
      await arrived(first, 'Overview');
      const sent = [...sentByFirst, ...sentBySecond];
      expect(sent.length).toBeGreaterThanOrEqual(4);
      // None was used twice, though each tab had held an older one.
      expect(new Set(sent).size).toBe(sent.length);
      const stored = await first.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])');
      expect(stored).toMatch(/^\[\{\},\{\},"portico-session-\d+=[\w-]{36}\.[\w-]{43}"\]$/);

      const menu = second.getByRole('button', { name: 'Menu' });
      if (await menu.isVisible()) await menu.click();
      await second.getByRole('button', { name: 'Sign out' }).click();
      await arrived(first, 'Sign in');
      await first.getByText('You are signed out').waitFor();
      expect(await badManners(first)).toEqual([]);

      await signIn(second, admin().email, admin().password);
      await arrived(second, 'Bots');
      await arrived(first, 'Overview');
      expect(app.faults).toEqual([]);
    },
    240_000,
  );

  test.each(walkedOn('phone'))(
    'on a %s: filters and tabs stand in the address, and back leads to the row',
    async (view) => {
      const page = await app.open(view);
      await signIn(page, admin().email, admin().password);
      await go(page, 'Members');
      await arrived(page, 'Members');
      await page.getByRole('button', { name: 'People Kind' }).click();
      await page.getByRole('option', { name: 'Practitioners' }).click();
      await page.waitForURL(/kind=Practitioner/);
      await page.reload();
      await arrived(page, 'Members');
      expect(await page.getByRole('button', { name: 'Practitioners Kind' }).textContent()).toContain(
        'Practitioners',
      );
      const list = page.getByRole('table', { name: 'Members' });
      await list.getByRole('link', { name: 'Ada Administrator' }).click();
      await arrived(page, 'Ada Administrator');
      await page.goBack();
      await arrived(page, 'Members');
      expect(await page.getByRole('button', { name: 'Practitioners Kind' }).textContent()).toContain(
        'Practitioners',
      );

      await go(page, 'Access policies');
      await arrived(page, 'Access policies');
      await page.getByRole('button', { name: 'Show more' }).click();
      await page.getByRole('link', { name: 'Policy 38' }).click();
      await arrived(page, 'Policy 38');
      await page.goBack();
      await page.locator('a:focus', { hasText: 'Policy 38' }).waitFor();
      const height = page.viewportSize()?.height ?? 0;
      await until(async () => {
        const box = await page.getByRole('link', { name: 'Policy 38' }).boundingBox();
        return box && box.y > 0 && box.y < height ? true : undefined;
      }, 'the row in sight');
      expect(await badManners(page)).toEqual([]);
      expect(app.faults).toEqual([]);
    },
    240_000,
  );

  /** When the tabs of the browser were used last, as they tell one another. */
  const sharedUseMs = (page: Page) =>
    page.evaluate<number>(`new Promise((found) => {
      const opening = indexedDB.open('portico', 1);
      opening.onsuccess = () => {
        const reading = opening.result.transaction('session').objectStore('session').getAll();
        reading.onsuccess = () => {
          opening.result.close();
          const uses = reading.result.map((text) => Number(/"usedAtMs":(\\d+)/.exec(text)?.[1] ?? 0));
          found(Math.max(0, ...uses));
        };
      };
    })`);

  test('after idle time the person is asked, in all tabs, and then signed out of all', async () => {
    const { id } = projectOf(app.portico, 0);
    const page = await app.open('desktop');
    await page.context().clock.install();
    const clock = page.context().clock;
    const said: number[] = [];
    page.context().on('request', (request) => {
      const seconds = new URLSearchParams(request.postData() ?? '').get('idle_seconds');
      if (request.url().endsWith('/oauth2/token') && seconds) said.push(Number(seconds));
    });
    await signIn(page, admin().email, admin().password);
    await go(page, 'Settings');
    const minutes = page.getByLabel('Sign people out after minutes without use');
    await minutes.fill('5');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('a whole number from 10 to 1440').waitFor();
    await minutes.fill('15');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved. Mails').waitFor();
    expect(await badManners(page)).toEqual([]);
    await page.reload();
    await arrived(page, 'Settings');
    expect(await minutes.inputValue()).toBe('15');

    const bot = await createBot(app.portico);
    const failing = await botThat(app.portico, 'throw new Error("no")', { name: 'Fails' });
    await app.portico.api('POST', `fhir/R4/Bot/${failing}/$execute`, { body: {} });
    await page.goto(`/app/bots/${bot}`);
    await write(page, 'Code of the Bot', '// not saved yet');
    const second = await app.openTab(page);
    await second.goto('/app/members');
    await arrived(second, 'Members');
    const [asked, askedThere] = [page, second].map((one) => one.getByRole('alertdialog'));
    if (!asked || !askedThere) throw new Error('No pages');
    // The clocks of two tabs differ by some milliseconds.
    const nowMs = (of = page) => of.evaluate<number>('Date.now()');
    await page.keyboard.press('Shift');
    const usedMs = await nowMs();

    // What a page loads by itself is no use: it says how long ago that was.
    await clock.fastForward('10:00');
    const asksForTokens = second.waitForRequest('**/oauth2/token');
    await second.evaluate('document.querySelector(\'a[href="/app/bots"]\').click()');
    await asksForTokens;
    await second.getByText(/^Last run .+, 1 of the latest 1 failed$/).waitFor();
    await second.getByText('No run in the last 24 hours').first().waitFor();
    expect(said.at(-1)).toBeGreaterThanOrEqual(600);
    // However long all this has taken: 50 seconds before the end.
    await clock.fastForward(usedMs + (15 * 60 - 50) * 1000 - (await nowMs()));
    await asked.getByText(/signed out in [345]\d seconds/).waitFor();
    await askedThere.getByText('Are you still there?').waitFor();
    await page.locator('button:focus', { hasText: 'Stay signed in' }).waitFor();
    expect(await badManners(page)).toEqual([]);
    const tells = page.waitForRequest('**/oauth2/token');
    await page.keyboard.press('Enter');
    await tells;
    await asked.waitFor({ state: 'detached' });
    await askedThere.waitFor({ state: 'detached' });
    expect(said.at(-1)).toBeLessThan(60);

    // Work in one tab is work in all.
    await clock.fastForward('13:00');
    const beforeMs = await nowMs(second);
    await second.keyboard.press('Shift');
    await until(
      async () => ((await sharedUseMs(page)) >= beforeMs ? true : undefined),
      'a use that is shared',
    );
    await clock.fastForward('13:00');
    await page.getByText('// not saved yet').waitFor();
    expect([await asked.count(), await askedThere.count()]).toEqual([0, 0]);

    // As a laptop that is opened again after lunch. What is in memory only does not outlive it, nor hold the page back.
    await go(second, 'Invite');
    await second.getByLabel('First name').fill('Grace');
    await page.evaluate(`new MutationObserver(() => sessionStorage.setItem('seen', 'covered'))
      .observe(document.documentElement, { attributes: true })`);
    await clock.fastForward('45:00');
    await Promise.all([arrived(page, 'Sign in'), arrived(second, 'Sign in')]);
    await page.getByText('because nothing was done here').waitFor();
    await second.getByText('because nothing was done here').waitFor();
    expect(await badManners(page)).toEqual([]);
    expect(await page.evaluate('[document.cookie, sessionStorage.getItem("seen")]')).toEqual(['', 'covered']);
    await page.goBack();
    await arrived(page, 'Sign in');
    await page.goForward();
    const ended = async () =>
      (await app.portico.api('GET', 'fhir/R4/AuditEvent?subtype=sign-out-idle')).json.entry ?? [];
    while ((await ended()).length === 0) await page.waitForTimeout(50);
    expect(await ended()).toHaveLength(1);

    await signIn(page, admin().email, admin().password);
    await page.waitForURL(`**/app/bots/${bot}`);
    await page.getByText('// not saved yet').waitFor();
    await arrived(second, 'Invite somebody');
    expect(await second.getByLabel('First name').inputValue()).toBe('');
    await app.portico.api('POST', `admin/projects/${id}`, { body: { idleMinutes: 0 } });
    expect(app.faults).toEqual([]);
  }, 240_000);
});
