import { stringifyJson } from '../../base/json.ts';
import type { Resource } from '../../base/resource.ts';
import { fieldsOf } from '../../base/values.ts';
import { codeOf } from '../../bots/bot/bot.ts';
import { placeOfEntry } from '../../carry/table/entry-id.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys, listedRunShards, logShards } from '../../carry/table/keys.ts';
import { readPages } from '../../carry/table/pages.ts';
import { inlineAttributes, inlineResource } from '../../store/items/content.ts';
import { readTimed, recordWithoutLog } from '../../store/items/read-ranges.ts';
import {
  type ExportPage,
  type ExportSource,
  inPages,
  type Line,
  linesOfState,
  type Position,
  type Wanted,
} from './page.ts';
import { idsOfType, typeShards, versionsOfType } from './versions-of-type.ts';

/** So many entries are held at once. */
const entriesAtOnce = 50;

/** A partition that lists audit entries by time. */
interface EntryList {
  pk: string;
  /** Whether entries of earlier releases, which lie elsewhere, are taken where this lists them. */
  withEarlier: boolean;
}

/** The audit entries that one partition lists, by time. */
async function* entriesIn(
  source: ExportSource,
  { since, until }: Wanted,
  { pk, withEarlier }: EntryList,
  after: string | undefined,
): AsyncGenerator<{ lines: Line[]; after: string }> {
  const reading = { newestFirst: false, from: since, to: until, after, most: entriesAtOnce };
  const items = readTimed(source.table, [pk], { ...reading, attributes: recordWithoutLog });
  for await (const item of items) {
    const id = item.sk.slice(item.sk.indexOf('#') + 1);
    const found = placeOfEntry(id) ? item : withEarlier && (await earlierEntry(source, id));
    const lines = found
      ? await linesOfState(source, found, { file: 'AuditEvent', name: `AuditEvent/${id}` })
      : [];
    yield { lines, after: item.sk };
  }
}

async function earlierEntry({ table, project }: ExportSource, id: string): Promise<Item | undefined> {
  const key = keys.resource(project, 'AuditEvent', id);
  return (await table.read([key])).get(key);
}

type Piece = { lines: readonly Line[]; position: Position };
type Pieces = AsyncIterable<Piece>;

/** A stretch of the way, which goes on behind any position in it. */
interface Unit {
  name: string;
  pieces(from: Position): Pieces;
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
  wanted: Wanted,
  from?: Position,
): AsyncGenerator<ExportPage> {
  const units = unitsOf(source, wanted);
  const start = from ? units.findIndex(({ name }) => name === from.unit) : 0;
  if (start < 0) throw new Error('An export goes on where it never was');
  for (const unit of units.slice(start)) {
    const inside = unit.name === from?.unit ? from : { unit: unit.name };
    yield* inPages(unit.pieces(inside));
  }
}

function unitsOf(source: ExportSource, wanted: Wanted): Unit[] {
  const withLog = wanted.types.includes('AuditEvent');
  const inShards = (name: string, shards: number, read: (shard: number, from: Position) => Pieces): Unit[] =>
    Array.from({ length: shards }, (_, shard) => ({
      name: `${name} ${shard}`,
      pieces: (from: Position) => read(shard, from),
    }));
  const types = wanted.types.filter((type) => type !== 'AuditEvent');
  const states = { ...wanted, people: false };
  const ofTypes = types.flatMap((type) =>
    inShards(type, typeShards, (shard, from) => versionsOfType(source, states, { type, shard }, from)),
  );
  const log = inShards('log', logShards, (shard, from) => entriesOfLog(source, wanted, shard, from));
  const bots = inShards('bots', typeShards, (shard, from) => noteBots(source, shard, from));
  const members = inShards('members', typeShards, (shard, from) => notePeople(source, wanted, shard, from));
  const runs = { name: 'runs', pieces: (from: Position) => entriesOfRuns(source, wanted, from) };
  const code = { name: 'code', pieces: (from: Position) => codeOfBots(source, from) };
  const people = { name: 'people', pieces: (from: Position) => usersNoted(source, from) };
  return [
    ...ofTypes,
    ...(withLog ? log : []),
    ...(withLog || wanted.code ? bots : []),
    ...(withLog ? [runs] : []),
    ...(wanted.code ? [code] : []),
    ...(wanted.people ? [...members, people] : []),
  ];
}

async function* entriesOfLog(
  source: ExportSource,
  wanted: Wanted,
  shard: number,
  from: Position,
): AsyncGenerator<Piece> {
  const { pk } = keys.logEntry(source.project, shard, '');
  // Runs of earlier releases are listed here too, and passed over beside the records of their Bot.
  for await (const { lines, after } of entriesIn(source, wanted, { pk, withEarlier: true }, from.after)) {
    yield { lines, position: { ...from, after } };
  }
}

/** Those that are deleted too: their runs stay. */
async function* noteBots(source: ExportSource, shard: number, from: Position): AsyncGenerator<Piece> {
  for await (const { ids, after } of idsOfType(source, { type: 'Bot', shard }, from.after)) {
    await source.notes.add('bot', ids);
    yield { lines: [], position: { ...from, after } };
  }
}

/** Of all who had joined, whichever types are wanted and since when. */
async function* notePeople(
  source: ExportSource,
  wanted: Wanted,
  shard: number,
  from: Position,
): AsyncGenerator<Piece> {
  const all = { ...wanted, since: undefined, history: false };
  for await (const { position } of versionsOfType(source, all, { type: 'ProjectMembership', shard }, from)) {
    yield { lines: [], position };
  }
}

async function* notedBots({ notes }: ExportSource, from: Position): AsyncGenerator<string> {
  if (from.bot !== undefined) yield from.bot;
  for (let after = from.bot; ; ) {
    const ids = await notes.list('bot', after);
    yield* ids;
    after = ids.at(-1);
    if (after === undefined) return;
  }
}

async function* entriesOfRuns(source: ExportSource, wanted: Wanted, from: Position): AsyncGenerator<Piece> {
  for await (const bot of notedBots(source, from)) {
    const isSame = bot === from.bot;
    for (let shard = isSame ? (from.shard ?? 0) : 0; shard < listedRunShards; shard++) {
      const { pk } = keys.run(source.project, bot, shard, '');
      const start = isSame && shard === from.shard ? from.after : undefined;
      for await (const { lines, after } of entriesIn(source, wanted, { pk, withEarlier: false }, start)) {
        yield { lines, position: { unit: from.unit, bot, shard, after } };
      }
    }
    // A Bot that has not run is passed over once only, too.
    const isBehind = isSame && from.shard === listedRunShards;
    if (!isBehind) yield { lines: [], position: { unit: from.unit, bot, shard: listedRunShards } };
  }
}

async function* codeOfBots(source: ExportSource, from: Position): AsyncGenerator<Piece> {
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

async function* usersNoted({ table, project, notes }: ExportSource, from: Position): AsyncGenerator<Piece> {
  for (let after = from.after; ; ) {
    const ids = await notes.list('user', after);
    const wanted = ids.map((id) => keys.user(id));
    // All that its role reads of people: hashes and seeds lie beside them.
    const found = await table.read(wanted, inlineAttributes);
    const users = wanted.flatMap((key) => inlineResource('User', found.get(key)) ?? []);
    after = ids.at(-1);
    if (after === undefined) return;
    const lines = users.map((user) => ({ file: 'User', text: stringifyJson(knownOf(project, user)) }));
    yield { lines, position: { ...from, after } };
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
