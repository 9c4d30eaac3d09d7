import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { botThat, change } from '../spec/running.ts';
import { put } from '../spec/subscribing.ts';
import { type App, arrived, describeInBrowser, go, signIn, startApp, walkedOn } from './app.ts';
import { badManners } from './manners.ts';

const code = `if (event.input.active === false) throw new Error('not active');
return 1;`;

describeInBrowser("what wakes a Bot, on the Bot's page", () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app?.stop());

  test.each(walkedOn('desktop'))(
    'on a %s: a Subscription is tried, saved, delivers, is turned off and on; a schedule is set',
    async (view) => {
      const bot = await botThat(app.portico, code, { name: `Woken on a ${view}` });
      const [seen] = await Promise.all([patient(view), patient(view), patient('nobody')]);
      const page = await app.open(view);
      const { email, password } = app.portico.projects[0]?.admin ?? { email: '', password: '' };
      await signIn(page, email, password);
      await go(page, 'Bots');
      await page.getByRole('link', { name: `Woken on a ${view}` }).click();
      await arrived(page, `Woken on a ${view}`);
      await page.getByRole('tab', { name: 'Triggers' }).click();
      await page.getByText('No Subscriptions').waitFor();
      expect(await badManners(page)).toEqual([]);
      await subscribes(page, view);
      await seesDeliveries(page, seen);
      await turnsOffAndOn(page);
      await isToldOfErrors(page, bot);
      await schedules(page);
      await deletes(page);
      expect(app.faults).toEqual([]);
    },
    240_000,
  );

  const patient = (view: string) =>
    put(app.portico, {
      resourceType: 'Patient',
      active: true,
      meta: { tag: [{ system: 'urn:view', code: view }] },
    });

  const records = (page: Page) => page.getByRole('textbox', { name: 'Records' });
  const trigger = (page: Page) => page.getByRole('article');

  async function subscribes(page: Page, view: string) {
    await page.getByRole('button', { name: 'Add a Subscription' }).click();
    await records(page).fill('Patient?colour=red');
    await page.getByRole('button', { name: 'Try it on existing records' }).click();
    await page.getByRole('alert').getByText('colour').waitFor();
    await records(page).fill(`Patient?_tag=urn:view|${view}`);
    await page.getByRole('button', { name: 'Try it on existing records' }).click();
    await page.getByText(/It would have matched 2 of the last \d+ records of type Patient/).waitFor();
    expect(await badManners(page)).toEqual([]);
    // What was tried is what is saved: a change is tried again.
    await records(page).fill(`Patient?_tag=urn:view|${view}&_sort=name`);
    await page.getByRole('button', { name: 'Try it on existing records' }).click();
    await page.getByRole('button', { name: 'Save the Subscription' }).click();
    await page.getByText(/_sort/).last().waitFor();
    await records(page).fill(`Patient?_tag=urn:view|${view}`);
    await page.getByRole('button', { name: 'Try it on existing records' }).click();
    // It may have begun before the list is read again: the first list is of a moment before.
    await page.route(
      /\/fhir\/R4\/Subscription\?/,
      async (route) => {
        const answer = await route.fetch();
        await route.fulfill({
          response: answer,
          body: (await answer.text()).replace('"status":"active"', '"status":"requested"'),
        });
      },
      { times: 1 },
    );
    await page.getByRole('button', { name: 'Save the Subscription' }).click();
    await page.getByText('The Subscription is saved.').waitFor();
    await trigger(page).getByText('Starting').waitFor();
    await trigger(page).getByText('On', { exact: true }).waitFor();
    expect(await badManners(page)).toEqual([]);
  }

  async function seesDeliveries(page: Page, seen: { resourceType: string; id: string }) {
    await put(app.portico, { ...seen, gender: 'female' });
    const row = trigger(page).getByRole('list', { name: 'Deliveries' }).getByRole('listitem').first();
    await trigger(page).getByRole('button', { name: 'Deliveries' }).click();
    await refreshed(page, () => row.getByText('returned').first().isVisible());
    await row.getByRole('button', { name: `Deliver again: Patient/${seen.id} changed` }).click();
    await row.getByText('2 attempts').waitFor();
    await row.getByText('2 attempts').click();
    await row.getByText('begun anew once').waitFor();
    await put(app.portico, { ...seen, active: false });
    await refreshed(page, () => row.getByText('threw').first().isVisible());
    expect(await badManners(page)).toEqual([]);
    await trigger(page)
      .getByRole('button', { name: /Deliveries that/ })
      .click();
    await page.getByRole('option', { name: 'Delivered' }).click();
    await row.getByText('2 attempts').waitFor();
    await trigger(page).getByRole('button', { name: 'Deliveries', exact: true }).click();
  }

  /** Presses Refresh until it is there. */
  async function refreshed(page: Page, isThere: () => Promise<boolean>) {
    for (const untilMs = Date.now() + 30_000; Date.now() < untilMs; ) {
      await trigger(page).getByRole('button', { name: 'Refresh' }).click();
      await page.waitForLoadState('networkidle');
      if (await isThere()) return;
    }
    throw new Error('It did not come');
  }

  async function turnsOffAndOn(page: Page) {
    await trigger(page).getByRole('button', { name: 'Turn off' }).click();
    await trigger(page).getByText('Off', { exact: true }).waitFor();
    await trigger(page).getByRole('button', { name: 'Turn on' }).click();
    await trigger(page).getByText('On', { exact: true }).waitFor();
  }

  async function isToldOfErrors(page: Page, bot: string) {
    const found = await app.portico.api('GET', `fhir/R4/Subscription?url=Bot/${bot}`);
    const error = 'Ten deliveries in a row failed: threw';
    await change(app.portico, 'Subscription', found.json.entry[0].resource.id, { status: 'error', error });
    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.getByRole('tab', { name: 'Triggers' }).click();
    await page.getByText(error).waitFor();
    expect(await badManners(page)).toEqual([]);
    await trigger(page).getByRole('button', { name: 'Turn on again' }).click();
    await trigger(page).getByText('On', { exact: true }).waitFor();
  }

  async function schedules(page: Page) {
    await page.getByLabel('Cron expression').fill('30 7 * *');
    await page.getByText('five fields').waitFor();
    await page.getByLabel('Cron expression').fill('30 7 * * 1-5');
    await page.getByLabel('Time zone').fill('Europe/Paris');
    await page.getByText(/Every weekday at 07:30/).waitFor();
    await page.getByRole('button', { name: 'Save the schedule' }).click();
    await page.getByText('Saved. It runs at these times from now on.').waitFor();
    const card = page.getByRole('region', { name: 'Schedule' });
    await card.getByText('On', { exact: true }).waitFor();
    await card.getByText(/Europe\/Paris; next: /).waitFor();
    expect(await badManners(page)).toEqual([]);
    await page.getByRole('button', { name: 'Turn the schedule off' }).click();
    await page.getByText('The schedule is off.').waitFor();
    await page.getByText('does not run by itself').waitFor();
  }

  async function deletes(page: Page) {
    await trigger(page).getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete it for good' }).click();
    await page.getByText('No Subscriptions').waitFor();
  }
});
