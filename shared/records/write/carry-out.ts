import { Refusal } from '../../base/refusal.ts';
import { isId, type Stamp } from '../../base/resource.ts';
import { readQuery } from '../../base/schema.ts';
import { refuseTaken } from '../../bots/bot/identifiers.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { type Key, keys, nameOfKey, versionPrefix } from '../../carry/table/keys.ts';
import { readItem } from '../../carry/table/table.ts';
import { type Action, ConditionFailed, keyOf, untilWritten } from '../../carry/table/transact.ts';
import { auditAction, targetOf } from '../../identity/audit/audit-event.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { type Actor, admit } from '../../identity/gate/actor.ts';
import { allows, tableToJudge } from '../../identity/policies/access.ts';
import { provided } from '../../identity/policies/bounds.ts';
import { commit, mostActions, type ResourceChange } from '../../store/items/change.ts';
import { openState } from '../../store/items/content.ts';
import { runSearch } from '../../store/search/run-search.ts';
import { parseSearch, type SearchRequest } from '../../store/search/search-request.ts';
import { readerOf, requireSearchable } from '../read/included.ts';
import { listSubscriptions } from '../subscriptions/listed.ts';
import { writerOf } from '../subscriptions/writer.ts';
import { plan, requireInteraction } from './plan.ts';
import { requireRoom, requireWritesWithin } from './programs.ts';
import { type EntryNames, resolveReferences, tooLargeBundle } from './references.ts';
import type { Located, Planned, Write, WriteOutcome } from './write.ts';

/** Longer than any request that read it can live. */
const lockSeconds = 86_400;

/**
 * Who calls, and for each write the resource that it is about as it stands: one batch read, and for
 * conditional writes the search and the head it leads to.
 * @throws {Refusal} unauthorized, forbidden, not-found, multiple-matches, invalid
 * @throws {ConditionFailed} when what a condition led to changed meanwhile
 */
async function gatherWrites(
  services: Services,
  caller: Caller,
  writes: readonly Write[],
): Promise<{ actor: Actor; located: Located[] }> {
  const { project } = caller;
  const wanted = writes.map((write) => ({
    write,
    search: searchOf(services, write),
    key: keyOfWrite(project, write),
  }));
  const { actor, found } = await admit(services, caller, [
    ...wanted.flatMap(({ key }) => key ?? []),
    ...wanted.flatMap(({ search }) => (search ? [keys.condition(project, search.canonical)] : [])),
  ]);
  // Before any search: what it matches is told.
  for (const { write, search } of wanted)
    if (search) requireInteraction(actor, interactions[write.kind], write.type);
  const located = await Promise.all(
    wanted.map(({ write, search, key }) => {
      const id = write.id ?? services.newId();
      if (!search) return locate(services, actor, { type: write.type, id, item: key && found.get(key) });
      const lock = found.get(keys.condition(project, search.canonical));
      return locateBySearch(services, actor, { write, search, lock });
    }),
  );
  return { actor, located };
}

const interactions = {
  create: ['create'],
  update: ['update', 'create'],
  patch: ['update'],
  delete: ['delete'],
} as const;

function keyOfWrite(project: string, { type, id }: Pick<Write, 'type' | 'id'>): Key | undefined {
  if (id === undefined) return undefined;
  if (isId(id)) return keys.resource(project, type, id);
  throw new Refusal('invalid', 'An id is up to 64 of letters, digits, - and .');
}

function searchOf({ table }: Services, { type, query }: Write): SearchRequest | undefined {
  if (query === undefined) return undefined;
  const search = parseSearch(type, readQuery(query), table.budget);
  const isNarrowed = search.filters.length + search.links.length > 0;
  if (isNarrowed)
    return { ...search, count: 2, sort: [], summary: 'false', total: 'none', cursor: undefined };
  // Without a condition everything would match.
  throw new Refusal('precondition-failed', 'A conditional write needs a search parameter');
}

/** What stands there is judged first: what it holds costs no units where the actor may not see all. */
async function locate(
  { table }: Services,
  actor: Actor,
  { type, id, item }: { type: string; id: string; item: Item | undefined },
): Promise<Located> {
  const opened = item && (await openState(tableToJudge(table, actor, 'read', [type]), item));
  return { id, head: item, resource: opened?.resource, lock: [] };
}

/** The lock was read before the search: who writes it in between has changed what the search sees. */
async function locateBySearch(
  services: Services,
  actor: Actor,
  { write, search, lock }: { write: Write; search: SearchRequest; lock: Item | undefined },
): Promise<Located> {
  const { table } = services;
  const { project } = actor;
  requireSearchable(actor, search);
  const { resources } = await runSearch(readerOf(services, actor), search);
  const [match, second] = resources;
  if (second) throw new Refusal('multiple-matches', 'Several resources match the condition');
  if (match) {
    const head = await readItem(table, keys.resource(project, write.type, match.id));
    // It may match no more, or be deleted and another one be made: to bring it back would make two.
    if (head?.versionId !== match.meta.versionId) throw new ConditionFailed(['match']);
    return locate(services, actor, { type: write.type, id: match.id, item: head });
  }
  const sent = write.kind === 'update' && typeof write.body.id === 'string' ? write.body.id : undefined;
  const fresh = await locateFresh(services, actor, {
    type: write.type,
    ...(sent === undefined ? {} : { id: sent }),
  });
  return { ...fresh, lock: [lockAction(services, project, search.canonical, lock)] };
}

