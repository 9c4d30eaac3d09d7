import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newPerson, type TestPerson } from '../spec/people.ts';
import { projectOf } from '../spec/running.ts';
import { type App, arrived, describeInBrowser, signIn, startApp, walkedOn } from './app.ts';
import { badManners } from './manners.ts';

describeInBrowser('viewing as a member', () => {
  let app: App;
  let nurse: TestPerson;
  let hidden: string;
  beforeAll(async () => {
    app = await startApp();
    const resource = [
      {
        resourceType: 'Patient',
        criteria: 'Patient?family=Allowed',
        readonly: true,
        hiddenFields: ['telecom'],
      },
    ];
    const policy = await app.portico.api('POST', 'fhir/R4/AccessPolicy', {
      body: { resourceType: 'AccessPolicy', name: 'Some patients', resource },
    });
    const telecom = [{ system: 'phone', value: '555-0101' }];
    for (const family of ['Allowed', 'Hidden']) {
      const body = { resourceType: 'Patient', telecom, name: [{ family, given: ['Pat'] }] };
      hidden = (await app.portico.api('POST', 'fhir/R4/Patient', { body })).json.id;
    }
    nurse = await newPerson(app.portico, { accessPolicy: { reference: `AccessPolicy/${policy.json.id}` } });
  }, 240_000);
  afterAll(() => app?.stop());

  test.each(walkedOn('phone'))(
    'on a %s: what they see, by which rule, and why not',
    async (view) => {
      const page = await app.open(view);
      const { email, password } = projectOf(app.portico, 0).admin;
      await signIn(page, email, password);
      await arrived(page, 'Overview');
      await page.goto(`/app/members/${nurse.membershipId}`);
      await arrived(page, 'Ann Lee');
      await page.getByRole('link', { name: 'View as this person' }).click();
      await arrived(page, 'Viewing as Ann Lee');
      expect(await badManners(page)).toEqual([]);
      const show = page.getByRole('button', { name: 'Show what they see' });
      await show.click();
      const records = page.getByRole('list', { name: 'Records' });
      await records.getByText('Pat Allowed').waitFor();
      await records.getByText(/^May read Patients .*without telecom\.$/).waitFor();
      await records.getByText('Hidden from them: telecom').waitFor();
      expect(await records.getByText('Pat Hidden').count()).toBe(0);
      await records.getByText('Pat Allowed').click();
      await page.getByRole('region', { name: 'Pat Allowed' }).waitFor();
      expect(await page.getByText('555-0101').count()).toBe(0);
      expect(await badManners(page)).toEqual([]);

      await page.getByLabel('Or the id of one record').fill(hidden);
      await show.click();
      await page.getByText('None of their rules for Patient matches this record.').waitFor();
      expect(await badManners(page)).toEqual([]);
      await page.getByLabel('Or the id of one record').fill('');
      await page.getByLabel('Search parameters').fill('shoe-size=1');
      await show.click();
      await page.getByText('shoe-size').first().waitFor();
      expect(app.faults).toEqual([]);
    },
    240_000,
  );
});
