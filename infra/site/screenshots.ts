/** `npm run screenshots`: pictures of the app's pages into docs/screenshots, from a stack of its own. */

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { answerHelp } from '../command.ts';
import { type DemoStack, withDemoStack } from '../local/demo.ts';
import { openBrowser } from './browser.ts';

/** What a clinic might have, made through the API, so that pictures of the app show something. */
async function fillDemo({ project: { id }, token, call }: DemoStack): Promise<{ botId: string }> {
  /** Answers the id of what was made, if anything was. */
  async function send(method: string, path: string, body: object | string, type = 'application/json') {
    const { status, text, json } = await call(method, path, { token, body, type });
    if (status >= 400) throw new Error(`${path}: ${status} ${text}`);
    return String(json.id ?? '');
  }
  const post = (path: string, body: object | string, type?: string) => send('POST', path, body, type);

  for (const [name, resource] of policies) {
    await post('fhir/R4/AccessPolicy', { resourceType: 'AccessPolicy', name, resource });
  }
  for (const [given, family] of [
    ['Amina', 'Diallo'],
    ['Jonas', 'Weber'],
    ['Mei', 'Tanaka'],
  ]) {
    await post('fhir/R4/Patient', { resourceType: 'Patient', name: [{ given: [given], family }] });
  }
  for (const [resourceType, firstName, lastName] of people) {
    const email = `${firstName}.${lastName}@example.org`.toLowerCase();
    await post(`admin/projects/${id}/invite`, { resourceType, firstName, lastName, email });
  }
  const botId = await post(`admin/projects/${id}/bot`, {
    name: 'Lab results',
    description: 'Files observations from HL7 v2 messages',
    identifier: [{ system: 'https://example.org/bots', value: 'lab-results' }],
  });
  const reminder = await post(`admin/projects/${id}/bot`, {
    name: 'Appointment reminder',
    description: 'Writes to patients',
  });
  await post(`fhir/R4/Bot/${reminder}/$deploy`, { code: reminderBot, filename: 'index.ts' });
  // It fails, so that the overview has something to say.
  await post(`fhir/R4/Bot/${reminder}/$execute`, {}).catch(() => undefined);
  await post(`admin/projects/${id}/client`, { name: 'Night import' });
  const source = await post('fhir/R4/Binary', labBot, 'text/typescript');
  await send(
    'PATCH',
    `fhir/R4/Bot/${botId}`,
    [{ op: 'replace', path: '/sourceCode/url', value: `Binary/${source}` }],
    'application/json-patch+json',
  );
  await post(`fhir/R4/Bot/${botId}/$deploy`, { code: labBot, filename: 'index.ts' });
  await post(`fhir/R4/Bot/${botId}/$execute`, { hello: 'world' });
  await post(`fhir/R4/Bot/${botId}/$execute`, 'hello', 'text/plain');
  return { botId };
}

const policies = [
  ['Laboratory', [{ resourceType: 'Observation' }, { resourceType: 'Patient', readonly: true }]],
  ['Reception', [{ resourceType: 'Patient' }, { resourceType: 'Appointment' }]],
] as const;

const people = [
  ['Practitioner', 'Grace', 'Hopper'],
  ['Practitioner', 'Rosalind', 'Franklin'],
  ['Patient', 'Jane', 'Doe'],
] as const;

const reminderBot = `export async function handler(): Promise<never> {
  throw new Error('No channel to write on');
}
`;

const labBot = `import type { BotEvent, MedplumClient } from '@medplum/core';

/** Answers a message, and says on the console whose it was. */
export async function handler(medplum: MedplumClient, event: BotEvent): Promise<unknown> {
  console.log('got', event.contentType);
  if (typeof event.input === 'string') return event.input.toUpperCase();
  if (event.contentType !== 'x-application/hl7-v2+er7') return event.input;
  console.log('patient', event.input.get('PID.5.1'));
  return event.input.buildAck();
}
`;

answerHelp('npm run screenshots\n  pictures of the pages of the app, into docs/screenshots\n');
const folder = fileURLToPath(new URL('../../docs/screenshots', import.meta.url));
const views = {
  desktop: { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  phone: { viewport: { width: 360, height: 740 }, colorScheme: 'dark' },
} as const;

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
await withDemoStack('pictures', async (stack) => {
  const { botId } = await fillDemo(stack);
  const { email, password } = stack.project.admin;
  await using browser = await openBrowser();
  for (const [view, options] of Object.entries(views)) {
    const context = await browser.newContext({ ...options, locale: 'en-GB', baseURL: stack.baseUrl });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const shoot = (name: string) => picture(page, `${name}-${view}`);
    await page.goto('/app');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'Night import' }).waitFor();
    if (view === 'desktop') await shoot('overview');
    await open(page, '/members');
    await page.getByRole('link', { name: 'Grace Hopper' }).waitFor();
    await shoot('members');
    await open(page, `/bots/${botId}`);
    await page.getByRole('textbox', { name: 'Code of the Bot' }).waitFor();
    await page.getByRole('button', { name: 'Content type' }).click();
    await page.getByRole('option', { name: 'HL7 v2' }).click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('patient Doe').first().waitFor();
    await shoot('workbench');
    if (view === 'phone') {
      const guest = await context.newPage();
      await guest.goto(/https?:\S+/.exec((await stack.mailbox.list())[0]?.text ?? '')?.[0] ?? '');
      await guest.getByRole('heading', { name: 'Accept your invitation' }).waitFor();
      await picture(guest, 'accept-phone');
    } else {
      await desktopPictures(page, shoot, botId);
    }
    await context.close();
  }
});
process.exit(0);

async function desktopPictures(
  page: Page,
  shoot: (name: string) => Promise<void>,
  botId: string,
): Promise<void> {
  for (const tab of ['Triggers', 'Executions']) {
    await page.getByRole('tab', { name: tab }).click();
    await page.getByRole('tabpanel').waitFor();
    await shoot(tab.toLowerCase());
  }
  await open(page, '/invite');
  await page.getByLabel('First name').fill('Ada');
  await page.getByLabel('Last name').fill('Lovelace');
  await page.getByRole('textbox', { name: 'E-mail' }).fill('ada@example.org');
  await page.getByRole('combobox', { name: 'Access policy' }).fill('Lab');
  await page.getByRole('option', { name: 'Laboratory' }).click();
  await shoot('invite');
  await open(page, '/audit');
  await page.getByText('returned').first().waitFor();
  await shoot('audit-log');
  await open(page, `/bots/${botId}`);
}

/** Without a reload, which would need the session again. */
async function open(page: Page, path: string): Promise<void> {
  await page.evaluate((href) => {
    const { history, dispatchEvent, PopStateEvent } = globalThis as never as Record<string, never> & {
      history: { pushState(state: null, title: string, url: string): void };
      dispatchEvent(event: object): void;
      PopStateEvent: new (name: string) => object;
    };
    history.pushState(null, '', href);
    dispatchEvent(new PopStateEvent('popstate'));
  }, `/app${path}`);
}

async function picture(page: Page, name: string): Promise<void> {
  // Lists and editors have arrived; what breathes or slides stands still.
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' });
}
