import { stringifyJson } from '../../base/json.ts';
import type { Resource } from '../../base/resource.ts';
import { fieldsOf } from '../../base/values.ts';
import { codeOf } from '../../bots/bot/bot.ts';
import { placeOfEntry } from '../../carry/table/entry-id.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys, listedRunShards, logShards } from '../../carry/table/keys.ts';
import { readPages } from '../../carry/table/pages.ts';
import { readItem } from '../../carry/table/table.ts';
import { inlineAttributes, inlineResource } from '../../store/items/content.ts';
import { readTimed, recordWithoutLog } from '../../store/items/read-ranges.ts';
import type { ExportPosition, ExportScope } from './export-job.ts';
import { type ExportLine, type ExportPage, type ExportSource, inPages, linesOfState } from './page.ts';
import { idsOfType, typeShards, versionsOfType } from './versions-of-type.ts';

const entriesAtOnce = 50;

/** Lines, none where it has passed something over, and the sort key or id of the last that is done. */
interface Passed {
  lines?: readonly ExportLine[];
  after: string;
}

type Pieces = Parameters<typeof inPages>[0];

/** A stretch of the way, which goes on behind any position in it. */
interface Unit {
  name: string;
  pieces(from: ExportPosition): Pieces;
}

/**
 * All of a Project that is its own to take along, a bounded page at a time: `<Type>` each resource as it stood at
 * `until`, Binaries with their bytes, `<Type>.history` the versions before and those of deleted ones, `BotCode` every
 * version of a Bot's code, `User` the people who have joined, as far as
 * the Project knows them. No secret, no hash, nothing of other Projects. It
 * reads what belongs to the Project and no other part of the table.
 * @param from where an export goes on that was broken off; what comes then is what would have come
 */
export async function* exportPages(
  source: ExportSource,
  wanted: ExportScope,
  from?: ExportPosition,
): AsyncGenerator<ExportPage> {
  const units = unitsOf(source, wanted);
  const start = from ? units.findIndex(({ name }) => name === from.unit) : 0;
  if (start < 0) throw new Error('An export goes on where it never was');
  for (const unit of units.slice(start)) {
    const inside = unit.name === from?.unit ? from : { unit: unit.name };
    yield* inPages(unit.pieces(inside));
  }
}

function unitsOf(source: ExportSource, wanted: ExportScope): Unit[] {
  const withLog = wanted.types.includes('AuditEvent');
  const units = (
    name: string,
    shards: number,
    read: (shard: number, after?: string) => AsyncIterable<Passed>,
  ): Unit[] =>
    Array.from({ length: shards }, (_, shard) => ({
      name: `${name} ${shard}`,
      pieces: (from: ExportPosition) => placed(from, read(shard, from.after)),
    }));
  const types = wanted.types.filter((type) => type !== 'AuditEvent');
  const states = { ...wanted, people: false };
  const ofTypes = types.flatMap((type) =>
    units(type, typeShards, (shard, after) => versionsOfType(source, states, { type, shard }, after)),
  );
  // Runs of earlier releases are listed here too, and passed over beside the records of their Bot.
  const log = units('log', logShards, (shard, after) =>
    entriesIn(source, wanted, { ...keys.logEntry(source.project, shard, ''), withEarlier: true }, after),
  );
  const bots = units('bots', typeShards, (shard, after) => noteBots(source, shard, after));
  const members = units('members', typeShards, (shard, after) => notePeople(source, wanted, shard, after));
  const runs: Unit = { name: 'runs', pieces: (from) => entriesOfRuns(source, wanted, from) };
  const code: Unit = { name: 'code', pieces: (from) => codeOfBots(source, from) };
  const people: Unit = { name: 'people', pieces: (from) => placed(from, usersNoted(source, from.after)) };
  return [
    ...ofTypes,
    ...(withLog ? log : []),
    ...(withLog || wanted.code ? bots : []),
    ...(withLog ? [runs] : []),
    ...(wanted.code ? [code] : []),
    ...(wanted.people ? [...members, people] : []),
  ];
}

async function* placed(from: ExportPosition, passed: AsyncIterable<Passed>) {
  for await (const { lines = [], after } of passed) yield { lines, position: { ...from, after } };
}

/**
 * The audit entries that a partition lists, by time.
 * @param list `withEarlier`: entries of earlier releases, which lie elsewhere, are taken where this lists them
 */
