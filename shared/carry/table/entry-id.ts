/**
 * The ids of AuditEvents. Each says where its item is: an entry in the log of its Project, the record of a
 * run among those of its Bot, both by time. So what is read by id needs one read, and what is listed by
 * time needs no index.
 */

/** What an id says. */
export interface EntryPlace {
  /** The Bot whose run it records; undefined for an entry of the log. */
  botId: string | undefined;
  atMs: number;
}

/** @param random a UUID */
export function logEntryId(atMs: number, random: string): string {
  return `a${instant(atMs)}-${tail(random)}`;
}

/** @param random a UUID @throws {Error} when the Bot's id is none */
export function runRecordId(botId: string, atMs: number, random: string): string {
  const bot = botId.replaceAll('-', '');
  if (!/^[0-9a-f]{32}$/.test(bot)) throw new Error('The id of a Bot is no UUID');
  return `r${bot}-${instant(atMs)}-${tail(random)}`;
}

const form =
  /^(?:a|r([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})-)([0-9a-z]{9})-[0-9a-f]{20}$/;

/** Undefined for the ids of earlier releases, which say nothing. */
export function placeOfEntry(id: string): EntryPlace | undefined {
  const found = form.exec(id);
  if (!found) return undefined;
  const bot = found.slice(1, 6);
  return {
    botId: bot[0] === undefined ? undefined : bot.join('-'),
    atMs: Number.parseInt(found[6] ?? '', 36),
  };
}

/** Of one length until the year 5188, so that ids sort as they followed each other. */
function instant(atMs: number): string {
  return atMs.toString(36).padStart(9, '0');
}

/** 74 random bits. */
function tail(uuid: string): string {
  return uuid.replaceAll('-', '').slice(0, 20);
}
