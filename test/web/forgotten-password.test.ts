import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mailedReset } from '../spec/mailed-link.ts';
import { signingIn } from '../spec/signing-in.ts';
import { type App, arrived, describeInBrowser, signIn, startApp, walkedOn } from './app.ts';
import { badManners } from './manners.ts';

describeInBrowser('a person who has forgotten their password', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp();
  }, 240_000);
  afterAll(() => app?.stop());

  test.each(walkedOn('phone'))(
    'on a %s: asks for a link, chooses a new one, signs in with it',
    async (view) => {
      const { email } = await signingIn(app.portico).newMember();
      const page = await app.open(view);
      page.setDefaultTimeout(60_000);
      await page.goto('/app');
      await page.getByRole('link', { name: 'Forgot your password?' }).click();
      await arrived(page, 'Forgot your password?');
      expect(await badManners(page)).toEqual([]);
      await page.getByLabel('E-mail').fill(email);
      await page.getByRole('button', { name: 'Send the link' }).click();
      await page.getByText('is on its way').waitFor();

      const link = await mailedReset(app.portico, email);
      await page.goto(`/app/reset#${new URLSearchParams(link)}`);
      await page.reload();
      await arrived(page, 'Choose a new password');
      expect(await badManners(page)).toEqual([]);
      await page.getByLabel('New password', { exact: true }).fill('another good password');
      await page.getByRole('button', { name: 'Set the password' }).click();
      await page.getByText('Your new password is set').waitFor();
      expect(new URL(page.url()).hash).toBe('');
      await signIn(page, email, 'another good password');

      await page.goto(`/app/reset#${new URLSearchParams(link)}`);
      await page.reload();
      await page.getByLabel('New password', { exact: true }).fill('a third good password');
      await page.getByRole('button', { name: 'Set the password' }).click();
      await page.getByText('This link is not valid any more').waitFor();
      expect(app.faults).toEqual([]);
    },
    240_000,
  );
});