async function* entriesIn(
  source: ExportSource,
  { since, until }: ExportScope,
  { pk, withEarlier }: { pk: string; withEarlier: boolean },
  after: string | undefined,
): AsyncGenerator<Passed> {
  const { table, project } = source;
  const reading = { newestFirst: false, from: since, to: until, after, most: entriesAtOnce };
  for await (const item of readTimed(table, [pk], { ...reading, attributes: recordWithoutLog })) {
    const id = item.sk.slice(item.sk.indexOf('#') + 1);
    const key = placeOfEntry(id) ? undefined : keys.resource(project, 'AuditEvent', id);
    const found = key ? withEarlier && (await readItem(table, key)) : item;
    const name = { file: 'AuditEvent', name: `AuditEvent/${id}` };
    yield { lines: found ? await linesOfState(source, found, name) : [], after: item.sk };
  }
}

/** Those that are deleted too: their runs stay. */
async function* noteBots(
  source: ExportSource,
  shard: number,
  behind: string | undefined,
): AsyncGenerator<Passed> {
  for await (const { ids, after } of idsOfType(source, { type: 'Bot', shard }, behind)) {
    await source.notes.add('bot', ids);
    yield { after };
  }
}

/** Of all who had joined, whichever types are wanted and since when. */
async function* notePeople(
  source: ExportSource,
  wanted: ExportScope,
  shard: number,
  behind: string | undefined,
): AsyncGenerator<Passed> {
  const all = { ...wanted, since: undefined, history: false };
  const memberships = versionsOfType(source, all, { type: 'ProjectMembership', shard }, behind);
  for await (const { after } of memberships) yield { after };
}

async function* notedBots({ notes }: ExportSource, from: ExportPosition): AsyncGenerator<string> {
  if (from.bot !== undefined) yield from.bot;
  for (let after = from.bot; ; ) {
    const ids = await notes.list('bot', after);
    yield* ids;
    after = ids.at(-1);
    if (after === undefined) return;
  }
}

async function* entriesOfRuns(source: ExportSource, wanted: ExportScope, from: ExportPosition) {
  for await (const bot of notedBots(source, from)) {
    const isSame = bot === from.bot;
    for (let shard = isSame ? (from.shard ?? 0) : 0; shard < listedRunShards; shard++) {
      const list = { ...keys.run(source.project, bot, shard, ''), withEarlier: false };
      const start = isSame && shard === from.shard ? from.after : undefined;
      yield* placed({ unit: from.unit, bot, shard }, entriesIn(source, wanted, list, start));
    }
    // A Bot that has not run is passed over once only, too.
    const isBehind = isSame && from.shard === listedRunShards;
    if (!isBehind) yield { lines: [], position: { unit: from.unit, bot, shard: listedRunShards } };
  }
}

async function* codeOfBots(source: ExportSource, from: ExportPosition) {
  for await (const bot of notedBots(source, from)) {
    let after = bot === from.bot ? from.after : undefined;
    for await (const item of codeItems(source, bot, after)) {
      after = item.sk;
      const { version, filename, text: code } = codeOf(item);
      const text = JSON.stringify({ bot: { reference: `Bot/${bot}` }, version, filename, code });
      yield { lines: [{ file: 'BotCode', text }], position: { unit: from.unit, bot, after } };
    }
    if (after === undefined && bot !== from.bot) yield { lines: [], position: { unit: from.unit, bot } };
  }
}

async function* codeItems(
  { table, project }: ExportSource,
  bot: string,
  after: string | undefined,
): AsyncGenerator<Item> {
  const { pk, sk: prefix } = keys.botCode(project, bot, '');
  for await (const items of readPages(table, pk, { prefix, after, limit: 10 })) yield* items;
}

async function* usersNoted(
  { table, project, notes }: ExportSource,
  behind: string | undefined,
): AsyncGenerator<Passed> {
  for (let after = behind; ; ) {
    const ids = await notes.list('user', after);
    const wanted = ids.map((id) => keys.user(id));
    // All that its role reads of people: hashes and seeds lie beside them.
    const found = await table.read(wanted, inlineAttributes);
    const users = wanted.flatMap((key) => inlineResource('User', found.get(key)) ?? []);
    after = ids.at(-1);
    if (after === undefined) return;
    yield {
      lines: users.map((user) => ({ file: 'User', text: stringifyJson(knownOf(project, user)) })),
      after,
    };
  }
}

/**
 * What a Project knows of a User. Of one above Projects that is the id and the address: the names may be those that
 * another Project sent, and the version tells of before. Those that it sent itself stand in its memberships.
 */
function knownOf(project: string, user: Resource): object {
  if (fieldsOf(user.project).reference === `Project/${project}`) return user;
  const { resourceType, id, email } = user;
  return { resourceType, id, ...(email === undefined ? {} : { email }) };
}
