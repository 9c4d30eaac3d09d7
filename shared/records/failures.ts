import { invalidField } from '../base/refusal.ts';
import { type Reference, type Resource, referenceOf } from '../base/resource.ts';
import { fieldsOf } from '../base/values.ts';
import type { Services } from '../carry/services.ts';
import type { Item } from '../carry/table/item.ts';
import { keys } from '../carry/table/keys.ts';
import type { Table } from '../carry/table/table.ts';
import type { Caller } from '../identity/gate/access-token.ts';
import { type Actor, admit } from '../identity/gate/actor.ts';
import { visible } from '../identity/policies/access.ts';
import { inlineResource } from '../store/items/content.ts';
import { readTimed, recordWithoutLog, runRecordLists } from '../store/items/read-ranges.ts';
import { readHeads } from '../store/items/versions.ts';
import { runDays } from '../store/search/find-entries.ts';
import type { SearchReader } from '../store/search/hit.ts';
import { runSearch } from '../store/search/run-search.ts';
import { parseSearch } from '../store/search/search-request.ts';
import { attemptOf, mayKnow } from './subscriptions/delivery.ts';

/** Of each Bot and Subscription the latest entries are looked at. */
const mostEntries = 20;

interface Within {
  table: Table;
  /** Told of what they may read. */
  actor: Actor;
  since: string;
}

/** What of a Bot's latest runs, or of a Subscription's latest deliveries, has failed. */
interface FailureCount {
  looked: number;
  failed: number;
  /** When the latest that failed ended, ISO 8601; left out when none did. */
  last?: string;
}

/** A run, or an attempt of the delivery with that id. */
interface Ended {
  id: string;
  isFailed: boolean;
  at: string;
}

/** `latest`: when the latest of all ended. Of each run or delivery its latest entry counts: one that was tried again and arrived has not failed. */
async function countFailures(
  { table, since }: Within,
  lists: readonly string[],
  attributes: readonly string[],
  read: (item: Item) => Ended | undefined,
): Promise<FailureCount & { latest: string | undefined }> {
  const seen = new Map<string, Ended>();
  let passed = 0;
  const reading = { newestFirst: true, from: since, most: mostEntries, attributes };
  for await (const item of readTimed(table, lists, reading)) {
    const entry = read(item);
    if (entry && !seen.has(entry.id)) seen.set(entry.id, entry);
    passed += 1;
    if (passed === mostEntries) break;
  }
  const failed = [...seen.values()].filter(({ isFailed }) => isFailed);
  const last = failed[0]?.at;
  const [latest] = seen.values();
  return {
    ...{ looked: seen.size, failed: failed.length, latest: latest?.at },
    ...(last === undefined ? {} : { last }),
  };
}

/** A reference that shows a name, where there is one. */
function referenceTo(resource: Resource, display: unknown): Reference {
  const reference = referenceOf(resource);
  return typeof display === 'string' && display ? { reference, display } : { reference };
}

/** Each costs two queries: more would not fit the budget of a request. */
const mostBots = 50;

/** `ran`: when the latest run of each Bot ended. */
async function failingBots(within: Within) {
  const { table, actor, since } = within;
  const { project } = actor;
  const ids = new Set<string>();
  const reading = { newestFirst: true, from: since, most: mostEntries };
  for await (const { botId } of runDays({ table, project, reading, isAsked: () => true })) {
    ids.add(botId);
    if (ids.size > mostBots) break;
  }
  const looked = [...ids].slice(0, mostBots);
  const heads = await readHeads({ table, project }, 'Bot', looked);
  const all = await Promise.all(
    looked.map(async (id) => {
      const whole = inlineResource('Bot', heads.get(id));
      const bot = whole && (await visible(actor, 'read', whole));
      if (!bot) return [];
      const lists = runRecordLists(project, id);
      const { latest, ...count } = await countFailures(within, lists, recordWithoutLog, (item) => {
        const run = inlineResource('AuditEvent', item);
        return run && { id: run.id, isFailed: run.outcome !== '0', at: String(run.recorded) };
      });
      return latest === undefined ? [] : [{ bot: referenceTo(bot, bot.name), at: latest, ...count }];
    }),
  );
  const counted = all.flat();
  return {
    failing: counted.filter(({ failed }) => failed > 0).map(({ at: _, ...failing }) => failing),
    ran: counted.map(({ bot, at }) => ({ bot, at })),
    isAll: ids.size <= mostBots,
  };
}

/** As many as a Project has unless it was given more; each costs a query. */
const mostSubscriptions = 100;

/** Those that the service has stopped, whose status is `error`, or of which a delivery since then has failed. */
async function failingSubscriptions(within: Within) {
  const { table, actor } = within;
  const { project } = actor;
  const reader: SearchReader = { table, project, see: (resource) => visible(actor, 'read', resource) };
  const search = new URLSearchParams({ _count: String(mostSubscriptions) });
  const { resources, next } = await runSearch(reader, parseSearch('Subscription', search, undefined));
  const failing = await Promise.all(
    resources.map(async (subscription) => {
      const { id, error, reason, channel } = subscription;
      const status = String(subscription.status);
      if (status === 'off') return [];
      const list = keys.attempt(project, id, '').pk;
      const { latest: _, ...count } = await countFailures(within, [list], ['content', 'isSeen'], (item) => {
        if (!mayKnow(actor, item)) return undefined;
        const { outcome, recorded, entity } = attemptOf(item);
        return { id: deliveryOf(entity), isFailed: outcome === '4', at: String(recorded) };
      });
      if (count.failed === 0 && status !== 'error') return [];
      const { endpoint } = fieldsOf(channel);
      return [
        {
          ...{ subscription: referenceTo(subscription, reason), status, ...count },
          ...(status === 'error' && typeof error === 'string' ? { error } : {}),
          ...(typeof endpoint === 'string' ? { endpoint } : {}),
        },
      ];
    }),
  );
  return { failing: failing.flat(), isAll: next === undefined };
}

function deliveryOf(entity: unknown): string {
  const details = (entity as { detail?: { type: string; valueString: string }[] }[])[0]?.detail ?? [];
  return details.find(({ type }) => type === 'delivery')?.valueString ?? '';
}

const dayMs = 86_400_000;

/**
 * The Bots that ran in the last 24 hours, those whose runs failed, and the Subscriptions whose deliveries did or which the service
 * has stopped. It looks at the 20 latest of each, of 50 Bots and 100 Subscriptions.
 * @returns instants in ISO 8601; `ran`: the Bots that ran at all; `complete`: false where more Bots ran, or there are more
 *   Subscriptions, than are looked at
 * @throws {Refusal} forbidden, invalid
 */
export async function listFailures(
  services: Services,
  caller: Caller<'administrator'>,
  query: URLSearchParams,
) {
  for (const name of query.keys()) throw invalidField(name, `Unknown parameter ${name}`);
  const { actor } = await admit(services, caller, []);
  const since = new Date(services.now() - dayMs).toISOString();
  const within = { table: services.table, actor, since };
  const [bots, subscriptions] = await Promise.all([failingBots(within), failingSubscriptions(within)]);
  return {
    since,
    bots: bots.failing,
    ran: bots.ran,
    subscriptions: subscriptions.failing,
    complete: bots.isAll && subscriptions.isAll,
  };
}
