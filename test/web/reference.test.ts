import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { projectOf } from '../spec/running.ts';
import { type App, arrived, describeInBrowser, signIn, startApp, walkedOn } from './app.ts';
import { badManners } from './manners.ts';

describeInBrowser('the API reference', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp();
  }, 240_000);
  afterAll(() => app?.stop());

  test.each(walkedOn('phone'))('on a %s: an operation opens and says what it takes', async (view) => {
    const page = await app.open(view);
    const { email, password } = projectOf(app.portico, 0).admin;
    await signIn(page, email, password);
    await arrived(page, 'Overview');
    if (view === 'phone') await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name: 'API reference' }).click();
    await arrived(page, 'API reference');
    await page.getByText('POST /admin/projects/{projectId}/invite', { exact: true }).click();
    await page.getByText('Idempotency-Key (header)').filter({ visible: true }).waitFor();
    expect(await page.getByRole('heading', { level: 2, name: 'Execute' }).count()).toBe(1);
    expect(await badManners(page)).toEqual([]);
  });
});
