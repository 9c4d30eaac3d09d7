import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { handlerLoader } from '../../infra/local/functions.ts';
import { mailedLink } from '../spec/mailed-link.ts';
import { type Portico, requestToken, startPortico } from '../spec/portico.ts';
import { projectOf } from '../spec/running.ts';
import { attemptsOf, put, until } from '../spec/subscribing.ts';
import { readKept, restore } from './kept-table.ts';
import { identifier, longText, password } from './use-everything.ts';

const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.json.gz'));

test('there is a table of this release or of one before', () => {
  expect(files).not.toEqual([]);
});

describe.each(files)('%s', (file) => {
  const kept = readKept(join(import.meta.dirname, file));
  const { known } = kept;
  let portico: Portico;
  let dataDir = '';
  beforeAll(async () => {
    portico = await startPortico({
      prepare(folder) {
        dataDir = folder;
        return restore(kept, folder);
      },
    });
    // What a release's notes ask for when searches look at other values than before.
    const reindex = await handlerLoader()('reindex');
    while (!(await reindex({})).done);
  });
  afterAll(() => portico.stop());
  const get = (path: string) => portico.api('GET', `fhir/R4/${path}`);

  test('clients and people sign in', async () => {
    expect(
      await requestToken(portico.baseUrl, String(known.client), String(known.clientSecret)),
    ).toBeTruthy();
    const verifier = 'v'.repeat(43);
    const body = {
      email: 'member@example.com',
      password,
      codeChallenge: verifier,
      codeChallengeMethod: 'plain',
    };
    expect((await portico.api('POST', 'auth/login', { token: null, body })).status).toBe(200);
    const { admin } = projectOf(portico, 0);
    expect(
      (await portico.api('POST', 'auth/login', { token: null, body: { ...body, ...admin } })).status,
    ).toBe(200);
  });

  test('resources, old versions, deletions, long contents and bytes are read', async () => {
    expect((await get(`Patient/${known.patient}`)).json).toMatchObject({ gender: 'female', active: true });
    const version = await get(`Patient/${known.patient}/_history/${known.firstVersion}`);
    expect(version.json).not.toHaveProperty('gender');
    expect((await get(`Patient/${known.patient}/_history`)).json.entry).toHaveLength(2);
    expect((await get(`Communication/${known.long}`)).json.note[0].text).toBe(longText);
    expect((await get(`Patient/${known.gone}`)).status).toBe(410);
    const token = await portico.token();
    const bytes = await fetch(`${portico.baseUrl}/fhir/R4/Binary/${known.binary}`, {
      headers: { authorization: `Bearer ${token}`, accept: 'image/png' },
    });
    expect([...new Uint8Array(await bytes.arrayBuffer())]).toEqual([0, 1, 254, 255]);
  });

  test('searches find what they found, and what is changed is found anew', async () => {
    const found = async (query: string) =>
      (await get(query)).json.entry?.map(({ resource }: { resource: { id: string } }) => resource.id) ?? [];
    expect(await found('Patient?family=Kept&gender=female')).toEqual([known.patient]);
    expect(await found('Patient?birthdate=1970-01-01&_sort=_lastUpdated')).toEqual([known.patient]);
    expect(await found(`AuditEvent?entity=Patient/${known.gone}`)).not.toEqual([]);
    const { json } = await get(`Patient/${known.patient}`);
    await put(portico, { ...json, birthDate: '1971-01-01' });
    await until(
      async () => ((await found('Patient?birthdate=1970-01-01')).length === 0 ? true : undefined),
      'tidied',
    );
    expect(await found('Patient?birthdate=1971-01-01')).toEqual([known.patient]);
  });

  test('members and invitations go on', async () => {
    const project = projectOf(portico, 0).id;
    const members = await portico.api('GET', `admin/projects/${project}/members`);
    const all = JSON.stringify(members.json);
    expect(all).toContain(known.member);
    expect(all).toContain(known.invited);
    const resent = await portico.api('POST', `admin/projects/${project}/members/${known.invited}/invitation`);
    expect(resent.status).toBe(200);
    const link = await mailedLink(portico, 'invited@example.com');
    const accepted = await portico.api('POST', 'auth/setpassword', {
      token: null,
      body: { ...link, password },
    });
    expect(accepted.status).toBe(200);
  });

  test('Bots run with their secrets, are put back, and their runs are listed', async () => {
    const run = (path: string) => portico.api('POST', `fhir/R4/Bot/${path}`, { body: {} });
    expect((await run(`${known.bot}/$execute`)).json).toBe('kept secret');
    const named = new URLSearchParams({ identifier: `${identifier.system}|${identifier.value}` });
    expect((await run(`$execute?${named}`)).json).toBe('kept secret');
    const logs = await get(`Bot/${known.bot}/$logs`);
    expect(JSON.stringify(logs.json)).toContain('ran');
    const { parameter } = (await get(`Bot/${known.bot}/$versions`)).json;
    expect(parameter).toHaveLength(2);
    const part = parameter[1].part.find(({ name }: { name: string }) => name === 'hash');
    const body = { version: part.valueString };
    expect((await portico.api('POST', `fhir/R4/Bot/${known.bot}/$rollback`, { body })).status).toBe(200);
    expect((await run(`${known.bot}/$execute`)).json).toBe('first');
  });

  test('Subscriptions wake their Bots, and keep what they send under seal', async () => {
    expect((await get(`Subscription/${known.hook}`)).json.channel.header).toEqual(['Authorization: ***']);
    const { id } = await put(portico, { resourceType: 'Patient', active: true });
    const isWoken = async () => {
      const attempts = await attemptsOf(portico, String(known.subscription));
      return attempts.find(({ record, code }) => record === `Patient/${id}` && code === '0');
    };
    await until(isWoken, 'the Bot is woken');
  });

  test('npm run check-table finds nothing wrong with what was used, beside the running stack', async () => {
    const { code, told } = await operate(dataDir, 'check-table');
    expect(told).toMatch(/^\d{3,} items: 0 violations, \d+ that may settle by themselves\n$/);
    expect(code).toBe(0);
  });

  test('npm run export takes a Project along, beside the running stack too', async () => {
    const to = join(dataDir, 'exported');
    const project = portico.projects[0]?.id ?? '';
    const { code, told } = await operate(dataDir, 'export', '--project', project, '--to', to);
    expect([code, told]).toEqual([0, expect.stringMatching(/\d+ {2}Binary\.ndjson\n/)]);
    const lines = (await readFile(join(to, 'Patient.ndjson'), 'utf8')).trimEnd().split('\n');
    const { total } = (await get('Patient?_summary=count')).json;
    expect(lines).toHaveLength(total);
    expect((await operate(dataDir, 'export', '--project', 'none', '--to', `${to}2`)).code).toBe(1);
  });
});

function operate(
  dataDir: string,
  command: string,
  ...more: string[]
): Promise<{ code: unknown; told: string }> {
  const env = { ...process.env, NODE_OPTIONS: '', PORTICO_DATA_DIR: dataDir };
  const args = ['--disable-warning=ExperimentalWarning', `infra/local/operate/${command}.ts`, ...more];
  return new Promise((resolve) =>
    execFile(process.execPath, args, { env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, told: stdout + stderr }),
    ),
  );
}
