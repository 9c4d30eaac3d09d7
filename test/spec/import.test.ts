import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { bareEnvironment } from '../setup/bare-environment.ts';
import { callProgram, type Ended } from '../setup/call-program.ts';
import { isLong } from '../setup/long.ts';
import { type Portico, startPortico } from './portico.ts';
import { botThat, createClient, createPolicy, projectOf } from './running.ts';
import { subscribe, until } from './subscribing.ts';

const program = 'infra/import/main.ts';
const synthea = resolve(import.meta.dirname, '../../../shared/data/synthea');
let portico: Portico;
let folder: string;

beforeAll(async () => {
  portico = await startPortico();
});
afterAll(() => portico.stop());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-import-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface Loaded extends Ended {
  /** Lines of the file of what was refused. */
  refused: { file: string; entry: number; reason: string; status?: number }[];
}

/** Runs the program in the test's folder as the client of the first Project. */
async function load(args: readonly string[], env: Record<string, string> = signedIn()): Promise<Loaded> {
  const ended = await callProgram(program, ['--base', portico.baseUrl, ...args], env, folder);
  const lines = await readFile(join(folder, 'import-refused.ndjson'), 'utf8').catch(() => '');
  const refused = lines.split('\n').filter(Boolean);
  return { ...ended, refused: refused.map((line) => JSON.parse(line)) };
}

/** The same in a process of its own, which ends when the signal says so. */
async function loadUntil(signal: AbortSignal, ...args: string[]): Promise<void> {
  const argv = [
    '--disable-warning=ExperimentalWarning',
    resolve(program),
    '--base',
    portico.baseUrl,
    ...args,
  ];
  const env = { ...bareEnvironment(), ...signedIn() };
  const options = { cwd: folder, env, killSignal: 'SIGKILL', signal } as const;
  await new Promise((done) => execFile(process.execPath, argv, options, done));
}

function signedIn(): Record<string, string> {
  const { clientId, clientSecret } = projectOf(portico, 0);
  return { PORTICO_CLIENT_ID: clientId, PORTICO_CLIENT_SECRET: clientSecret };
}

function countsOf({ stdout }: Loaded): number[] {
  return ['created', 'there already', 'refused'].map((what) =>
    Number(new RegExp(`^${what} +([\\d,]+)`, 'm').exec(stdout)?.[1]?.replaceAll(',', '')),
  );
}

const write = (name: string, content: unknown) =>
  writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
const fhir = async (path: string) => (await portico.api('GET', `fhir/R4/${path}`)).json;
const lines = (...values: unknown[]) => values.map((value) => JSON.stringify(value)).join('\n');

/** References of a resource to others, those inside it aside. */
function referencesOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { reference } = value as { reference?: unknown };
  const own = typeof reference === 'string' && !reference.startsWith('#') ? [reference] : [];
  return [...own, ...Object.values(value).flatMap(referencesOf)];
}

describe('Synthea records', () => {
  const [test_, files] = !existsSync(synthea)
    ? [test.skip, []]
    : [
        test,
        isLong ? [synthea] : [join(synthea, 'Alberto_Atencio_fc712d1f-5a2e-4407-9c55-a2a2bad623c2.json')],
      ];

  test_(
    'load whole, all references resolve, and a second run changes nothing',
    async () => {
      const first = await load([...files, '--data-set', 'synthea']);
      expect([first.code, first.refused, first.stderr]).toEqual([
        0,
        [],
        expect.not.stringContaining('Error'),
      ]);
      const [created = 0, present = 0] = countsOf(first);
      expect(created).toBeGreaterThan(isLong ? 1_800 : 70);

      // Signing in is the one thing that is audited.
      const versions = async () => {
        const items = (await portico.local.scan()).filter(({ versionId }) => versionId);
        return items
          .map(({ pk, sk, versionId }) => `${pk} ${sk} ${versionId}`)
          .filter((item) => !item.includes('#AuditEvent'))
          .sort();
      };
      const audited = async () => (await fhir('AuditEvent?_total=accurate&_count=1')).total;
      const [before, auditedBefore] = [await versions(), await audited()];
      const second = await load([...files, '--data-set', 'synthea']);
      expect([second.code, countsOf(second)]).toEqual([0, [0, created + present, 0]]);
      expect(await versions()).toEqual(before);
      expect(await audited()).toBe(auditedBefore + 1);

      const types =
        'Patient Encounter Claim ExplanationOfBenefit Observation DiagnosticReport Procedure'.split(' ');
      const referred = new Set<string>();
      for (const type of types) {
        for (let path: string | undefined = `${type}?_count=200`; path !== undefined; ) {
          const { entry = [], link = [] } = await fhir(path);
          for (const { resource } of entry)
            for (const reference of referencesOf(resource)) referred.add(reference);
          const next = link.find(({ relation }: { relation: string }) => relation === 'next')?.url;
          path = next?.slice(next.indexOf('fhir/R4/') + 'fhir/R4/'.length);
        }
      }
      expect(referred.size).toBeGreaterThan(10);
      const found: string[] = [];
      for (const reference of referred) {
        const { status } = await portico.api('GET', `fhir/R4/${reference}`);
        if (status === 200) found.push(reference);
      }
      expect([...referred].filter((reference) => !found.includes(reference))).toEqual([]);
    },
    600_000,
  );
});