/** R4 conditional update without a match: created, under the id that was sent if there is one. */
async function locateFresh(
  services: Services,
  actor: Actor,
  sent: { type: string; id?: string },
): Promise<Located> {
  const key = keyOfWrite(actor.project, sent);
  const head = key && (await readItem(services.table, key));
  const id = sent.id ?? services.newId();
  const located = await locate(services, actor, { type: sent.type, id, item: head });
  if (!located.resource) return located;
  if (!(await allows(actor, 'read', located.resource))) throw new Refusal('forbidden', 'Forbidden');
  throw new Refusal('conflict', 'A resource with this id exists and does not match the condition');
}

function lockAction(
  { now, newId }: Services,
  project: string,
  canonical: string,
  seen: Item | undefined,
): Action {
  const nowSeconds = Math.floor(now() / 1000);
  return {
    name: 'condition',
    put: { ...keys.condition(project, canonical), token: newId(), ttl: nowSeconds + lockSeconds },
    if: seen ? '#token = :seen' : 'attribute_not_exists(pk) OR #ttl < :now',
    names: seen ? { '#token': 'token' } : { '#ttl': 'ttl' },
    values: seen ? { ':seen': seen.token } : { ':now': nowSeconds },
  };
}

/** The same change, whose version says in whose name it was made: what follows from it acts within their rights. */
function writtenBy(change: ResourceChange, actor: Actor, isQuiet: boolean): ResourceChange {
  const by = writerOf(actor, isQuiet);
  return {
    ...change,
    state: change.state.map((item) => (item.sk.startsWith(versionPrefix) ? { ...item, by } : item)),
  };
}

/**
 * Carries out writes, all or none: gather, decide, write once.
 * @param options.names of entries of a Bundle: what they refer to each other by
 * @param options.before what else must hold, asked when all is decided and nothing is written; throws a Refusal
 * @throws {Refusal} whatever forbids one of them; unavailable when others kept writing
 */
export async function carryOut(
  services: Services,
  caller: Caller,
  writes: readonly Write[],
  { names, before }: { names?: EntryNames; before?(outcomes: readonly WriteOutcome[]): Promise<void> } = {},
): Promise<WriteOutcome[]> {
  return untilWritten(async () => {
    const { actor, located } = await gatherWrites(services, caller, writes);
    const { project, profile } = actor;
    const nowMs = services.now();
    const stamp: Stamp = { project, nowMs, author: { reference: profile }, newId: services.newId };
    const context = { services, actor, stamp };
    requireDistinct(writes, located);
    const resolved = await resolveReferences(context, writes, located, names);
    const planned: Planned[] = [];
    // One after the other, so that the first fault in the order of the entries is the one answered.
    for (const [i, at] of located.entries()) {
      const write = resolved[i];
      if (write) planned.push(await plan(context, write, at));
    }
    const bounds = await requireWritesWithin(services, { caller, actor }, resolved, { located, planned });
    await before?.(planned.map(({ outcome }) => outcome));
    const changes = planned.flatMap(({ change }, i) =>
      change ? writtenBy(change, actor, writes[i]?.isQuiet === true) : [],
    );
    const isNew = ({ outcome }: Planned) => outcome.type === 'Subscription' && outcome.kind === 'created';
    const made = planned.filter(isNew).length;
    const counted = async () => (await listSubscriptions(services.table, project)).length + made;
    if (made > 0) await requireRoom(services, project, 'Subscriptions', counted());
    const more = planned.flatMap((one) => one.more);
    if (changes.length === 0) return planned.map(({ outcome }) => outcome);
    const heads = changes.map(({ head }) => head(false));
    const all = provided([...heads, ...more, audit(services, actor, planned)], bounds).slice(heads.length);
    if (heads.length + all.length > mostActions) throw tooLargeBundle('writes');
    requireApart(all);
    await commit(services.table, changes, { more: all, nowMs });
    return planned.map(({ outcome }) => outcome);
  }, refuseTaken);
}

/** R4 transaction: no resource may be in it twice. */
function requireDistinct(writes: readonly Write[], located: readonly Located[]): void {
  const seen = new Set(writes.map(({ type }, i) => `${type}/${located[i]?.id}`));
  if (seen.size < writes.length)
    throw new Refusal('invalid', 'A resource is in the transaction more than once');
}

/** DynamoDB takes an item once in a transaction: two entries with one condition, or one identifier. */
function requireApart(actions: readonly Action[]): void {
  const targets = new Set(actions.map((action) => nameOfKey(keyOf(action))));
  if (targets.size === actions.length) return;
  throw new Refusal('invalid', 'Two entries of the transaction have the same condition or identifier');
}

const actions = { created: 'C', updated: 'U', deleted: 'D' } as const;

/** One event for all that changes together. */
function audit(services: Services, actor: Actor, planned: readonly Planned[]): Action {
  const changed = planned.filter(({ change }) => change);
  const [first] = changed.map(({ outcome }) => outcome.kind);
  const only = changed.length === 1 && first !== 'unchanged' ? first : undefined;
  return auditAction(services, actor, {
    subtype: only ?? 'transaction',
    action: only ? actions[only] : 'E',
    entities: changed.map(({ outcome: { kind, type, id, resource }, was, change }) => ({
      ...targetOf(resource ?? was ?? { resourceType: type, id }),
      detail: [
        { type: 'interaction', valueString: kind },
        { type: 'version', valueString: String(change?.versionId) },
      ],
    })),
  });
}
