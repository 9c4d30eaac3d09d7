import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { exactOptional, object, pipe, regex, string } from 'valibot';
import { invalidField, Refusal } from '../../base/refusal.ts';
import { isId, type Reference, type Resource } from '../../base/resource.ts';
import { bytes, check, fields, parse, stored } from '../../base/schema.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { botVersionPrefix, type Key, keys } from '../../carry/table/keys.ts';
import { queryOf } from '../../carry/table/pages.ts';
import { type Action, ConditionFailed } from '../../carry/table/transact.ts';
import { auditAction, targetOf } from '../../identity/audit/audit-event.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { type Actor, admit, isRoot } from '../../identity/gate/actor.ts';
import { boundsName } from '../../identity/policies/bounds.ts';
import { requireOwnBot } from '../../records/subscriptions/own-bot.ts';
import { reference } from '../../store/fhir/stored-resource.ts';
import { parsePage, readCursor, sortKeyWith, writeCursor } from '../../store/items/page.ts';
import type { BotCode } from '../run/contract.ts';
import { botOf, codeOf, longestCodeBytes, type StoredBot } from './bot.ts';

/** A Bot's pointer on its way to a version. */
export interface Moving {
  actor: Actor;
  bot: Resource;
  /** Stored, or stored by the same transaction. */
  version: string;
  subtype: 'deploy' | 'rollback';
}

/** @throws {Refusal} not-found */
export function botKeyOf(project: string, botId: string): Key {
  if (!isId(botId)) throw new Refusal('not-found', 'Not found');
  return keys.resource(project, 'Bot', botId);
}

/** @throws {Refusal} not-found */
export function requireBot(item: Item | undefined): StoredBot {
  const bot = botOf(item);
  if (!bot) throw new Refusal('not-found', 'Not found');
  return bot;
}

/**
 * Moves the pointer, which is all that an execute looks at: it runs the old or the new version.
 * @param more actions of the same transaction
 * @throws {Refusal} not-found when the Bot was deleted meanwhile, conflict when rights were changed
 * @throws {ConditionFailed} when a condition of `more` does not hold
 */
export async function moveBot(
  services: Services,
  { actor, bot, version, subtype }: Moving,
  more: readonly Action[],
): Promise<void> {
  const { table, now, traceId } = services;
  const entities = [{ ...targetOf(bot), detail: [{ type: 'version', valueString: version }] }];
  const at = new Date(now()).toISOString();
  const { membershipId, profile: by } = actor;
  const deployed = { at, by, membershipId, ...(traceId === undefined ? {} : { trace: traceId }) };
  const pointer: Action = {
    name: 'bot',
    update: keys.resource(actor.project, 'Bot', bot.id),
    set: 'SET codeVersion = :version, deployed = :deployed, isNarrowed = :narrowed',
    if: 'attribute_exists(pk) AND attribute_not_exists(deleted)',
    values: { ':version': version, ':deployed': deployed, ':narrowed': !isRoot(actor) },
  };
  try {
    const audit = auditAction(services, actor, { subtype, action: 'U', entities });
    await table.transact([...more, pointer, audit]);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    if (error.failed.has('bot')) throw new Refusal('not-found', 'Not found', { reason: 'deleted meanwhile' });
    if (error.failed.has(boundsName)) throw new Refusal('conflict', 'Rights were changed at the same time');
    throw error;
  }
}

const versionText = 'version must be a hash that $versions names';
const versionForm = /^[0-9a-f]{64}$/;

export const rollBackBody = fields({
  version: pipe(string(versionText), regex(versionForm, versionText)),
});

/**
 * Moves a Bot's pointer to a version that was deployed before, in one write.
 * @param body `{version}`, as `$versions` names it
 * @throws {Refusal} not-found, invalid
 */
export async function rollBackBot(
  services: Services,
  caller: Caller<'administrator'>,
  { botId, body }: { botId: string; body: unknown },
): Promise<void> {
  const sent = check(rollBackBody, body);
  const botKey = botKeyOf(caller.project, botId);
  const codeKey = keys.botCode(caller.project, botId, sent.output?.version ?? 'none');
  const { actor, found } = await admit(services, caller, [botKey, codeKey]);
  const bot = requireBot(found.get(botKey));
  const { version } = parse(rollBackBody, body);
  // Versions are never removed: what was read is still there when the pointer moves.
  if (!found.get(codeKey)) throw new Refusal('not-found', 'The Bot has no such version');
  const bounds = await requireOwnBot(services, { caller, actor }, bot);
  await moveBot(services, { actor, bot: bot.resource, version, subtype: 'rollback' }, bounds);
}

/**
 * The same for whoever acts through the Bot: by its code, its secrets, or what it has logged.
 * @returns with what must still hold when it is written
 * @throws {Refusal} forbidden for a Bot that may do more than they
 */
export async function admitToOwnBot(services: Services, caller: Caller<'administrator'>, botId: string) {
  const admitted = await admitToBot(services, caller, botId);
  const { actor, bot } = admitted;
  return { ...admitted, bounds: await requireOwnBot(services, { caller, actor }, bot) };
}

/**
 * Reads an administrator's rights and a Bot of their Project in one call.
 * @throws {Refusal} not-found; unauthorized, forbidden for the caller
 */
export async function admitToBot(
  services: Services,
  caller: Caller<'administrator'>,
  botId: string,
): Promise<{ actor: Actor; bot: StoredBot; botKey: Key }> {
  const botKey = botKeyOf(caller.project, botId);
  const { actor, found } = await admit(services, caller, [botKey]);
  return { actor, bot: requireBot(found.get(botKey)), botKey };
}

