import { readdirSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeExport } from '../../infra/export/export-folder.ts';
import { exportProject } from '../../infra/export/export-project.ts';
import { isResourceType } from '../../shared/index/registry.ts';
import { isStanding } from '../../shared/store/inline.ts';
import type { Item } from '../../shared/table/item.ts';
import { keys, parseHead } from '../../shared/table/keys.ts';
import { scanPage } from '../../shared/table/scan-page.ts';
import { scanAll } from '../spec/portico.ts';
import { putItems, readKept } from '../upgrade/kept-table.ts';
import { getItem, type Stage, startStage } from './stage.ts';

/** A table in which everything was used. */
const upgrade = join(import.meta.dirname, '..', 'upgrade');
const [file = ''] = readdirSync(upgrade).filter((name) => name.endsWith('.json.gz'));
const kept = readKept(join(upgrade, file));
const [first, second] = kept.projects.map(({ id }) => id);
const own = String(first);

let stage: Stage;
let folder: string;
let items: Item[];
beforeAll(async () => {
  stage = await startStage();
  stage.clock.nowMs = Date.now();
  await putItems(stage, kept.items);
  items = await scanAll(stage.client, stage.tableName);
  folder = await mkdtemp(join(tmpdir(), 'portico-export-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await stage.stop();
});

/** In small pages, so that there are several. */
function pages(table = stage.services.table) {
  const { client, tableName } = stage;
  return exportProject({
    table,
    project: own,
    scan: (from, filter) => scanPage(client, tableName, { from, filter, limit: 100 }),
  });
}

const about = { request: `Project/${own}`, transactionTime: '2026-01-01T00:00:00.000Z' };

async function linesOf(name: string) {
  const text = await readFile(join(folder, 'all', name), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

test('holds every resource of the Project as it stands, in files by type, and a manifest that counts them', async () => {
  const manifest = await writeExport(join(folder, 'all'), pages(), about);
  const heads = items
    .filter(isStanding)
    .flatMap((item) => parseHead(item) ?? [])
    .filter(({ project, type }) => project === own && isResourceType(type));
  expect(heads.length).toBeGreaterThan(40);
  const exported = new Set<string>();
  for (const { url, count } of manifest.output) {
    const lines = await linesOf(url);
    expect(lines).toHaveLength(count);
    if (!url.includes('history')) for (const line of lines) exported.add(`${line.resourceType}/${line.id}`);
  }
  for (const { type, id } of heads) expect(exported).toContain(`${type}/${id}`);
  const files = (await readdir(join(folder, 'all'))).sort();
  expect(files).toEqual([...manifest.output.map(({ url }) => url), 'manifest.json'].sort());
  for (const file of files) expect((await stat(join(folder, 'all', file))).mode & 0o077).toBe(0);
  expect(JSON.parse(await readFile(join(folder, 'all', 'manifest.json'), 'utf8'))).toEqual(manifest);
});

test('has Binaries with their bytes, earlier versions, the code of Bots and the people', async () => {
  const binaries = await linesOf('Binary.ndjson');
  const bytes = Object.fromEntries(
    items
      .filter(({ pk }) => pk.startsWith(`P#${own}#Binary#`))
      .map((item) => [item.pk.split('#')[3], item.byteSize]),
  );
  expect(binaries.length).toBeGreaterThan(0);
  for (const { id, data } of binaries) expect(Buffer.from(data, 'base64').length).toBe(bytes[id]);
  const history = await linesOf('Patient.history.ndjson');
  const current = await linesOf('Patient.ndjson');
  const versions = [...history, ...current].map(({ id, meta }) => `${id} ${meta.versionId}`);
  expect(new Set(versions).size).toBe(versions.length);
  const stored = items.filter(
    ({ pk, sk, deleted }) => pk.startsWith(`P#${own}#Patient#`) && sk.startsWith('V#') && deleted !== true,
  );
  expect(versions).toHaveLength(stored.length);
  expect((await linesOf('BotCode.ndjson')).some(({ code }) => code.includes('export'))).toBe(true);
  const [person] = await linesOf('User.ndjson');
  expect(person).toMatchObject({ resourceType: 'User', email: expect.stringContaining('@') });
});

test('has no secret, no hash, and nothing of another Project', async () => {
  const all = (
    await Promise.all(
      (await readdir(join(folder, 'all'))).map((name) => readFile(join(folder, 'all', name), 'utf8')),
    )
  ).join('');
  expect(all).not.toContain(String(second));
  const hidden = items.flatMap((item) => [item.hash, item.secretHash, item.seed, item.refreshHash]);
  const secrets = hidden.filter((value) => typeof value === 'string');
  expect(secrets.length).toBeGreaterThan(2);
  for (const secret of secrets) expect(all).not.toContain(secret);
});

test('is no export without its manifest, and none over another', async () => {
  const broken = (async function* () {
    yield [{ file: 'Patient', text: '{}' }];
    throw new Error('broken off');
  })();
  await expect(writeExport(join(folder, 'broken'), broken, about)).rejects.toThrow('broken off');
  expect(await readdir(join(folder, 'broken'))).toEqual(['Patient.ndjson']);
  await expect(writeExport(join(folder, 'all'), pages(), about)).rejects.toThrow('is not empty');
});

test('takes a resource whose parts are replaced while it is read as it stands then', async () => {
  const key = keys.resource(own, 'Patient', 'moving');
  const seen = { ...key, versionId: 'old', parts: 1 };
  await stage.services.table.put(seen);
  let isMoved = false;
  const table: typeof stage.services.table = {
    ...stage.services.table,
    read: async (wanted) => {
      if (!isMoved && wanted.some(({ pk }) => pk.includes('#PART#Patient#moving#'))) {
        isMoved = true;
        const content = JSON.stringify({
          resourceType: 'Patient',
          id: 'moving',
          meta: { versionId: 'new', lastUpdated: about.transactionTime },
        });
        await stage.services.table.put({ ...key, versionId: 'new', content });
      }
      return stage.services.table.read(wanted);
    },
  };
  const found: string[] = [];
  for await (const lines of pages(table)) found.push(...lines.map(({ text }) => text));
  expect(isMoved).toBe(true);
  expect(found.filter((text) => text.includes('"moving"'))).toEqual([expect.stringContaining('"new"')]);
  expect((await getItem(stage.services, key))?.versionId).toBe('new');
});
