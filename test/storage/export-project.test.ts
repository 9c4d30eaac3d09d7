import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeExport } from '../../infra/local/operate/export.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import { keys, parseHead } from '../../shared/carry/table/keys.ts';
import type { Table } from '../../shared/carry/table/table.ts';
import { Later } from '../../shared/carry/work/queue.ts';
import { callerOf } from '../../shared/identity/gate/access-token.ts';
import { beginExport } from '../../shared/records/export/begin-export.ts';
import {
  type ExportPosition,
  type ExportScope,
  errorFile,
  exportItem,
  exportOf,
  listFiles,
  newExport,
  readFile as readExported,
  textOfFile,
} from '../../shared/records/export/export-job.ts';
import { goOn, inFiles, moveExport } from '../../shared/records/export/go-on.ts';
import { inPages, notesInMemory } from '../../shared/records/export/page.ts';
import { typeShards, versionsOfType } from '../../shared/records/export/versions-of-type.ts';
import { exportPages } from '../../shared/records/export/walk.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import type { Write } from '../../shared/records/write/write.ts';
import { isResourceType, resourceTypes } from '../../shared/store/index/registry.ts';
import { actionsOf, createActions, deleteChange, updateChange } from '../../shared/store/items/change.ts';
import { isStanding } from '../../shared/store/items/content.ts';
import { streamUnread, violationsIn } from '../setup/violations.ts';
import { putItems, readKept } from '../upgrade/kept-table.ts';
import { scanAll } from './scan-all.ts';
import { callsOf, getItem, newProject, type Stage, startStage } from './stage.ts';

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

const everything = { types: resourceTypes().sort(), history: true, code: true, people: true };

const patients = { types: ['Patient'], history: false, code: false, people: false };

/** Of every kind, and few enough to be read over and over. */
const some = { types: ['AuditEvent', 'Binary', 'Bot', 'Patient', 'ProjectMembership'] };

function pages(wanted: Partial<ExportScope> = {}, from?: ExportPosition, notes = notesInMemory()) {
  const until = new Date(stage.clock.nowMs).toISOString();
  const source = { table: stage.services.table, project: own, notes };
  return exportPages(source, { ...everything, until, ...wanted }, from);
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
  const people = await linesOf('User.ndjson');
  expect(people[0]).toMatchObject({ resourceType: 'User', email: expect.stringContaining('@') });
  // Their names may be another Project's words.
  const above = people.filter(({ project }) => project === undefined);
  for (const one of above) expect(Object.keys(one)).toEqual(['resourceType', 'id', 'email']);
  expect(above.length).toBeGreaterThan(0);
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
    yield { lines: [{ file: 'Patient', text: '{}' }] };
    throw new Error('broken off');
  })();
  await expect(writeExport(join(folder, 'broken'), broken, about)).rejects.toThrow('broken off');
  expect(await readdir(join(folder, 'broken'))).toEqual(['Patient.ndjson']);
  await expect(writeExport(join(folder, 'all'), pages(), about)).rejects.toThrow('is not empty');
});

test('names what could not be read apart from what was', async () => {
  const lines = ['Patient', 'Patient.history', errorFile].map((file) => ({ file, text: '{}' }));
  const read = (async function* () {
    yield { lines };
  })();
  const { output, error } = await writeExport(join(folder, 'torn'), read, about);
  expect(error).toEqual([{ type: errorFile, url: 'OperationOutcome.ndjson', count: 1 }]);
  expect(output.map(({ url }) => url)).toEqual(['Patient.ndjson', 'Patient.history.ndjson']);
});

async function found(wanted: Partial<ExportScope>, from?: ExportPosition, notes = notesInMemory()) {
  const lines: string[] = [];
  for await (const page of pages(wanted, from, notes)) {
    lines.push(...page.lines.map(({ file, text }) => `${file} ${text}`));
  }
  return lines;
}

function patient(id: string, versionId: string, more: object = {}) {
  const meta = { versionId, lastUpdated: new Date(stage.clock.nowMs).toISOString(), project: own };
  return { resourceType: 'Patient', id, meta, ...more };
}

