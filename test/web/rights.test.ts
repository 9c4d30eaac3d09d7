import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { newPerson } from '../spec/people.ts';
import { projectOf } from '../spec/running.ts';
import { password } from '../spec/signing-in.ts';
import { type App, arrived, describeInBrowser, go, pick, signIn, startApp } from './app.ts';
import { badManners } from './manners.ts';

describeInBrowser('rights that are given in the app', () => {
  let app: App;
  let page: Page;
  const policies: Record<string, string> = {};
  beforeAll(async () => {
    app = await startApp();
    for (const name of ['Nurse', 'Night shift', 'Night watch']) {
      const resource = [{ resourceType: 'Patient', readonly: true, hiddenFields: ['telecom'] }];
      const body = { resourceType: 'AccessPolicy', name, resource };
      policies[name] = (await app.portico.api('POST', 'fhir/R4/AccessPolicy', { body })).json.id;
    }
    page = await app.open('desktop');
    const { admin } = projectOf(app.portico, 0);
    await signIn(page, admin.email, admin.password);
  }, 240_000);
  afterAll(() => app?.stop());

  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const focused = () => page.evaluate('document.activeElement?.name');
  /** From the policy's field to the button, and presses it. */
  const sendByKeyboard = async () => {
    await page.getByRole('button', { name: 'Invite', exact: true }).focus();
    await press('Enter');
  };
  const membershipOf = async (email: string) => {
    const { id } = projectOf(app.portico, 0);
    const found = await app.portico.api('GET', `admin/projects/${id}/members?_count=50`);
    const named = found.json.entry.map(
      ({ resource }: { resource: { profile: { display: string } } }) => resource,
    );
    return named.find(({ profile }: { profile: { display: string } }) => profile.display.startsWith(email));
  };

  async function typeInvite(first: string, policy: string) {
    await page.goto('/app/invite');
    await arrived(page, 'Invite somebody');
    await page.getByLabel('First name').focus();
    await page.keyboard.type(first);
    await press('Tab');
    await page.keyboard.type('Kay');
    await press('Tab');
    await page.keyboard.type(`${first}@example.org`);
    await press('Tab');
    expect(await focused()).toBe('accessPolicy');
    await page.keyboard.type(policy);
  }

  test('a policy typed by its name, with the keyboard alone, is on the membership', async () => {
    await typeInvite('ann', 'nurse');
    await press('Tab');
    await page.getByText('May read Patients, without telecom.').waitFor();
    await page.getByText('Nothing else.').waitFor();
    expect(await badManners(page)).toEqual([]);
    await sendByKeyboard();
    await page.getByText('ann Kay is invited').waitFor();
    expect((await membershipOf('ann')).accessPolicy.reference).toBe(`AccessPolicy/${policies.Nurse}`);
  }, 240_000);

  test('a name sent at once, without leaving its field, is on the membership too', async () => {
    await typeInvite('bea', 'Nurse');
    await press('Escape', 'Enter');
    await page.getByText('bea Kay is invited').waitFor();
    expect((await membershipOf('bea')).accessPolicy.reference).toBe(`AccessPolicy/${policies.Nurse}`);
  }, 240_000);

  test.each([
    ['Nobody', 'There is none named “Nobody”.'],
    ['Night', 'Several match “Night”: choose one from the list.'],
  ])(
    '“%s” is refused at its field, and nothing is sent',
    async (typed, said) => {
      await typeInvite('cid', typed);
      await press('Tab');
      await page.getByText(said).waitFor();
      await page.getByText('Choose the access policy from the list').waitFor();
      await sendByKeyboard();
      await page.locator('input[name=accessPolicy]:focus').waitFor();
      expect(await page.getByLabel('First name').inputValue()).toBe('cid');
      expect(await badManners(page)).toEqual([]);
      expect(await membershipOf('cid')).toBeUndefined();
    },
    240_000,
  );

  test('a name that was only begun is not sent unread: it is asked for, and completed when the field is left', async () => {
    await typeInvite('dan', 'Nur');
    await press('Escape', 'Enter');
    await page.getByText('Do you mean “Nurse”?').waitFor();
    expect(await membershipOf('dan')).toBeUndefined();
    await press('Tab');
    await page.getByText('May read Patients, without telecom.').waitFor();
    await sendByKeyboard();
    await page.getByText('dan Kay is invited').waitFor();
    expect((await membershipOf('dan')).accessPolicy.reference).toBe(`AccessPolicy/${policies.Nurse}`);
  }, 240_000);

  test('a member keeps the policy, and the page says when it is saved', async () => {
    await page.getByRole('link', { name: 'See dan Kay' }).click();
    await arrived(page, 'dan Kay');
    const field = page.getByRole('combobox', { name: 'Access policy' });
    await field.fill('Nobody');
    await press('Tab');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('There is none named “Nobody”.').waitFor();
    expect((await membershipOf('dan')).accessPolicy.reference).toBe(`AccessPolicy/${policies.Nurse}`);
    await field.fill('night shift');
    await press('Tab');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved. It applies').waitFor();
    expect((await membershipOf('dan')).accessPolicy.reference).toBe(
      `AccessPolicy/${policies['Night shift']}`,
    );
    await page.getByText('Saved. It applies').waitFor();
    expect(await badManners(page)).toEqual([]);
  }, 240_000);

  test('who gives up their own administration is asked first', async () => {
    await go(page, 'Members');
    await page.getByRole('link', { name: 'Ada Administrator' }).click();
    await arrived(page, 'Ada Administrator');
    await page.getByText('May do everything in this project').waitFor();
    await page.getByText('Administrator', { exact: true }).last().click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Give up your own administration?' }).waitFor();
    expect(await badManners(page)).toEqual([]);
    await page.getByRole('button', { name: 'Keep it as it is' }).click();
    expect((await membershipOf('Ada')).admin).toBe(true);
    expect(app.faults).toEqual([]);
  }, 240_000);

  test('emergency access is taken with a reason, counts down on every page, and is ended', async () => {
    const accessPolicy = { reference: `AccessPolicy/${policies.Nurse}` };
    const nurse = await newPerson(app.portico, { firstName: 'Eve', accessPolicy });
    await page.goto(`/app/members/${nurse.membershipId}`);
    await arrived(page, 'Eve Lee');
    await pick(page, 'In an emergency also', 'Night', /Night shift/);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved. It applies').waitFor();

    const other = await app.open('desktop');
    await signIn(other, nurse.email, password);
    const beside = await app.openTab(other);
    await beside.goto('/app/account');
    await beside.getByRole('button', { name: 'Emergency access' }).waitFor();
    await other.getByRole('button', { name: 'Emergency access' }).click();
    await other.getByText('For 60 minutes you may also').waitFor();
    expect(await badManners(other)).toEqual([]);
    const take = other.getByRole('button', { name: 'Take emergency access' });
    await take.click();
    await other.getByText('reason must be 10 to 500 characters').waitFor();
    await other.getByLabel('Why do you need it?').fill('Unconscious, brought in by ambulance');
    await take.click();
    await other.getByText('You have emergency access for 60 minutes').waitFor();
    expect(await badManners(other)).toEqual([]);
    await other.reload();
    const going = /You have emergency access for (60|59) minutes/;
    await other.getByText(going).waitFor();
    // A tab that was open before learns it from the next answer that it gets.
    await go(beside, 'Records');
    await beside.getByText(going).waitFor();

    await page.reload();
    await page.getByRole('heading', { name: 'They have emergency access' }).waitFor();
    await page.getByText('Unconscious, brought in by ambulance').waitFor();
    expect(await badManners(page)).toEqual([]);
    await other.getByRole('button', { name: 'End now' }).click();
    await other.getByText(going).waitFor({ state: 'detached' });
    await go(beside, 'Your account');
    await go(beside, 'Records');
    await beside.getByText(going).waitFor({ state: 'detached' });
    await beside.close();
    await other.getByRole('button', { name: 'Emergency access' }).click();
    await other.getByLabel('Why do you need it?').fill('Unconscious, brought in once more');
    await other.clock.install({ time: Date.now() + 3 * 3_600_000 });
    await take.click();
    // The service decides: by this browser's clock it would be over.
    await other.getByText('You have emergency access for 1 minute').waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'End it now' }).click();
    await page.getByText('They have emergency access').waitFor({ state: 'detached' });
    await other.clock.fastForward('01:05');
    await other.getByRole('button', { name: 'Emergency access' }).waitFor();
    await page.reload();
    await arrived(page, 'Eve Lee');
    await page.getByRole('button', { name: 'Remove from the project' }).waitFor();
    expect(await page.getByText('They have emergency access').count()).toBe(0);
    await go(page, 'Overview');
    const attention = page.getByRole('list', { name: 'Needs attention' });
    await attention.getByText('Took emergency access').waitFor();
    expect(await badManners(page)).toEqual([]);

    // An administrator whose own policy leaves the audit log out is told what they do not see.
    const narrow = await newPerson(app.portico, { firstName: 'Max', accessPolicy, admin: true });
    const third = await app.open('desktop');
    await signIn(third, narrow.email, password);
    await third.getByText('Emergency access was not looked at').waitFor();
    await page.goto(`/app/policies/${policies['Night shift']}`);
    await page.getByRole('button', { name: 'Delete Night shift' }).click();
    await page.getByText('1 member has it prepared for emergency access').waitFor();
    await page.getByRole('button', { name: 'Keep it as it is' }).click();
    expect(app.faults).toEqual([]);
  }, 240_000);
});