describe('what is loaded', () => {
  test('is NDJSON, Bundles and resources of a folder, with references across them, digits kept', async () => {
    await mkdir(join(folder, 'data/deep'), { recursive: true });
    await write(
      'data/Observation.ndjson',
      [
        '{"resourceType":"Observation","id":"o1","status":"final","code":{"text":"x"},"valueQuantity":{"value":1.50},"subject":{"reference":"Patient/mixed"}}',
        '',
        '{"resourceType":"Observation","id":"o2","status":"final","code":{"text":"x"},"subject":{"reference":"urn:uuid:mixed-1"}}\r',
      ].join('\n'),
    );
    await write('data/deep/a.json', {
      resourceType: 'Bundle',
      type: 'collection',
      entry: [
        {
          fullUrl: 'urn:uuid:mixed-1',
          resource: {
            resourceType: 'Patient',
            id: 'mixed',
            identifier: [{ system: 'urn:t', value: 'mixed' }],
          },
        },
      ],
    });
    await write('data/list.json', {
      resourceType: 'List',
      status: 'current',
      mode: 'working',
      entry: [{ item: { reference: 'Observation/o1' } }],
    });
    await write('data/notes.txt', 'no data');
    const ended = await load(['data']);
    expect([ended.code, countsOf(ended), ended.refused]).toEqual([0, [4, 0, 0], []]);
    const { id } = (await fhir('Patient?identifier=urn:t|mixed')).entry[0].resource;
    const observations = await portico.api('GET', `fhir/R4/Observation?subject=Patient/${id}&_sort=_id`);
    expect(observations.json.entry).toHaveLength(2);
    expect(observations.text).toContain('"value":1.50');
    const lists = (await fhir('List?status=current')).entry;
    expect(
      observations.json.entry.map(
        (entry: { resource: { id: string } }) => `Observation/${entry.resource.id}`,
      ),
    ).toContain(lists[0].resource.entry[0].item.reference);
  });

  test('is more than one request may hold', async () => {
    const all = Array.from({ length: 250 }, (_, at) => ({
      resourceType: 'Basic',
      id: `many-${at}`,
      code: { text: 'many' },
    }));
    const extension = ['a', 'b', 'c'].map((url) => ({ url, valueString: 'x'.repeat(500_000) }));
    const wide = { resourceType: 'Basic', id: 'wide', code: { text: 'wide' }, extension };
    await write('many.ndjson', lines(...all, wide, wide));
    const ended = await load(['many.ndjson']);
    expect([ended.code, countsOf(ended)]).toEqual([0, [251, 1, 0]]);
  });

  test('that was cut off goes on where it was', async () => {
    const all = Array.from({ length: 400 }, (_, at) => ({
      resourceType: 'Basic',
      id: `cut-${at}`,
      code: { coding: [{ system: 'urn:t', code: 'cut' }] },
    }));
    await write('cut.ndjson', lines(...all));
    const stored = async () => (await fhir('Basic?code=urn:t|cut&_summary=count')).total;
    const controller = new AbortController();
    const first = loadUntil(controller.signal, 'cut.ndjson');
    while ((await stored()) === 0) await pause(20);
    controller.abort();
    await first;
    const before = await stored();
    expect(before).toBeLessThan(400);
    const [created = 0, present = 0, refused] = countsOf(await load(['cut.ndjson']));
    // What was under way when it was cut off may have been finished since.
    expect([created + present, refused, created > 0 && present >= before]).toEqual([400, 0, true]);
    expect(await stored()).toBe(400);
  });

  test('keeps what is there, also when it was changed since', async () => {
    await write('one.ndjson', lines({ resourceType: 'Basic', id: 'kept', code: { text: 'kept' } }));
    await load(['one.ndjson', '--data-set', 'kept']);
    const { id } = (await fhir('Basic?_sort=-_lastUpdated&_count=1')).entry[0].resource;
    const body = { resourceType: 'Basic', id, code: { text: 'changed' } };
    expect((await portico.api('PUT', `fhir/R4/Basic/${id}`, { body })).status).toBe(200);
    expect(countsOf(await load(['one.ndjson', '--data-set', 'kept']))).toEqual([0, 1, 0]);
    expect((await fhir(`Basic/${id}`)).code.text).toBe('changed');
    expect(countsOf(await load(['one.ndjson', '--data-set', 'another']))).toEqual([1, 0, 0]);
  });

  test('finds what conditional references and creates mean, in the data and in the service', async () => {
    const identifier = (value: string) => [{ system: 'urn:t', value }];
    const there = await portico.api('POST', 'fhir/R4/Organization', {
      body: { resourceType: 'Organization', name: 'There', identifier: identifier('there') },
    });
    const encounter = (id: string, organization: string) => ({
      resource: {
        resourceType: 'Encounter',
        id,
        status: 'finished',
        class: { code: 'AMB' },
        serviceProvider: { reference: organization },
      },
      request: { method: 'POST', url: 'Encounter' },
    });
    const create = (value: string) => ({
      fullUrl: `urn:uuid:organization-${value}`,
      resource: { resourceType: 'Organization', name: value, identifier: identifier(value) },
      request: { method: 'POST', url: 'Organization', ifNoneExist: `identifier=urn:t|${value}` },
    });
    await write('conditional.json', {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [
        encounter('c1', 'Organization?identifier=urn:t|there'),
        encounter('c2', 'urn:uuid:organization-there'),
        encounter('c3', 'Organization?identifier=urn:t|new'),
        encounter('c4', 'Organization?identifier=urn:t|late'),
        encounter('c5', 'Organization?identifier=urn:t|nobody'),
        create('there'),
        create('new'),
        create('new'),
        { resource: { resourceType: 'Organization', name: 'late', identifier: identifier('late') } },
      ],
    });
    const ended = await load(['conditional.json']);
    expect([ended.code, countsOf(ended)]).toEqual([1, [6, 2, 1]]);
    expect(ended.refused).toEqual([
      expect.objectContaining({
        entry: 5,
        id: 'c5',
        reason: 'The reference Organization?identifier=urn:t|nobody leads nowhere',
      }),
    ]);
    const referred = async (value: string) => {
      const { entry } = await fhir(`Encounter?service-provider.identifier=urn:t|${value}`);
      return entry.length;
    };
    expect([await referred('there'), await referred('new'), await referred('late')]).toEqual([2, 1, 1]);
    expect((await fhir('Organization?identifier=urn:t|there')).entry[0].resource.id).toBe(there.json.id);
  });
});

