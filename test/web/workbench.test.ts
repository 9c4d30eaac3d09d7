import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { createBot } from '../spec/running.ts';
import { type App, arrived, describeInBrowser, go, signIn, startApp, walkedOn, write } from './app.ts';
import { badManners } from './manners.ts';

const failing = `export async function handler(medplum: any, event: any) {
  console.log(event.input);
  return deep(event);
}

function deep(event: any) {
  throw new Error('no good');
}
`;
const wrong = `export async function handler(medplum, event) {
  await medplum.createResorce(event.input);
}
`;
const slow = `export async function handler() {
  await new Promise((resolve) => setTimeout(resolve, 20_000));
}
`;

describeInBrowser("a Bot's workbench", () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app?.stop());

  test.each(walkedOn('desktop'))(
    'on a %s: an example, saving by keyboard, errors that lead to their line, cancelling, ready calls',
    async (view) => {
      const name = `Bench on a ${view}`;
      const identifier = [{ system: 'https://example.org/bots', value: view }];
      await createBot(app.portico, { name, identifier, timeout: 25 });
      const page = await app.open(view);
      const loaded: string[] = [];
      page.on('request', (request) => loaded.push(request.url()));
      const { email, password } = app.portico.projects[0]?.admin ?? { email: '', password: '' };
      await signIn(page, email, password);
      await go(page, 'Bots');
      await arrived(page, 'Bots');
      await page.waitForLoadState('networkidle');
      const before = loaded.length;
      await page.getByRole('link', { name }).click();
      await arrived(page, name);
      if (view === 'desktop') await isSideBySide(page);
      await editor(page).waitFor();
      await page.waitForLoadState('networkidle');
      // The compiler and what it knows are loaded when the editor is used, not when it is shown.
      expect(loaded.filter((url) => /worker|declarations/.test(url))).toEqual([]);
      const calls = loaded.slice(before).filter((url) => !url.includes('/app/'));
      expect(calls.length).toBeLessThanOrEqual(6);
      await checksWhileWriting(page);
      await beginsWithAnExample(page);
      await savesByKeyboard(page);
      await leadsToLines(page);
      await cancels(page);
      await showsSegments(page);
      await showsCalls(page, view);
      expect(app.faults).toEqual([]);
    },
    240_000,
  );

  const editor = (page: Page) => page.getByRole('textbox', { name: 'Code of the Bot' });
  const deploy = (page: Page) => page.getByRole('button', { name: 'Save and deploy' }).click();
  const run = (page: Page) => page.getByRole('button', { name: 'Run', exact: true }).click();
  const choose = async (page: Page, field: RegExp, option: string) => {
    await page.getByRole('button', { name: field }).click();
    await page.getByRole('option', { name: option, exact: true }).click();
  };

  async function isSideBySide(page: Page) {
    await editor(page).waitFor();
    const [code, console, window] = await Promise.all([
      page.locator('.editor').boundingBox(),
      page.getByRole('region', { name: 'Console' }).boundingBox(),
      page.viewportSize(),
    ]);
    expect(console?.x).toBeGreaterThan((code?.x ?? 0) + (code?.width ?? 0));
    expect(code?.height).toBeGreaterThan((window?.height ?? 0) * 0.45);
  }

  async function checksWhileWriting(page: Page) {
    await write(page, 'Code of the Bot', wrong);
    const problems = page.getByRole('region', { name: 'Problems' });
    await problems.getByText('1 type does not fit.').waitFor();
    await problems.getByText('createResorce').waitFor();
    expect(await badManners(page)).toEqual([]);
    await problems.getByRole('button', { name: 'line 2' }).click();
    await page.keyboard.press('Home');
    await page.keyboard.type('medplum.createRes');
    await page.getByRole('option', { name: 'createResourceIfNoneExist' }).waitFor();
    await page.keyboard.press('Escape');
    await write(page, 'Code of the Bot', 'export const handler = () => {');
    await problems.getByText('1 error keeps it from being deployed.').waitFor();
    await write(page, 'Code of the Bot', 'export const handler = () => 1;');
    await problems.getByText('No problems found.').waitFor();
  }

  async function beginsWithAnExample(page: Page) {
    await editor(page).waitFor();
    await choose(page, /Begin with an example/, 'form webhook');
    await page.getByRole('button', { name: 'Replace it' }).click();
    await editor(page).getByText('A web form asks for an appointment').waitFor();
    await page.getByText('You have unsaved changes.').waitFor();
    await write(page, 'Code of the Bot', '// my own');
    await choose(page, /Begin with an example/, 'echo');
    await page.getByRole('heading', { name: 'Replace the code?' }).waitFor();
    await page.getByRole('button', { name: 'Keep it as it is' }).click();
    await editor(page).getByText('// my own').waitFor();
    await choose(page, /Begin with an example/, 'echo');
    await page.getByRole('button', { name: 'Replace it' }).click();
    await editor(page).getByText('export async function').waitFor();
    expect(await badManners(page)).toEqual([]);
  }

  async function savesByKeyboard(page: Page) {
    // An opened bracket is closed, and one that is typed in its place is not doubled.
    await write(page, 'Code of the Bot', '// ');
    await page.keyboard.press('Enter');
    await page.keyboard.type('export const handler = () => (1');
    await editor(page).getByText('(1)').waitFor();
    await page.keyboard.type(');');
    await editor(page).getByText('export const handler = () => (1);').waitFor();
    await page.keyboard.press('ControlOrMeta+S');
    await page.getByText('Saved. What runs is the version').waitFor();
    expect(await page.getByText('You have unsaved changes.').count()).toBe(0);
  }

  async function leadsToLines(page: Page) {
    await write(page, 'Code of the Bot', failing.replace("');", "'"));
    await deploy(page);
    await page
      .getByRole('alert')
      .getByRole('button', { name: /line \d+/ })
      .click();
    await write(page, 'Code of the Bot', failing);
    await deploy(page);
    await page.getByText('Deployed. From now on this version runs.').waitFor();
    await run(page);
    const log = page.getByRole('region', { name: 'Log' });
    await log.getByRole('button', { name: /:7:/ }).first().click();
    // The cursor is there: what is typed comes into that line.
    await page.keyboard.type('/* here */ ');
    await editor(page)
      .getByText("throw /* here */ new Error('no good');")
      .or(editor(page).getByText("/* here */ throw new Error('no good');"))
      .waitFor();
    expect(await badManners(page)).toEqual([]);
  }

  async function cancels(page: Page) {
    await write(page, 'Code of the Bot', slow);
    await deploy(page);
    await page.getByText('Deployed. From now on this version runs.').waitFor();
    await run(page);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Cancelled: the run was stopped.').waitFor();
    await page.getByRole('region', { name: 'Answer' }).getByText('The run was cancelled').first().waitFor();
    await write(
      page,
      'Code of the Bot',
      'export const handler = (_: any, event: any) => console.log(event.input);',
    );
    await deploy(page);
    await page.getByText('Deployed. From now on this version runs.').waitFor();
  }

  async function showsSegments(page: Page) {
    await choose(page, /^(?!Show).*Content type/, 'HL7 v2');
    const segments = page.getByRole('region', { name: 'Segments' });
    await segments.getByText('Doe^Jane').waitFor();
    expect(await segments.getByRole('listitem').count()).toBe(2);
    await run(page);
    await page.getByRole('region', { name: 'Log' }).getByText('PID|1||12345^^^CLINIC^MR||Doe^Jane').waitFor();
    expect(await badManners(page)).toEqual([]);
  }

  async function showsCalls(page: Page, view: string) {
    await page.getByText('Call it from elsewhere').click();
    await page
      .getByRole('region', { name: 'With curl' })
      .getByText(/Bot\/[\w-]+\/\$execute/)
      .waitFor();
    await choose(page, /Named/, 'By its identifier');
    const token = encodeURIComponent(`https://example.org/bots|${view}`);
    await page.getByRole('region', { name: 'With curl' }).getByText(token).waitFor();
    await page.getByRole('region', { name: 'With a client library' }).getByText('executeBot').waitFor();
    expect(await badManners(page)).toEqual([]);
  }
});
