import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { password, signingIn } from '../spec/signing-in.ts';
import { type SmartApp, startSmartApp } from '../spec/smart-app.ts';
import { type App, arrived, describeInBrowser, startApp } from './app.ts';
import { badManners } from './manners.ts';

describeInBrowser('a person who comes from a SMART app', () => {
  let app: App;
  let smart: SmartApp;
  beforeAll(async () => {
    app = await startApp();
    smart = await startSmartApp(app.portico);
  }, 240_000);
  afterAll(async () => {
    await smart?.stop();
    await app?.stop();
  });

  test('signs in, picks one of their patients, and is back in the app', async () => {
    const patient: { reference: string; display?: string }[] = [];
    for (const given of ['Ann', 'Bea']) {
      const body = { resourceType: 'Patient', name: [{ given: [given], family: 'Kid' }] };
      const { json } = await app.portico.api('POST', 'fhir/R4/Patient', { body });
      patient.push({ reference: `Patient/${json.id}` });
    }
    const at = signingIn(app.portico);
    const { email } = await at.newMember({ resourceType: 'RelatedPerson', patient });
    const clientId = await at.newApp({ redirectUris: [smart.redirectUri] });
    const path = `fhir/R4/ClientApplication/${clientId}`;
    const { json } = await app.portico.api('GET', path);
    const signInForm = { welcomeString: 'Growth charts for <b>parents</b>' };
    await app.portico.api('PUT', path, { body: { ...json, signInForm } });
    smart.use({ clientId, scope: 'openid fhirUser launch/patient patient/*.rs' });

    const page = await app.open('phone');
    await page.goto(smart.launchUrl);
    await arrived(page, 'Sign in');
    await page.getByText('Growth charts for <b>parents</b>').waitFor();
    expect(await badManners(page)).toEqual([]);
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await arrived(page, 'Whose record is it for?');
    expect(await badManners(page)).toEqual([]);
    await page.getByRole('button', { name: 'Bea Kid' }).click();
    await page.getByRole('heading', { name: 'The app' }).waitFor();
    const client = await smart.client();
    expect(`Patient/${client.patient.id}`).toBe(patient[1]?.reference);

    await page.goto(`${app.portico.baseUrl}/oauth2/end-session`);
    await arrived(page, 'You are signed out');
    expect(await badManners(page)).toEqual([]);
    expect(app.faults).toEqual([]);
  }, 240_000);
});