describe('what is not loaded', () => {
  test('stands in a file with the reason, and the rest is loaded', async () => {
    await write(
      'mixed.ndjson',
      [
        '{"resourceType":"Patient","id":"good"}',
        '{"resourceType":"Patient","gender":7}',
        '{"resourceType":"Potato"}',
        '{"resourceType":"Pat',
        '{"resourceType":"Patient","id":"good","active":true}',
        '{"resourceType":"User","id":"nobody"}',
        '{"resourceType":"Basic","code":{"text":"x"},"subject":{"reference":"urn:uuid:nowhere"}}',
        '{"resourceType":"Basic","code":{"text":"x"},"subject":{"reference":"Patient/elsewhere"}}',
      ].join('\n'),
    );
    await write(
      'broken.json',
      '{"resourceType":"Bundle","type":"batch","entry":[{"resource":{"resourceType":"Patient","id":"cut"}},',
    );
    await write('delete.json', {
      resourceType: 'Bundle',
      type: 'batch',
      entry: [{ request: { method: 'DELETE', url: 'Patient/1' } }],
    });
    const ended = await load(['mixed.ndjson', 'broken.json', 'delete.json']);
    expect([ended.code, countsOf(ended)]).toEqual([1, [3, 0, 8]]);
    expect(ended.stdout).toContain('1 references lead out of the data set');
    const told = ended.refused.map(({ file, entry, status, reason }) => [file, entry, status, reason]);
    expect(told).toEqual(
      expect.arrayContaining([
        ['mixed.ndjson', 2, 422, expect.any(String)],
        ['mixed.ndjson', 3, undefined, 'Not a resource of FHIR R4'],
        ['mixed.ndjson', 4, undefined, expect.stringContaining('Not JSON')],
        ['mixed.ndjson', 5, undefined, expect.stringContaining('Another resource of this data set')],
        ['mixed.ndjson', 6, 403, expect.stringContaining('invite')],
        ['mixed.ndjson', 7, undefined, 'The reference urn:uuid:nowhere leads nowhere'],
        ['broken.json', 0, undefined, expect.stringContaining('Not JSON')],
        ['delete.json', 1, undefined, 'Only what creates resources is loaded: DELETE is not'],
      ]),
    );
  });

  test('is everything when nobody signs in, or for another Project', async () => {
    await write('one.ndjson', lines({ resourceType: 'Patient', id: 'nobody' }));
    expect(await load(['one.ndjson'], {})).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Say who loads'),
    });
    const wrong = { ...signedIn(), PORTICO_CLIENT_SECRET: 'wrong' };
    expect((await load(['one.ndjson'], wrong)).code).toBe(2);
    const other = await load(['one.ndjson', '--project', projectOf(portico, 1).name]);
    expect(other).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('These credentials are of Project'),
    });
    expect((await load(['none.ndjson'])).code).toBe(2);
    expect((await load([])).stderr).toContain('Name the files or folders to load');
  });
});