test('holds what stood at its instant, whatever is written or deleted while it goes on', async () => {
  const { table } = stage.services;
  const before = new Date(stage.clock.nowMs).toISOString();
  const [changing, ending] = [patient('changing', '1'), patient('ending', '1')];
  for (const one of [changing, ending]) await table.transact(createActions(own, one));
  const until = new Date(stage.clock.nowMs).toISOString();
  stage.clock.nowMs += 1000;
  await table.transact(actionsOf(updateChange(own, patient('changing', '2'), changing)));
  const stamp = { versionId: '2', nowMs: stage.clock.nowMs };
  await table.transact(actionsOf(deleteChange(own, ending, stamp)));
  await table.transact(createActions(own, patient('later', '1')));

  const then = await found({ ...patients, since: before, until, history: true });
  expect(then.map((line) => line.slice(0, 60)).sort()).toEqual([
    expect.stringMatching(/^Patient .*"changing"/),
    expect.stringMatching(/^Patient .*"ending"/),
  ]);
  expect(then.join()).not.toContain('"versionId":"2"');
  // People are those of all memberships, older ones too.
  const people = await found({ ...patients, people: true, since: until });
  expect(people).toContainEqual(expect.stringMatching(/^User /));
  const now = await found({ ...patients, since: before });
  expect(now.sort()).toEqual([
    expect.stringMatching(/^Patient .*"changing".*"versionId":"2"/),
    expect.stringMatching(/^Patient .*"later"/),
    expect.stringMatching(/^deleted .*"DELETE","url":"Patient\/ending"/),
  ]);
});

test('goes on behind any of its positions as if it had not been broken off', async () => {
  const whole = await found(some);
  const read: string[] = [];
  const notes = notesInMemory();
  const positions: ExportPosition[] = [];
  const had: number[] = [];
  for await (const { lines, next } of pages(some, undefined, notes)) {
    read.push(...lines.map(({ file, text }) => `${file} ${text}`));
    positions.push(next);
    had.push(read.length);
  }
  expect(read).toEqual(whole);
  // The notes are whole here: what was noted again is the same.
  for (let i = 0; i < positions.length; i += 3) {
    const rest = await found(some, positions[i], notes);
    expect(rest).toEqual(whole.slice(had[i]));
  }
});

test('comes to a position again and again where what it reads has nothing to export', async () => {
  const passedOver = (async function* () {
    for (let n = 0; n < 2_500; n += 1) yield { lines: [], position: { unit: 'Patient 0', after: String(n) } };
  })();
  const positions = [];
  for await (const { next } of inPages(passedOver)) positions.push(next.after);
  expect(positions).toEqual(['999', '1999', '2499']);
});

test('comes to a position again and again where Bots have neither code nor runs', async () => {
  const ids = Array.from({ length: 2_500 }, (_, n) => String(n).padStart(4, '0'));
  const notes = {
    add: async () => undefined,
    list: async (_: string, after = '') => ids.filter((id) => id > after).slice(0, 100),
  };
  const table = { ...stage.services.table, query: async () => ({ items: [] }) };
  const wanted = { ...everything, types: ['AuditEvent'], people: false, until: '9' };
  const seen = [];
  for await (const { next } of exportPages({ table, project: own, notes }, wanted)) seen.push(next);
  for (const unit of ['runs', 'code']) {
    const bots = seen.filter((one) => one.unit === unit).map(({ bot }) => bot);
    expect([unit, bots]).toEqual([unit, ['0999', '1999', '2499']]);
  }
});

test('of the log holds the runs of Bots, with their code or without', async () => {
  const log = { ...patients, types: ['AuditEvent'] };
  const alone = await found(log);
  expect(alone.some((line) => line.includes('"execute"'))).toBe(true);
  const withCode = await found({ ...log, code: true });
  expect(withCode.filter((line) => line.startsWith('AuditEvent '))).toEqual(alone);
});

test('looks once for the version that was the newest, whatever is changed while it goes on', async () => {
  const caller = await newProject(stage);
  const id = 'busy';
  const put = (text: string) =>
    carryOut(stage.services, caller, [
      { kind: 'update', type: 'Basic', id, body: { resourceType: 'Basic', id, code: { text } } },
    ]);
  const looks = async (versions: number) => {
    for (let n = 0; n < versions; n++) {
      stage.clock.nowMs += 1;
      await put(`before ${n}`);
    }
    const until = new Date(stage.clock.nowMs).toISOString();
    stage.clock.nowMs += 1;
    await put('after');
    const source = { table: stage.services.table, project: caller.project, notes: notesInMemory() };
    const wanted = { ...patients, types: ['Basic'], until };
    const lines: string[] = [];
    const calls = await callsOf(stage.client, async () => {
      for await (const page of exportPages(source, wanted)) lines.push(...page.lines.map(({ text }) => text));
    });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`before ${versions - 1}`);
    return calls.length;
  };
  const few = await looks(10);
  expect(await looks(30)).toBeLessThan(few + 5);
});