/** R4 Parameters, as far as the operations of Bots answer it. */
export interface Parameters {
  resourceType: 'Parameters';
  parameter: Parameter[];
}

export function parametersOf(parameter: Parameter[]): Parameters {
  return { resourceType: 'Parameters', parameter };
}

export interface Parameter {
  name: string;
  valueString?: string;
  valueCode?: string;
  valueInstant?: string;
  valueInteger?: number;
  valueBoolean?: boolean;
  valueUrl?: string;
  valueReference?: Reference;
  part?: Parameter[];
}

/** Where the following page is, if there is one. */
export function nextParameter(
  baseUrl: string,
  path: string,
  query: URLSearchParams,
  cursor: string | undefined,
): Parameter[] {
  if (cursor === undefined) return [];
  const following = new URLSearchParams([...query]);
  following.set('_cursor', cursor);
  return [{ name: 'next', valueUrl: `${baseUrl}/fhir/R4/${path}?${following}` }];
}

/**
 * A Bot's versions, newest first, each once: `version` parameters with the parts `hash`, `deployed`,
 * `filename`, `by` and `current`; `next` is the URL of the following page.
 * @throws {Refusal} not-found, invalid
 */
export async function listVersions(
  services: Services,
  caller: Caller<'administrator'>,
  { botId, query }: { botId: string; query: URLSearchParams },
): Promise<Parameters> {
  const { bot, botKey } = await admitToBot(services, caller, botId);
  const path = `Bot/${botId}/$versions`;
  const { count, cursor } = parsePage(query);
  const listing = { project: caller.project, name: path };
  const after = readCursor(listing, cursor, sortKeyWith(botVersionPrefix));
  const { items, next } = await services.table.query({
    ...queryOf(botKey.pk, { prefix: botVersionPrefix }),
    ScanIndexForward: false,
    Limit: count,
    ...(after === undefined ? {} : { ExclusiveStartKey: { pk: botKey.pk, sk: after } }),
  });
  const following = next && writeCursor(listing, next.sk);
  return parametersOf([
    ...items.map((item) => versionParameter(item, bot.codeVersion)),
    ...nextParameter(services.baseUrl, path, query, following),
  ]);
}

const readVersion = stored(
  'version of a Bot',
  object({ version: string(), deployed: string(), filename: string(), by: reference }),
);

function versionParameter(item: Item, current: string | undefined): Parameter {
  const { version, deployed, filename, by } = readVersion(item);
  return {
    name: 'version',
    part: [
      { name: 'hash', valueString: version },
      { name: 'deployed', valueInstant: deployed },
      { name: 'filename', valueString: filename },
      { name: 'by', valueReference: by },
      { name: 'current', valueBoolean: version === current },
    ],
  };
}

const readItem = stored('source of a Bot', object({ text: exactOptional(bytes) }));

/**
 * The author's text of a version as an item of its own, which no run reads.
 * @returns undefined where it is what runs anyway, or is longer than an item may be
 */
export function sourceItem(project: string, botId: string, code: BotCode, source: string): Item | undefined {
  if (source === code.text) return undefined;
  const text = deflateRawSync(source);
  return text.length > longestCodeBytes
    ? undefined
    : { ...keys.botSource(project, botId, code.version), text };
}

function sourceOf(item: Item | undefined): string | undefined {
  const { text } = item ? readItem(item) : {};
  return text === undefined ? undefined : inflateRawSync(text).toString('utf8');
}

/**
 * The code of a version: `hash`, `filename`, `code` and `current`. `compiled` says that only what was made of the
 * author's text is there: that of earlier releases, or a text too long to be kept beside it.
 * @param query `version`, a hash that `$versions` names; without it what runs
 * @throws {Refusal} not-found, invalid
 */
export async function readCode(
  services: Services,
  caller: Caller<'administrator'>,
  { botId, query }: { botId: string; query: URLSearchParams },
): Promise<Parameters> {
  const { project } = caller;
  const { codeVersion } = (await admitToBot(services, caller, botId)).bot;
  const version = wanted(query) ?? codeVersion;
  if (version === undefined) throw new Refusal('not-found', 'Nothing of the Bot is deployed');
  const codeKey = keys.botCode(project, botId, version);
  const sourceKey = keys.botSource(project, botId, version);
  const items = await services.table.read([codeKey, sourceKey]);
  const item = items.get(codeKey);
  if (!item) throw new Refusal('not-found', 'The Bot has no such version');
  const code = codeOf(item);
  const source = sourceOf(items.get(sourceKey));
  return parametersOf([
    { name: 'hash', valueString: version },
    { name: 'filename', valueString: code.filename },
    { name: 'code', valueString: source ?? code.text },
    { name: 'compiled', valueBoolean: source === undefined && isCompiled(code) },
    { name: 'current', valueBoolean: version === codeVersion },
  ]);
}

function wanted(query: URLSearchParams): string | undefined {
  for (const name of query.keys()) {
    if (name !== 'version') throw invalidField(name, `Unknown parameter ${name} of $code`);
  }
  const version = query.get('version') ?? undefined;
  if (version === undefined || versionForm.test(version)) return version;
  throw invalidField('version', versionText);
}

/** JavaScript of which no lines were moved is kept as it came. */
function isCompiled({ filename, isMapped }: { filename: string; isMapped: boolean }): boolean {
  return isMapped || /\.[cm]?ts$/.test(filename);
}
