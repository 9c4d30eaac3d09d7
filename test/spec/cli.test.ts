import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { bareEnvironment } from '../setup/bare-environment.ts';
import { type Portico, startPortico } from './portico.ts';
import { createBot, execute, projectOf } from './running.ts';

let portico: Portico;
let folder: string;

beforeAll(async () => {
  portico = await startPortico();
  folder = await mkdtemp(join(tmpdir(), 'portico-cli-'));
  await writeFile(join(folder, 'medplum.config.json'), '{"bots":[]}');
});
afterAll(async () => {
  await portico.stop();
  await rm(folder, { recursive: true, force: true });
});

const require = createRequire(import.meta.url);
const program = require.resolve('@medplum/cli');

/** Runs the unmodified command line client of this field, with a home of its own. */
async function medplum(...args: string[]): Promise<string> {
  const { clientId, clientSecret } = projectOf(portico, 0);
  const env = {
    ...bareEnvironment(),
    HOME: folder,
    MEDPLUM_BASE_URL: `${portico.baseUrl}/`,
    MEDPLUM_CLIENT_ID: clientId,
    MEDPLUM_CLIENT_SECRET: clientSecret,
  };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, ...args], { cwd: folder, env }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${args.join(' ')}: ${stdout}${stderr}`));
      else resolve(`${stdout}${stderr}`);
    });
  });
}

const write = (name: string, text: string) => writeFile(join(folder, name), text);

interface Config {
  bots: { name: string; id: string; source: string; dist?: string }[];
}

async function configured(name: string): Promise<string> {
  const { bots } = JSON.parse(await readFile(join(folder, 'medplum.config.json'), 'utf8')) as Config;
  return bots.find((bot) => bot.name === name)?.id ?? '';
}

describe('the medplum command line client', () => {
  test('creates a Bot, saves its source and deploys it', async () => {
    await write('echo.ts', 'export const handler = (_m: unknown, e: { input: string }) => "1 " + e.input;');
    await write('echo.js', 'exports.handler = (m, e) => "1 " + e.input;');
    const said = await medplum('bot', 'create', 'echo', projectOf(portico, 0).id, 'echo.ts', 'echo.js');
    expect(said).toMatch(/Success|created/i);
    const id = await configured('echo');
    expect((await execute(portico, id, 'x')).text).toBe('1 x');
    const bot = (await portico.api('GET', `fhir/R4/Bot/${id}`)).json;
    expect(bot.sourceCode).toMatchObject({ url: expect.stringMatching(/^Binary\//), title: 'echo.ts' });
    const source = await portico.api('GET', `fhir/R4/${bot.sourceCode.url}`);
    expect(source.text).toContain('(_m: unknown');
  });

  test('saves alone, and deploys by name and by pattern', async () => {
    await write('echo.ts', 'export const handler = () => "saved only";');
    await medplum('bot', 'save', 'echo');
    const id = await configured('echo');
    expect((await execute(portico, id, 'x')).text).toBe('1 x');
    await write('echo.js', 'exports.handler = (m, e) => "2 " + e.input;');
    expect(await medplum('bot', 'deploy', 'echo')).toContain('All OK');
    expect((await execute(portico, id, 'x')).text).toBe('2 x');
    await write('echo.js', 'exports.handler = (m, e) => "3 " + e.input;');
    await medplum('bot', 'deploy', 'ec*');
    expect((await execute(portico, id, 'x')).text).toBe('3 x');
  });

  test('executes a Bot by identifier', async () => {
    const identifier = [{ system: 'https://example.org/bots', value: 'by cli' }];
    const bot = await createBot(portico, { identifier });
    const body = { code: 'exports.handler = (m, e) => ({ doubled: e.input.n * 2 })' };
    await portico.api('POST', `fhir/R4/Bot/${bot}/$deploy`, { body });
    const said = await medplum('post', 'Bot/$execute?identifier=https://example.org/bots|by cli', '{"n":21}');
    expect(said).toMatch(/"doubled":\s*42/);
  });

  test('says which Project it works in', async () => {
    expect(await medplum('project', 'current')).toContain(projectOf(portico, 0).name);
  });

  test('asks for a run that it does not wait for', async () => {
    const identifier = [{ system: 'https://example.org/bots', value: 'later' }];
    const bot = await createBot(portico, { identifier });
    const body = { code: 'exports.handler = (m, e) => "later " + e.input.n' };
    await portico.api('POST', `fhir/R4/Bot/${bot}/$deploy`, { body });
    const path = 'Bot/$execute?identifier=https://example.org/bots|later';
    const said = await medplum('post', path, '{"n":21}', '--prefer-async');
    const job = /http\S+\/fhir\/R4\/job\/[0-9a-f-]+\/status/.exec(said)?.[0] ?? 'no job';
    expect(await medplum('get', job.slice(job.indexOf('fhir/R4')))).toContain('AsyncJob');
  });

  test('invites a person', async () => {
    await medplum('project', 'invite', 'Ann', 'Lee', 'ann.cli@example.com');
    const members = await portico.api('GET', `admin/projects/${projectOf(portico, 0).id}/members`);
    expect(members.text).toContain('Ann Lee');
  });

  test('imports and exports what the command knows as bulk, and is told that there is no export of less than a Project', async () => {
    const patient = { resourceType: 'Patient', identifier: [{ system: 'urn:t', value: 'cli bulk' }] };
    await write('bulk.ndjson', `${JSON.stringify(patient)}\n`);
    await medplum('bulk', 'import', 'bulk.ndjson');
    const found = await portico.api('GET', 'fhir/R4/Patient?identifier=urn:t|cli bulk');
    expect(found.json.entry).toHaveLength(1);
    await medplum('bulk', 'export', '-t', 'Patient', '-d', folder);
    const [file = ''] = (await readdir(folder)).filter((name) => name.includes('Patient'));
    expect(await readFile(join(folder, file), 'utf8')).toContain('cli bulk');
    await expect(medplum('bulk', 'export', '-e', 'Patient')).rejects.toThrow(
      'There is no export of Patients',
    );
  });
});
