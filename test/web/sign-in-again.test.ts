import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { keys } from '../../shared/carry/table/keys.ts';
import { ageAll } from '../spec/aging.ts';
import { mailedConfirmation, mailedUndo } from '../spec/mailed-link.ts';
import { newPerson, type TestPerson, tokenOf } from '../spec/people.ts';
import { newAddress, password } from '../spec/signing-in.ts';
import { type App, arrived, describeInBrowser, go, signIn, startApp, untilTrue, write } from './app.ts';
import { badManners } from './manners.ts';

describeInBrowser('a person who signed in more than five minutes ago', () => {
  let app: App;
  let page: Page;
  let admin: TestPerson;
  beforeAll(async () => {
    app = await startApp();
    admin = await newPerson(app.portico, { admin: true });
    page = await app.open('phone');
    await page.goto('/app');
    await signIn(page, admin.email, password);
  }, 240_000);
  afterAll(() => app?.stop());

  const question = (on: Page) => on.getByRole('dialog', { name: 'Is it still you?' });
  const answer = async (on: Page, given: string) => {
    await question(on).getByLabel('Your password').fill(given);
    await question(on).getByRole('button', { name: 'Go on' }).click();
  };

  test('is asked for the password, and what was typed and begun goes on', async () => {
    await ageAll(app.portico, admin.email);
    await go(page, 'API keys');
    await page.getByLabel('Name', { exact: true }).fill('Laboratory');
    await page.getByRole('button', { name: 'Create the key' }).click();
    await question(page).waitFor();
    expect(await badManners(page)).toEqual([]);
    await answer(page, 'not the password');
    await question(page).getByText('The password is not right').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('This needs a sign-in of the last 5 minutes').waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Laboratory');
    await page.getByRole('button', { name: 'Create the key' }).click();
    await answer(page, password);
    await page.getByText('This is the only time').waitFor();
    await question(page).waitFor({ state: 'detached' });
  }, 240_000);

  test('keeps drafts through it, and is asked once for what waits at once', async () => {
    const { portico } = app;
    const path = `admin/projects/${portico.projects[0]?.id}/bot`;
    const { id } = (await portico.api('POST', path, { body: { name: 'Drafted' } })).json;
    await page.goto(`/app/bots/${id}`);
    await arrived(page, 'Drafted');
    const draft = 'export async function handler() { return "not saved yet"; }';
    await write(page, 'Code of the Bot', draft);
    await untilTrue(page, 'localStorage.length === 1');
    await ageAll(portico, admin.email);
    await go(page, 'Your account');
    await page.getByLabel('New e-mail address').fill(newAddress());
    await page.getByRole('button', { name: 'Send the link' }).click();
    await question(page).waitFor();
    await page.evaluate("fetch('/app').then((answer) => answer.status)");
    await answer(page, password);
    await page.getByText('is queued').waitFor();
    await page.goto(`/app/bots/${id}`);
    await page.getByText('not saved yet').waitFor();
  }, 240_000);

  test('sets a second factor up, and may give a code of it from then on', async () => {
    await ageAll(app.portico, admin.email);
    await go(page, 'Your account');
    // Nobody is asked before they want something.
    await page.getByText('You sign in with your password alone').waitFor();
    await page.getByRole('button', { name: 'Set one up' }).click();
    await answer(page, password);
    const secret = (await page.locator('code').last().textContent())?.replaceAll(' ', '') ?? '';
    const totp = new TOTP({ secret: Secret.fromBase32(secret) });
    await page.getByLabel('Six-digit code').fill(totp.generate());
    await page.getByRole('button', { name: 'Add the second factor' }).click();
    await page.getByText('You have 10 recovery codes').waitFor();
    await page.reload();
    await ageAll(app.portico, admin.email);
    await go(page, 'Your account');
    await page.getByLabel('New e-mail address').fill(newAddress());
    await page.getByRole('button', { name: 'Send the link' }).click();
    await question(page).getByRole('button', { name: 'Give a code' }).click();
    await question(page)
      .getByLabel('Six-digit code')
      .fill(totp.generate({ timestamp: Date.now() + 30_000 }));
    await question(page).getByRole('button', { name: 'Go on' }).click();
    await page.getByText('is queued').waitFor();
    expect(app.faults).toEqual([]);
  }, 240_000);

  test('confirms a new address with it', async () => {
    const person = await newPerson(app.portico);
    const other = await app.open('desktop');
    await other.goto('/app');
    await signIn(other, person.email, password);
    const email = newAddress();
    const body = [{ op: 'replace', path: '/email', value: email }];
    const token = await tokenOf(app.portico, person);
    await app.portico.api('PATCH', `fhir/R4/User/${person.userId}`, { token, body });
    const link = await mailedConfirmation(app.portico, email);
    await ageAll(app.portico, person.email);
    await other.goto(`/app/verify#${new URLSearchParams(link)}`);
    await other.getByRole('button', { name: 'Confirm the address' }).click();
    await answer(other, password);
    await arrived(other, 'Your address is confirmed');

    const undo = await mailedUndo(app.portico, person.email);
    const before = await app.open('phone');
    await before.goto(`/app/undo#${new URLSearchParams(undo)}`);
    await arrived(before, 'Take your address back');
    expect(await badManners(before)).toEqual([]);
    await before.getByRole('button', { name: 'Take the address back' }).click();
    await arrived(before, 'Your address is yours again');
    expect(await badManners(before)).toEqual([]);
    await before.getByRole('link', { name: 'Choose a new password' }).click();
    await arrived(before, 'Forgot your password?');
    await other.goto('/app');
    await arrived(other, 'Sign in');
    expect(app.faults).toEqual([]);
  }, 240_000);

  test('takes an address back with a code of the second factor', async () => {
    const person = await newPerson(app.portico);
    const token = await tokenOf(app.portico, person);
    const api = (path: string, body?: unknown) =>
      app.portico.api(body ? 'POST' : 'GET', path, { token, ...(body ? { body } : {}) });
    const uri = new URL((await api('auth/mfa/status')).json.enrollUri);
    const totp = new TOTP({ secret: Secret.fromBase32(String(uri.searchParams.get('secret'))) });
    await api('auth/mfa/enroll', { token: totp.generate({ timestamp: Date.now() - 30_000 }) });
    // One that was enrolled lately would not be asked for.
    const Key = keys.mfa(person.userId);
    await app.portico.local.store.update({ Key, UpdateExpression: 'REMOVE enrolledAtMs' });
    const email = newAddress();
    const body = [{ op: 'replace', path: '/email', value: email }];
    await app.portico.api('PATCH', `fhir/R4/User/${person.userId}`, { token, body });
    await api('auth/verifyemail', await mailedConfirmation(app.portico, email));
    const undo = await mailedUndo(app.portico, person.email);
    const before = await app.open('desktop');
    await before.goto(`/app/undo#${new URLSearchParams(undo)}`);
    await before.getByRole('button', { name: 'Take the address back' }).click();
    const code = before.getByLabel('Six-digit code, or a recovery code');
    await code.fill('000000');
    await before.getByRole('button', { name: 'Take the address back' }).click();
    await before.getByText('The code is not right').waitFor();
    await code.fill(totp.generate());
    await before.getByRole('button', { name: 'Take the address back' }).click();
    await arrived(before, 'Your address is yours again');
    expect(app.faults).toEqual([]);
  }, 240_000);
});