test('of a time that has not come is empty', async () => {
  const since = new Date(stage.clock.nowMs + 60_000).toISOString();
  expect(await found({ ...patients, types: ['Patient', 'AuditEvent'], since })).toEqual([]);
});

test('tells of what cannot be read, and goes on', async () => {
  const whole = createActions(own, patient('torn', '1')).flatMap((action) =>
    'put' in action ? [action.put] : [],
  );
  const torn = whole.map(({ content, ...item }) => (content === undefined ? item : { ...item, parts: 2 }));
  await stage.services.table.write(torn);
  const lines = await found(patients);
  expect(lines.filter((line) => line.startsWith('OperationOutcome'))).toEqual([
    expect.stringContaining('Patient/torn is in the store and cannot be read'),
  ]);
  await stage.services.table.write([], torn);
});

/** An export that somebody has asked for. */
async function asked(wanted: Partial<ExportScope> = {}) {
  const job = newExport(
    {
      ...{ id: randomUUID(), project: own, request: 'https://portico.example/fhir/R4/$export' },
      asker: { membershipId: 'm', reference: 'Practitioner/p', display: undefined },
      ...{ since: undefined, ...everything, ...wanted, types: [...(wanted.types ?? everything.types)] },
    },
    stage.clock.nowMs,
  );
  await stage.services.table.put(exportItem(job, true));
  return { job, key: keys.export(own, job.id) };
}

type Asked = Awaited<ReturnType<typeof asked>>;

/** Its files by kind, each as its lines. */
async function filesOf({ job }: Asked): Promise<Map<string, string[]>> {
  const byKind = new Map<string, string[]>();
  const { table } = stage.services;
  for await (const files of listFiles(table, job)) {
    for (const file of files.sort((a, b) => a.nth - b.nth)) {
      const text = (await textOfFile(await readExported(table, job, file))).toString();
      expect(text.length).toBeLessThan(4_600_000);
      const lines = text.trimEnd().split('\n');
      expect(lines).toHaveLength(file.count);
      byKind.set(file.kind, [...(byKind.get(file.kind) ?? []), ...lines]);
    }
  }
  return byKind;
}

const later = () => stage.clock.nowMs + 60_000;

test('as a job it gives what the command gives, file by file', async () => {
  const one = await asked();
  // Its own entry in the audit log is then later than the instant as of which it is.
  stage.clock.nowMs += 1;
  await goOn(stage.services, one.key, later());
  const to = join(folder, 'compared');
  const { output } = await writeExport(to, pages({ until: one.job.until }), about);
  const files = await filesOf(one);
  expect([...files.keys()].sort()).toEqual(output.map(({ url }) => url.replace('.ndjson', '')).sort());
  for (const [kind, lines] of files) {
    const text = await readFile(join(to, `${kind}.ndjson`), 'utf8');
    expect(lines).toEqual(text.trimEnd().split('\n'));
  }
  const after = exportOf(await getItem(stage.services, one.key));
  expect(after).toMatchObject({ status: 'completed', lines: [...files.values()].flat().length });
});

test('has its entry in the audit log with its end, all or none', async () => {
  const one = await asked(patients);
  const put = () => Promise.reject(new Error('broken off'));
  await goOn({ ...stage.services, table: { ...stage.services.table, put } }, one.key, later());
  const entries = (await found({ types: ['AuditEvent'] })).filter((line) => line.includes(one.job.id));
  expect(entries).toEqual([expect.stringContaining('"end-export"')]);
});

test('whose time is over keeps what it has read, and is to be gone on with', async () => {
  const [one, undisturbed] = [await asked(some), await asked(some)];
  stage.clock.nowMs += 1;
  await expect(goOn(stage.services, one.key, 0)).rejects.toThrow(Later);
  const kept = exportOf(await getItem(stage.services, one.key));
  expect(kept).toMatchObject({ status: 'active', step: 1, position: expect.anything() });
  for (const { key } of [one, undisturbed]) await goOn(stage.services, key, later());
  expect(exportOf(await getItem(stage.services, one.key))?.status).toBe('completed');
  expect(await filesOf(one)).toEqual(await filesOf(undisturbed));
});

