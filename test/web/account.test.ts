import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { type App, arrived, describeInBrowser, go, signIn, startApp } from './app.ts';
import { badManners } from './manners.ts';

describeInBrowser('many people, and the own account', () => {
  let app: App;
  let page: Page;
  let admin: { email: string; password: string };
  beforeAll(async () => {
    app = await startApp();
    page = await app.open('phone');
    admin = app.portico.projects[0]?.admin ?? { email: '', password: '' };
    await signIn(page, admin.email, admin.password);
  });
  afterAll(() => app?.stop());

  test('a session outlives a reload, and ends when one signs out', async () => {
    await go(page, 'Members');
    await arrived(page, 'Members');
    await page.reload();
    await arrived(page, 'Members');
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out').waitFor();
    await page.reload();
    await arrived(page, 'Sign in');
    const stored = await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])');
    expect(stored).toBe('[{},{},""]');
  }, 240_000);

  test('the password is changed', async () => {
    await signIn(page, admin.email, admin.password);
    await go(page, 'Your account');
    await arrived(page, 'Your account');
    await page.getByRole('button', { name: 'Set one up' }).click();
    await page.getByRole('img', { name: 'QR code' }).waitFor();
    expect(await badManners(page)).toEqual([]);
    for (const [label, autocomplete] of [
      ['Old password', 'current-password'],
      ['New password', 'new-password'],
    ] as const) {
      const field = page.getByLabel(label, { exact: true });
      expect(await field.getAttribute('type')).toBe('password');
      expect(await field.getAttribute('autocomplete')).toBe(autocomplete);
    }
    await page.getByLabel('Old password', { exact: true }).fill('not the old one');
    await page.getByLabel('New password', { exact: true }).fill('a quite new password');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('The old password is not right').waitFor();
    await page.getByLabel('Old password', { exact: true }).fill(admin.password);
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('You are signed out everywhere else').waitFor();
    admin = { ...admin, password: 'a quite new password' };
  }, 240_000);

  test('the address is changed by a link that goes to the new one', async () => {
    await page.getByLabel('New e-mail address').fill('ada.new@example.org');
    await page.getByRole('button', { name: 'Send the link' }).click();
    await page.getByText('An e-mail to ada.new@example.org is queued').waitFor();
    const { text } = await app.portico.local.mailbox.waitFor(
      ({ to }) => to.includes('ada.new@example.org'),
      20_000,
    );
    const other = await app.open('phone');
    await other.goto(/https?:\S+/.exec(text)?.[0] ?? '');
    await arrived(other, 'Confirm your address');
    expect(await badManners(other)).toEqual([]);
    await other.getByLabel('Your password').fill(admin.password);
    await other.getByRole('button', { name: 'Confirm the address' }).click();
    await arrived(other, 'Your address is confirmed');
    admin = { ...admin, email: 'ada.new@example.org' };
  }, 240_000);

  test('a second factor is added, asked for, and taken away', async () => {
    const secret = (await page.locator('code').last().textContent())?.replaceAll(' ', '') ?? '';
    const totp = new TOTP({ secret: Secret.fromBase32(secret) });
    // A code is good once: that of the next half minute is accepted as well.
    const next = () => totp.generate({ timestamp: Date.now() + 30_000 });
    await page.getByLabel('Six-digit code').fill(totp.generate());
    await page.getByRole('button', { name: 'Add the second factor' }).click();
    await page.getByRole('button', { name: 'Take it away' }).waitFor();
    await page.getByText('You have 10 recovery codes').waitFor();
    const codes = (await page.locator('code.secret').textContent())?.split(' ') ?? [];
    expect(await badManners(page)).toEqual([]);
    const other = await app.open('desktop');
    await other.goto('/app');
    await other.getByLabel('E-mail').fill(admin.email);
    await other.getByLabel('Password', { exact: true }).fill(admin.password);
    await other.getByRole('button', { name: 'Sign in' }).click();
    await arrived(other, 'Your second factor');
    expect(await badManners(other)).toEqual([]);
    await other.getByLabel('Six-digit code').fill('000000');
    await other.getByRole('button', { name: 'Continue' }).click();
    await other.locator('.field-error, [role=alert]').first().waitFor();
    await other.getByLabel('Six-digit code').fill(next());
    await other.getByRole('button', { name: 'Continue' }).click();
    await arrived(other, 'Overview');
    await page.getByLabel('or a recovery code').fill(codes[0] ?? '');
    await page.getByRole('button', { name: 'Make new recovery codes' }).click();
    await page.getByText(codes[1] ?? '').waitFor({ state: 'detached' });
    const renewed = (await page.locator('code.secret').textContent())?.split(' ') ?? [];
    await page.getByLabel('or a recovery code').fill(renewed[0] ?? '');
    await page.getByRole('button', { name: 'Take it away' }).click();
    await page.getByRole('button', { name: 'Set one up' }).waitFor();
    expect(app.faults).toEqual([]);
  }, 240_000);

  test('who has to add a second factor to sign in is shown its recovery codes first', async () => {
    const { portico } = app;
    const members = `admin/projects/${portico.projects[0]?.id}/members`;
    const { json } = await portico.api('GET', members);
    const own = json.entry.find(({ resource }: { resource: { user: { display?: string } } }) =>
      resource.user.display?.startsWith('Ada'),
    ).resource;
    const change = { body: { mfaRequired: true } };
    expect((await portico.api('POST', `${members}/${own.id}`, change)).status).toBe(200);
    const other = await app.open('phone');
    await other.goto('/app');
    await other.getByLabel('E-mail').fill(admin.email);
    await other.getByLabel('Password', { exact: true }).fill(admin.password);
    await other.getByRole('button', { name: 'Sign in' }).click();
    await arrived(other, 'Add a second factor');
    const secret = (await other.locator('code').last().textContent())?.replaceAll(' ', '') ?? '';
    const totp = new TOTP({ secret: Secret.fromBase32(secret) });
    await other.getByLabel('Six-digit code').fill(totp.generate());
    await other.getByRole('button', { name: 'Add and continue' }).click();
    await other.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
    expect((await other.locator('code.secret').textContent())?.split(' ')).toHaveLength(10);
    expect(await badManners(other)).toEqual([]);
    await other.getByRole('button', { name: 'I have kept them: continue' }).click();
    await arrived(other, 'Overview');
    expect(app.faults).toEqual([]);
  }, 240_000);
});
