import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { projectOf } from '../spec/running.ts';
import { type App, arrived, describeInBrowser, go, signIn, startApp, walkedOn } from './app.ts';
import { badManners } from './manners.ts';

describeInBrowser('many people from a file', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp();
    const resource = [{ resourceType: 'Patient', readonly: true }];
    const body = { resourceType: 'AccessPolicy', name: 'Nurse', resource };
    await app.portico.api('POST', 'fhir/R4/AccessPolicy', { body });
  }, 240_000);
  afterAll(() => app?.stop());

  test.each(walkedOn('desktop'))(
    'on a %s: what is wrong is said before anything is sent, and nobody is sent a second e-mail',
    async (view) => {
      const page = await app.open(view);
      const { email, password } = projectOf(app.portico, 0).admin;
      await signIn(page, email, password);
      await go(page, 'Invite');
      await page.getByRole('link', { name: 'Invite many from a file' }).click();
      await arrived(page, 'Invite many');
      const waiting = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download a template' }).click();
      expect((await waiting).suggestedFilename()).toBe('invitations.csv');

      const upload = (rows: string[]) =>
        page.getByLabel('File', { exact: true }).setInputFiles({
          name: 'people.csv',
          mimeType: 'text/csv',
          buffer: Buffer.from(rows.join('\r\n'), 'latin1'),
        });
      await upload(['resourceType;firstName;lastName;email;acessPolicy', `Patient;A;B;a@${view}.org;Nurse`]);
      await page.getByText('There is no column “acessPolicy”.').waitFor();
      expect(await page.getByRole('button', { name: 'Invite 0 people' }).isDisabled()).toBe(true);

      const header = 'resourceType;firstName;lastName;email;accessPolicy';
      await upload([
        header,
        `Practitioner;Zoé;"Jackson; PhD";zoe@${view}.org;nurse`,
        'Patient;Katherine;Johnson;not an address;',
        `Practitioner;Dorothy;Vaughan;zoe@${view}.org;`,
        `Practitioner;Annie;Easley;annie@${view}.org;Nurs`,
      ]);
      await page.getByText('Read as Latin-1').waitFor();
      await page.getByRole('cell', { name: 'Jackson; PhD' }).waitFor();
      for (const mistake of [
        '“not an address” is not an e-mail address.',
        'Row 1 has the same e-mail address.',
        'There is no access policy “Nurs”.',
      ])
        await page.getByRole('cell', { name: mistake }).waitFor();
      expect(await badManners(page)).toEqual([]);
      await page.getByRole('button', { name: 'Invite 1 person' }).click();
      await page.getByText('1 invited, 0 refused').waitFor();
      const results = page.getByRole('list', { name: 'Results' }).getByRole('listitem');
      expect(await results.nth(0).textContent()).toContain('Zoé Jackson; PhD is invited');
      await page.getByText('1 person from these rows is invited already').waitFor();
      expect(await badManners(page)).toEqual([]);

      // The corrected file again: only those who were not invited are.
      await upload([
        header,
        `Practitioner;Zoé;"Jackson; PhD";zoe@${view}.org;nurse`,
        `Practitioner;Annie;Easley;annie@${view}.org;Nurse`,
        `RelatedPerson;Mary;Golemba;mary@${view}.org;Nurse`,
        `Practitioner;Ada;Administrator;${email};`,
      ]);
      await page.getByRole('button', { name: 'Invite 3 people' }).click();
      await page.getByText('2 invited, 1 refused').waitFor();
      await page.getByText('User is already a member of this project').waitFor();
      const sent = page.waitForRequest((request) => request.url().endsWith('/invite/bulk'));
      await page.getByRole('button', { name: 'Send only what was refused' }).click();
      expect((await sent).postData()?.trim().split('\r\n').length).toBe(2);
      await page.getByText('0 invited, 1 refused').waitFor();
      await app.portico.local.mailbox.waitFor(({ to }) => to.includes(`mary@${view}.org`), 20_000);
      const { id } = projectOf(app.portico, 0);
      const members = await app.portico.api('GET', `admin/projects/${id}/members?_count=100`);
      const zoe = members.json.entry.find(
        ({ resource }: { resource: { profile: { display: string }; accessPolicy?: object } }) =>
          resource.profile.display === 'Zoé Jackson; PhD' && resource.accessPolicy,
      );
      expect(zoe).toBeDefined();
      expect(app.faults).toEqual([]);
    },
    240_000,
  );
});