test('broken off at any write, delivered twice and in many slices, it ends with the same files', async () => {
  const before = new Set((await violationsIn(stage, streamUnread)).map(({ pk }) => pk));
  const one = await asked(some);
  const undisturbed = await asked(some);
  stage.clock.nowMs += 1;
  await goOn(stage.services, undisturbed.key, later());
  const expected = await filesOf(undisturbed);
  let writes = 0;
  let isFailing = true;
  const failing =
    <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>, then: boolean) =>
    async (...args: Args): Promise<Result> => {
      if (!isFailing) return call(...args);
      writes += 1;
      if (then && writes % 2 === 0) await call(...args);
      if (writes % 3 !== 0) throw new Error('broken off');
      return call(...args);
    };
  const { table } = stage.services;
  const broken = {
    ...stage.services,
    table: { ...table, write: failing(table.write, false), transact: failing(table.transact, true) },
  };
  for (let attempt = 0; attempt < 400; attempt += 1) {
    isFailing = attempt % 2 === 0;
    // Its time is over at once: each call does one page and is to come back.
    const two = [goOn(broken, one.key, 0), goOn(broken, one.key, 0)];
    const ends = await Promise.allSettled(two);
    const status = (await getItem(stage.services, one.key))?.status;
    if (status === 'completed') break;
    const reasons = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
    for (const reason of reasons) expect(['Not yet', 'broken off']).toContain(reason.message);
  }
  expect((await getItem(stage.services, one.key))?.status).toBe('completed');
  const files = await filesOf(one);
  expect([...files.keys()].sort()).toEqual([...expected.keys()].sort());
  for (const [kind, lines] of files)
    expect([...lines].sort()).toEqual([...(expected.get(kind) ?? [])].sort());
  // What it left on its way leads nowhere, and expires.
  const wrong = (await violationsIn(stage, streamUnread)).filter(({ pk }) => !before.has(pk));
  expect(wrong).toEqual([]);
});

test('a step that somebody else has taken is not taken again, and leaves nothing', async () => {
  const one = await asked(patients);
  const { job } = one;
  const lines = [{ file: 'Patient', text: '{}' }];
  const next = { status: 'active', position: { unit: 'Patient 0' } } as const;
  const [first, second] = await Promise.all([1, 2].map(() => moveExport(stage.services, job, next, lines)));
  expect([first, second].filter(Boolean)).toHaveLength(1);
  expect(await moveExport(stage.services, job, next, lines)).toBeUndefined();
  const ofExport = ({ pk }: Item) => pk.includes(`#Export#${job.id}#`);
  expect((await scanAll(stage.client, stage.tableName)).filter(ofExport)).toHaveLength(1);
  expect(exportOf(await getItem(stage.services, one.key))).toMatchObject({ step: 1, files: 1, lines: 1 });
  // Cancelled since it was read, it does not go on.
  const item = await getItem(stage.services, one.key);
  await stage.services.table.put({ ...item, ...one.key, status: 'cancelled' });
  expect(await moveExport(stage.services, { ...job, step: 1 }, next, lines)).toBeUndefined();
  expect((await getItem(stage.services, one.key))?.status).toBe('cancelled');
});

test('lines are put into files that an answer holds, one that is longer into its own', () => {
  const long = (length: number) => 'x'.repeat(length - 1);
  const files = inFiles([long(3), long(3), long(4), long(11), long(2), long(2)], 10);
  expect(files.map((lines) => lines.map(({ length }) => length + 1))).toEqual([[3, 3, 4], [11], [2, 2]]);
});

