import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { projectOf } from '../spec/running.ts';
import { until } from '../spec/subscribing.ts';
import {
  type App,
  arrived,
  describeInBrowser,
  go,
  pick,
  signIn,
  startApp,
  type views,
  walkedOn,
} from './app.ts';
import { badManners } from './manners.ts';

const password = 'correct horse battery';

describeInBrowser('the way of a person through the app', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp();
    await app.portico.api('POST', 'fhir/R4/AccessPolicy', {
      body: {
        resourceType: 'AccessPolicy',
        name: 'Only patients called Allowed',
        resource: [{ resourceType: 'Patient', criteria: 'Patient?family=Allowed', readonly: true }],
      },
    });
    for (const family of ['Allowed', 'Hidden']) {
      const body = { resourceType: 'Patient', name: [{ family, given: ['Pat'] }] };
      await app.portico.api('POST', 'fhir/R4/Patient', { body });
    }
  }, 240_000);
  afterAll(() => app?.stop());

  test.each(walkedOn('phone'))(
    'on a %s: invited, joined, sees what the policy allows, removed',
    async (view) => {
      const email = `grace-${view}@example.org`;
      const admin = await app.open(view);
      await admin.goto('/app');
      await arrived(admin, 'Sign in');
      expect(await badManners(admin)).toEqual([]);
      const { email: own, password: secret } = app.portico.projects[0]?.admin ?? { email: '', password: '' };
      await signIn(admin, own, secret);
      await go(admin, 'Members');
      await arrived(admin, 'Members');
      await admin.getByText('Ada Administrator').last().waitFor();
      expect(await badManners(admin)).toEqual([]);

      await invite(admin, email);
      const person = await join(admin, view, email);
      await seesOnlyWhatIsAllowed(person);
      await removes(admin, person);
      expect(app.faults).toEqual([]);
    },
    240_000,
  );

  test('an invitation is sent again and revoked', async () => {
    const admin = await app.open('desktop');
    const { email, password: secret } = app.portico.projects[0]?.admin ?? { email: '', password: '' };
    await signIn(admin, email, secret);
    for (const group of ['People', 'Automation', 'Data', 'Project']) {
      await admin.getByRole('navigation').getByRole('list', { name: group }).waitFor();
    }
    await go(admin, 'Invite');
    await fillInvite(admin, 'Rosa', 'rosa@example.org');
    await app.portico.local.mailbox.waitFor(({ to }) => to.includes('rosa@example.org'));
    await admin.getByRole('link', { name: 'See Rosa Hopper' }).click();
    await arrived(admin, 'Rosa Hopper');
    await admin.getByRole('button', { name: 'Send a new link' }).click();
    await admin.getByText('An e-mail with a new link is on its way').waitFor();
    await admin.getByRole('button', { name: 'Revoke', exact: true }).click();
    expect(await badManners(admin)).toEqual([]);
    await admin.getByRole('button', { name: 'Revoke the invitation' }).click();
    await admin.getByText('Invitation revoked').waitFor();
    await go(admin, 'Mailbox');
    await admin
      .getByRole('article')
      .filter({ hasText: 'rosa@example.org' })
      .first()
      .getByRole('link')
      .click();
    await arrived(admin, 'This link no longer works');
    expect(await badManners(admin)).toEqual([]);
  }, 240_000);

  test('somebody whose record is there already: the administrator says which is theirs', async () => {
    const admin = await app.open('phone');
    const { email: address, password: secret } = app.portico.projects[0]?.admin ?? {
      email: '',
      password: '',
    };
    await signIn(admin, address, secret);
    const body = {
      resourceType: 'Practitioner',
      name: [{ given: ['Ada'], family: 'Known' }],
      telecom: [{ system: 'email', value: 'known@example.org' }],
    };
    const made = await app.portico.api('POST', 'fhir/R4/Practitioner', { body });
    await go(admin, 'Invite');
    await fillInvite(admin, 'Ada', 'known@example.org');
    await admin.getByText('There is a record with this e-mail address already').waitFor();
    expect(await badManners(admin)).toEqual([]);
    await admin.getByRole('button', { name: 'Use the record of Ada Known' }).click();
    await admin.getByText('Ada Hopper is invited').waitFor();
    const { id } = projectOf(app.portico, 0);
    const list = await app.portico.api('GET', `admin/projects/${id}/members?_count=50`);
    expect(list.text).toContain(`Practitioner/${made.json.id}`);
  }, 240_000);

  /** What answers a press is where the eye is: in the window, without scrolling. */
  async function inSight(page: Page, what: Locator) {
    await what.waitFor();
    const height = page.viewportSize()?.height ?? 0;
    await until(async () => {
      const box = await what.boundingBox();
      return box && box.y >= 0 && box.y + 20 <= height ? true : undefined;
    }, 'an answer in sight');
  }

  async function fillInvite(page: Page, firstName: string, email: string) {
    await page.getByLabel('First name').fill(firstName);
    await page.getByLabel('Last name').fill('Hopper');
    await page.getByRole('textbox', { name: 'E-mail' }).fill(email);
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
  }

  async function invite(admin: Page, email: string) {
    await go(admin, 'Invite');
    await arrived(admin, 'Invite somebody');
    await fillInvite(admin, 'Grace', 'not an address');
    await inSight(admin, admin.getByText('Valid email address is required'));
    await admin.locator('input[name=email]:focus').waitFor();
    expect(await admin.getByLabel('First name').inputValue()).toBe('Grace');
    expect(await badManners(admin)).toEqual([]);
    await pick(admin, 'Access policy', 'Only pat', 'Only patients called Allowed');
    await fillInvite(admin, 'Grace', email);
    await inSight(admin, admin.getByRole('status').filter({ hasText: 'Grace Hopper is invited' }));
    await admin.locator('.notice:focus').waitFor();
    expect(await badManners(admin)).toEqual([]);
    await fillInvite(admin, 'Grace', email);
    await admin.getByText('already invited to this project with another').waitFor();
    await pick(admin, 'Access policy', 'Only pat', 'Only patients called Allowed');
    await fillInvite(admin, 'Grace', email);
    await admin.getByText('Grace Hopper was already invited a moment ago').waitFor();
  }

  async function join(admin: Page, view: keyof typeof views, email: string): Promise<Page> {
    await go(admin, 'Mailbox');
    await arrived(admin, 'Mailbox');
    const mail = admin.getByRole('article').filter({ hasText: email });
    await app.portico.local.mailbox.waitFor(({ to }) => to.includes(email));
    await admin.getByRole('button', { name: 'Refresh' }).click();
    await mail.waitFor();
    expect(await badManners(admin)).toEqual([]);
    const link = (await mail.getByRole('link').getAttribute('href')) ?? '';
    const person = await app.open(view);
    await person.goto(link);
    await arrived(person, 'Accept your invitation');
    await person.getByText('Demo Clinic').waitFor();
    await person.getByText('Ada Administrator').waitFor();
    await person.getByText(email).waitFor();
    expect(await person.getByRole('button', { name: 'Accept with your organisation' }).count()).toBe(0);
    expect(await badManners(person)).toEqual([]);
    await person.getByLabel('Password', { exact: true }).fill(password);
    await person.getByRole('button', { name: 'Accept and join' }).click();
    await arrived(person, 'Records');
    expect(new URL(person.url()).hash).toBe('');
    // The link is used up, and says so at once.
    const again = await app.openTab(person);
    await again.goto(link);
    await arrived(again, 'This link no longer works');
    await again.close();
    return person;
  }

  async function seesOnlyWhatIsAllowed(person: Page) {
    await arrived(person, 'Records');
    await person.getByText('Pat Allowed').waitFor();
    expect(await person.getByText('Pat Hidden').count()).toBe(0);
    expect(await badManners(person)).toEqual([]);
    await person.getByRole('button', { name: 'Type' }).click();
    await person.getByRole('option', { name: 'Observation', exact: true }).click();
    await person.getByText(/Forbidden|No Observation/).waitFor();
    expect(await person.getByRole('link', { name: 'Members' }).count()).toBe(0);
  }

  async function removes(admin: Page, person: Page) {
    await go(admin, 'Members');
    await admin.getByRole('link', { name: 'Grace Hopper' }).first().click();
    await arrived(admin, 'Grace Hopper');
    await admin.getByRole('button', { name: 'Remove from the project' }).click();
    await admin.getByText('stay where they are').waitFor();
    expect(await badManners(admin)).toEqual([]);
    await admin.getByRole('button', { name: 'Remove Grace Hopper' }).click();
    await arrived(admin, 'Members');
    await go(person, 'Records').catch(() => undefined);
    await person.getByText('Your session has ended').waitFor();
  }
});
