import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { execute } from '../spec/running.ts';
import { type App, arrived, describeInBrowser, go, signIn, startApp, walkedOn, write } from './app.ts';
import { badManners } from './manners.ts';

const code = `export async function handler(medplum: unknown, event: { input: any; contentType: string; secrets: any }) {
  console.log('got', event.contentType, Object.keys(event.secrets).join());
  if (event.contentType === 'x-application/hl7-v2+er7') return event.input.buildAck();
  return typeof event.input === 'string' ? event.input.toUpperCase() : event.input;
}
`;

/** Of the five samples: what is to be seen of the Bot's answer. */
const answers = [
  ['Text', 'HELLO'],
  ['JSON', '"greeting": "hello"'],
  ['Form', '"city": "Genève"'],
  ['FHIR', '"resourceType": "Patient"'],
  ['HL7 v2', 'MSA|AA|MSG0001'],
] as const;

describeInBrowser('a Bot in the app', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app?.stop());

  test.each(walkedOn('phone'))(
    'on a %s: created, deployed, run in five content types, rolled back',
    async (view) => {
      const page = await app.open(view);
      const { email, password } = app.portico.projects[0]?.admin ?? { email: '', password: '' };
      await signIn(page, email, password);
      await create(page, `Echo on a ${view}`);
      await deploys(page);
      await setsASecret(page);
      await changesSettings(page, `Echo on a ${view}`);
      await runs(page);
      await rollsBack(page);
      await page.getByRole('tab', { name: 'Executions' }).click();
      await page.getByText('hl7,').first().waitFor();
      await filters(page);
      expect(await badManners(page)).toEqual([]);
      expect(app.faults).toEqual([]);
    },
    240_000,
  );

  async function filters(page: Page) {
    const list = page.getByRole('list', { name: 'Executions' });
    await page.getByText(/Last 24 hours: \d+ runs?, .* failed, p50 \d+ ms/).waitFor();
    const first = list.getByRole('listitem').first();
    await first.locator('summary').click();
    const trace = await first.locator('p code').first().textContent();
    await first.getByRole('button', { name: /^Only runs by/ }).click();
    await page.getByRole('textbox', { name: 'Trace' }).fill(trace ?? '');
    await list.getByRole('listitem').nth(1).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /Outcome/ }).click();
    await page.getByRole('option', { name: 'Unknown' }).click();
    await page.getByText('No runs match these filters').waitFor();
    await page.getByRole('button', { name: /Outcome/ }).click();
    await page.getByRole('option', { name: 'Every outcome' }).click();
    await page.getByRole('textbox', { name: 'Trace' }).fill('');
    await page.getByRole('textbox', { name: 'Run by' }).fill('');
    // Live, a run that begins elsewhere appears by itself.
    await list.getByRole('listitem').nth(1).waitFor();
    const count = await list.getByRole('listitem').count();
    await page.getByText('Live', { exact: true }).click();
    await execute(app.portico, page.url().match(/bots\/([\w-]+)/)?.[1] ?? '', 'from elsewhere');
    await list.getByRole('listitem').nth(count).waitFor();
  }

  async function create(page: Page, name: string) {
    await go(page, 'Bots');
    await arrived(page, 'Bots');
    await page
      .getByText('No Bots yet')
      .or(page.getByRole('list', { name: 'Bots' }))
      .waitFor();
    expect(await badManners(page)).toEqual([]);
    await page.getByRole('link', { name: 'Create a Bot' }).click();
    await page.getByLabel('Name', { exact: true }).fill(name);
    expect(await badManners(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await arrived(page, name);
  }

  const type = (page: Page, text: string) => write(page, 'Code of the Bot', text);

  async function deploys(page: Page) {
    await type(page, 'export async function handler() {');
    await page.getByRole('button', { name: 'Save and deploy' }).click();
    await page.getByText(/\(line \d+/).waitFor();
    await type(page, 'export async function handler() { return 1; }');
    await page.getByRole('button', { name: 'Save and deploy' }).click();
    await page.getByText('Deployed. From now on this version runs.').waitFor();
    await type(page, code);
    await page.getByRole('button', { name: 'Save and deploy' }).click();
    await page.getByText('Deployed. From now on this version runs.').waitFor();
    expect(await badManners(page)).toEqual([]);
    await page.getByText(/The editor holds version \w{8}, which runs/).waitFor();
    // What was saved is there when the page is opened again.
    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.getByRole('tab', { name: 'Workbench' }).click();
    await page.getByText("console.log('got'").waitFor();
  }

  async function setsASecret(page: Page) {
    await page.getByRole('tab', { name: 'Secrets' }).click();
    await page.getByLabel('Name', { exact: true }).fill('LAB_KEY');
    await page.getByLabel('Value', { exact: true }).fill('a secret value');
    await page.getByRole('button', { name: 'Set the secret' }).click();
    await page.getByText('LAB_KEY is set').waitFor();
    expect(await badManners(page)).toEqual([]);
  }

  async function changesSettings(page: Page, name: string) {
    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByLabel('Time limit in seconds').fill('841');
    await page.getByRole('button', { name: 'Save the settings' }).click();
    await page.getByText(/timeout is a whole number/).waitFor();
    await page.getByLabel('Time limit in seconds').fill('20');
    await page
      .getByLabel('Identifiers')
      .fill(`https://example.org/bots|${name}\nhttps://example.org/other|${name}`);
    await page.getByText('Run within the rights of the caller').click();
    await page.getByRole('button', { name: 'Save the settings' }).click();
    await page.getByText('Saved. It applies from the next run.').waitFor();
    await page.getByText(`https://example.org/bots|${name}, https://example.org/other|${name}`).waitFor();
    const id = page.url().match(/bots\/([\w-]+)/)?.[1];
    const { json } = await app.portico.api('GET', `fhir/R4/Bot/${id}`);
    expect(json).toMatchObject({
      name,
      timeout: 20,
      runAsUser: true,
      identifier: [{ value: name }, { value: name }],
    });
    await page.getByRole('link', { name: 'What it may do' }).waitFor();
    expect(await badManners(page)).toEqual([]);
  }

  async function runs(page: Page) {
    await page.getByRole('tab', { name: 'Workbench' }).click();
    for (const [kind, seen] of answers) {
      await page.getByRole('button', { name: /^(?!Show).*Content type/ }).click();
      await page.getByRole('option', { name: kind, exact: true }).click();
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByRole('region', { name: 'Body of the answer' }).getByText(seen).waitFor();
      await page.getByRole('region', { name: 'Log' }).getByText('LAB_KEY').waitFor();
    }
    expect(await badManners(page)).toEqual([]);
    await page.getByRole('button', { name: /^(?!Show).*Content type/ }).click();
    await page.getByRole('option', { name: 'JSON', exact: true }).click();
    await page.getByRole('textbox', { name: 'Input' }).fill('{"broken":');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('400', { exact: true }).waitFor();
  }

  async function rollsBack(page: Page) {
    await page.getByRole('tab', { name: 'Versions' }).click();
    const older = page.getByRole('list', { name: 'Versions' }).getByRole('listitem').nth(1);
    await older.getByRole('button', { name: /^Code/ }).click();
    await page
      .getByRole('region', { name: /^Code of/ })
      .getByText('export async function')
      .waitFor();
    await older.getByRole('button', { name: /^Differences/ }).click();
    const differences = page.getByRole('region', { name: /^From what runs/ });
    await differences.getByText('Removed: ').first().waitFor();
    await differences.getByText('Added: ').first().waitFor();
    expect(await badManners(page)).toEqual([]);
    await older.getByRole('button', { name: /^Run / }).click();
    await older.getByText('Runs now').waitFor();
    expect(await badManners(page)).toEqual([]);
    await page.getByRole('tab', { name: 'Workbench' }).click();
    await page.getByText('The editor differs from version').waitFor();
    await page.getByRole('button', { name: 'Show the differences' }).click();
    await page
      .getByRole('region', { name: /to the editor$/ })
      .getByText("console.log('got'")
      .waitFor();
    expect(await badManners(page)).toEqual([]);
    // What was typed there is there again.
    expect(await page.getByRole('textbox', { name: 'Input' }).inputValue()).toBe('{"broken":');
    await page.getByRole('textbox', { name: 'Input' }).fill('{}');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('region', { name: 'Body of the answer' }).getByText('1', { exact: true }).waitFor();
  }
});