test('a large Project comes in parts of bounded size; cancelled, nothing of it stays', async () => {
  const long = 'x'.repeat(16_000);
  const large = Array.from({ length: 450 }, (_, n) => patient(`large-${n}`, '1', { text: { div: long } }));
  const puts = large.flatMap((one) =>
    createActions(own, one).flatMap((action) => ('put' in action ? [action.put] : [])),
  );
  await stage.services.table.write(puts);
  const one = await asked(patients);
  await goOn(stage.services, one.key, later());
  const files = [];
  for await (const some of listFiles(stage.services.table, one.job)) files.push(...some);
  expect(files.length).toBeGreaterThan(2);
  expect(Math.max(...files.map(({ bytes }) => bytes))).toBeLessThan(4_600_000);
  expect(files.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(450);

  const item = await getItem(stage.services, one.key);
  await stage.services.table.put({ ...item, ...one.key, status: 'cancelled' });
  await expect(goOn(stage.services, one.key, 0)).rejects.toThrow(Later);
  await goOn(stage.services, one.key, later());
  const left = (await scanAll(stage.client, stage.tableName)).filter(
    ({ pk }) => pk.includes(`#Export#${one.job.id}#`) || pk === one.key.pk,
  );
  expect(left).toEqual([]);

  // Cancelled while it is read, it reads no further than the page that it is at.
  const { table } = stage.services;
  const two = await asked(patients);
  let queries = 0;
  const query: typeof table.query = async (input) => {
    queries += 1;
    if (queries === 1) await table.put({ ...exportItem(two.job, true), status: 'cancelled' });
    return table.query(input);
  };
  await goOn({ ...stage.services, table: { ...table, query } }, two.key, later());
  expect(queries).toBeLessThan(6);
  expect(await getItem(stage.services, two.key)).toBeUndefined();
});

test('of a disabled Project it waits, after a day it is given up, and it ends with its time', async () => {
  const project = keys.resource(own, 'Project', own);
  const head = await getItem(stage.services, project);
  const one = await asked(patients);
  await stage.services.table.put({ ...head, ...project, disabledAtMs: 1 });
  await expect(goOn(stage.services, one.key, later())).rejects.toThrow(Later);
  expect((await getItem(stage.services, one.key))?.status).toBe('accepted');
  stage.clock.nowMs += 25 * 3_600_000;
  await stage.services.table.put({ ...head, ...project });
  await goOn(stage.services, one.key, later());
  expect(exportOf(await getItem(stage.services, one.key))).toMatchObject({
    status: 'error',
    problem: expect.stringContaining('more than a day'),
  });
  stage.clock.nowMs += 7 * 86_400_000;
  expect(await getItem(stage.services, one.key)).toBeUndefined();
});

test('that has not ended within a day does not hold up the next', async () => {
  const { admission: _, ...claims } = await newProject(stage);
  const request = { query: new URLSearchParams('_type=Patient'), prefer: 'respond-async', url: 'x' };
  const begin = () => beginExport(stage.services, callerOf(claims, 'administrator'), request);
  await begin();
  stage.clock.nowMs += 86_400_000;
  await expect(begin()).rejects.toMatchObject({ kind: 'throttled' });
  stage.clock.nowMs += 1;
  await expect(begin()).resolves.toEqual(expect.any(String));
});

test('a resource is exported though its change, which was on its way, comes where was read already', async () => {
  const caller = await newProject(stage);
  const { services, clock } = stage;
  const nowMs = clock.nowMs;
  const write = async (atMs: number, change: Write) => {
    clock.nowMs = atMs;
    const [outcome] = await carryOut(services, caller, [change]);
    return outcome?.resource?.id ?? '';
  };
  const create = (atMs: number) =>
    write(atMs, { kind: 'create', type: 'Basic', body: { resourceType: 'Basic', code: { text: 'x' } } });
  const id = await create(nowMs);
  // Some are beside it in its partition.
  const others: string[] = [];
  for (let n = 0; n < 60; n += 1) others.push(await create(nowMs + 9_950));
  const body = { resourceType: 'Basic', id, code: { text: 'y' } };
  let isLate = false;
  const table: Table = {
    ...services.table,
    read: async (...of) => {
      // The heads of the page with the first of its versions.
      if (!isLate && JSON.stringify(of).includes(id)) {
        isLate = true;
        await write(nowMs + 9_900, { kind: 'update', type: 'Basic', id, body });
      }
      return services.table.read(...of);
    },
  };
  const source = { table, project: caller.project, notes: notesInMemory() };
  const until = new Date(nowMs + 10_000).toISOString();
  const wanted = { ...patients, types: ['Basic'], until };
  const found: string[] = [];
  for (let shard = 0; shard < typeShards; shard += 1)
    for await (const { lines } of versionsOfType(source, wanted, { type: 'Basic', shard }, undefined))
      found.push(...lines.map(({ text }) => JSON.parse(text)).map((one) => `${one.id} ${one.code.text}`));
  clock.nowMs = nowMs;
  expect(isLate).toBe(true);
  expect(found.sort()).toEqual([`${id} y`, ...others.map((one) => `${one} x`)].sort());
});