test('signs in with a file, with a token, and as a client that may not search', async () => {
  await write('one.ndjson', lines({ resourceType: 'Patient', id: 'signed-in' }));
  const { clientId, clientSecret } = projectOf(portico, 0);
  await write('client.json', { clientId, clientSecret });
  expect((await load(['one.ndjson', '--credentials', 'client.json'], {})).code).toBe(0);
  const token = { PORTICO_ACCESS_TOKEN: await portico.token() };
  expect(countsOf(await load(['one.ndjson'], token))).toEqual([0, 1, 0]);
  const rights = [{ resourceType: 'Patient', interaction: ['create', 'update'] }];
  const writer = await createClient(portico, { accessPolicy: await createPolicy(portico, rights) });
  const env = { PORTICO_CLIENT_ID: writer.id, PORTICO_CLIENT_SECRET: writer.secret };
  const quiet = await load(['one.ndjson', '--data-set', 'writer'], env);
  expect([quiet.code, quiet.stderr]).toEqual([
    2,
    expect.stringContaining('Only administrators write without'),
  ]);
  const args = ['one.ndjson', '--data-set', 'writer', '--events'];
  expect(countsOf(await load(args, env))).toEqual([1, 0, 0]);
  expect(countsOf(await load(args, env))).toEqual([0, 1, 0]);
});

test('Subscriptions are told of what is loaded when they are to be', async () => {
  const bot = await botThat(
    portico,
    `await medplum.createResource({ resourceType: 'Basic', code: { text: event.input.gender },
       identifier: [{ system: 'urn:t', value: 'told' }] });`,
  );
  await subscribe(portico, `Bot/${bot}`, 'Patient?_tag=urn:t|told');
  const tag = { meta: { tag: [{ system: 'urn:t', code: 'told' }] } };
  const told = async () => {
    const { entry = [] } = await fhir('Basic?identifier=urn:t|told&_sort=_lastUpdated');
    return entry.map(({ resource }: { resource: { code: { text: string } } }) => resource.code.text);
  };
  await write('quiet.ndjson', lines({ resourceType: 'Patient', id: 'quiet', gender: 'female', ...tag }));
  await write('told.ndjson', lines({ resourceType: 'Patient', id: 'told', gender: 'male', ...tag }));
  expect(countsOf(await load(['quiet.ndjson']))).toEqual([1, 0, 0]);
  expect(countsOf(await load(['told.ndjson', '--events']))).toEqual([1, 0, 0]);
  // What comes after it in the stream has been told: so nothing is to come of the first.
  await until(async () => ((await told()).length > 0 ? true : undefined), 'something is told');
  expect(await told()).toEqual(['male']);
  const { id } = (await fhir('Patient?_tag=urn:t|told&gender=female')).entry[0].resource;
  expect((await portico.api('POST', `fhir/R4/Patient/${id}/$resend`, { body: {} })).status).toBeLessThan(300);
  await until(
    async () => ((await told()).includes('female') ? true : undefined),
    'the first is told by hand',
  );
  const again = await portico.api('POST', 'fhir/R4', {
    body: { resourceType: 'Bundle', type: 'batch', entry: [] },
    headers: { 'x-portico-events': 'some' },
  });
  expect(again.status).toBe(400);
});
