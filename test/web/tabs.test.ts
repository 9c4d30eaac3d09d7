import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { projectOf } from '../spec/running.ts';
import { type App, arrived, describeInBrowser, go, signIn, startApp } from './app.ts';
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

  test.each(['desktop', 'phone'] as const)(
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

  test.each(['desktop', 'phone'] as const)(
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
      const box = await page.getByRole('link', { name: 'Policy 38' }).boundingBox();
      const height = page.viewportSize()?.height ?? 0;
      expect([(box?.y ?? -1) > 0, (box?.y ?? height) < height]).toEqual([true, true]);
      expect(await badManners(page)).toEqual([]);
      expect(app.faults).toEqual([]);
    },
    240_000,
  );
});
