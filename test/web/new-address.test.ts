import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mailedConfirmation } from '../spec/mailed-link.ts';
import { newPerson, tokenOf } from '../spec/people.ts';
import { newAddress, password } from '../spec/signing-in.ts';
import { type App, arrived, describeInBrowser, signIn, startApp } from './app.ts';
import { badManners } from './manners.ts';

describeInBrowser('a person with a new address', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp();
  }, 240_000);
  afterAll(() => app?.stop());

  test('confirms it by the link in the mail, once, and signs in with it', async () => {
    const person = await newPerson(app.portico);
    const token = await tokenOf(app.portico, person);
    const email = newAddress();
    const body = { resourceType: 'User', id: person.userId, firstName: 'Ann', lastName: 'Lee', email };
    const asked = await app.portico.api('PUT', `fhir/R4/User/${person.userId}`, { token, body });
    expect(asked.status).toBe(200);

    const link = await mailedConfirmation(app.portico, email);
    const page = await app.open('phone');
    page.setDefaultTimeout(60_000);
    await page.goto(`/app/verify#${new URLSearchParams(link)}`);
    await arrived(page, 'Confirm your address');
    expect(await badManners(page)).toEqual([]);
    await page.getByLabel('Your password').fill('not the one');
    await page.getByRole('button', { name: 'Confirm the address' }).click();
    await page.getByText('This is not the password of the person who asked').waitFor();
    await page.getByLabel('Your password').fill(password);
    await page.getByRole('button', { name: 'Confirm the address' }).click();
    await arrived(page, 'Your address is confirmed');

    await page.goto('/app/verify');
    await page.goto(`/app/verify#${new URLSearchParams(link)}`);
    await page.reload();
    await page.getByLabel('Your password').fill(password);
    await page.getByRole('button', { name: 'Confirm the address' }).click();
    await page.getByText('This link is not valid any more').waitFor();
    await page.goto('/app/sign-in');
    await signIn(page, email, password);
    expect(app.faults).toEqual([]);
  }, 240_000);

  test('needs no password where they are signed in', async () => {
    const person = await newPerson(app.portico);
    const page = await app.open('desktop');
    await page.goto('/app/sign-in');
    await signIn(page, person.email, password);
    const token = await tokenOf(app.portico, person);
    const email = newAddress();
    const body = { resourceType: 'User', id: person.userId, firstName: 'Ann', lastName: 'Lee', email };
    expect((await app.portico.api('PUT', `fhir/R4/User/${person.userId}`, { token, body })).status).toBe(200);
    const link = await mailedConfirmation(app.portico, email);
    await page.goto(`/app/verify#${new URLSearchParams(link)}`);
    await arrived(page, 'Confirm your address');
    expect(await page.getByLabel('Your password').count()).toBe(0);
    await page.getByRole('button', { name: 'Confirm the address' }).click();
    await arrived(page, 'Your address is confirmed');
    expect(app.faults).toEqual([]);
  }, 240_000);
});
