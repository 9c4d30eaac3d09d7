import { picklist, pipe, regex, string } from 'valibot';
import { invalidField, Refusal } from '../../base/refusal.ts';
import { isId, type Resource } from '../../base/resource.ts';
import { fields, onlyFields, optionalField, parse } from '../../base/schema.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import type { Found } from '../../carry/table/table.ts';
import { type Action, whenConditionFailed } from '../../carry/table/transact.ts';
import type { Message, Purpose, Queue } from '../../carry/work/queue.ts';
import { agentOf, auditAction, details, parseOutcome, targetOf } from '../../identity/audit/audit-event.ts';
import { record } from '../../identity/audit/record.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { type Actor, admit } from '../../identity/gate/actor.ts';
import { isResourceType } from '../../store/index/registry.ts';
import { inlineResource } from '../../store/items/content.ts';
import {
  type PositionedValue,
  parsePage,
  readPageCursor,
  sortKeyBetween,
  takePage,
  writePageCursor,
} from '../../store/items/page.ts';
import { readTimed } from '../../store/items/read-ranges.ts';
import { listVersions } from '../../store/items/versions.ts';
import { linkTo } from '../read/bundle.ts';
import { candidateMessage, changeOf, interactions } from './change.ts';
import { attemptOf, deliveryOf, expiryOf, laneKey, laneMessage, mayKnow } from './delivery.ts';
import { listSubscriptions } from './listed.ts';

async function requireSubscription(
  services: Services,
  caller: Caller<'administrator'>,
  id: string,
  wanted: readonly Key[] = [],
): Promise<{ actor: Actor; found: Found; subscription: Resource }> {
  if (!isId(id)) throw new Refusal('not-found', 'Not found');
  const key = keys.resource(caller.project, 'Subscription', id);
  const { actor, found } = await admit(services, caller, [key, ...wanted]);
  const subscription = inlineResource('Subscription', found.get(key));
  if (!subscription) throw new Refusal('not-found', 'Not found');
  return { actor, found, subscription };
}

const known = new Set(['_count', '_cursor', 'outcome']);

/**
 * The attempts to deliver of a Subscription, newest first: a Bundle of AuditEvents.
 * @param query `outcome`, `_count`, `_cursor`
 * @throws {Refusal} forbidden, not-found, invalid
 */
export async function listDeliveries(
  services: Services,
  caller: Caller<'administrator'>,
  { id, query }: { id: string; query: URLSearchParams },
): Promise<object> {
  const { actor } = await requireSubscription(services, caller, id);
  const { project } = caller;
  for (const name of query.keys()) {
    if (!known.has(name)) throw invalidField(name, `Unknown parameter ${name} of $deliveries`);
  }
  const { count, cursor } = parsePage(query);
  const word = query.get('outcome');
  const outcome = word === null ? undefined : parseOutcome(word);
  const path = `Subscription/${id}/$deliveries`;
  const listing = { project, name: `${path}?${outcome ?? ''}` };
  const after = await readPageCursor(services, listing, cursor, sortKeyBetween('0', '~'));
  const page = await takePage(attempts(services, actor, id, { count, outcome, after }), {
    count,
    sizeOf: (attempt) => JSON.stringify(attempt).length,
  });
  const next = new URLSearchParams([...query]);
  const following = await writePageCursor(services, listing, page);
  if (following !== undefined) next.set('_cursor', following);
  return {
    ...{ resourceType: 'Bundle', type: 'searchset' },
    entry: page.values.map((resource) => ({ resource })),
    link: page.next === undefined ? [] : [linkTo(services.baseUrl, path, next, 'next')],
  };
}

async function* attempts(
  { table }: Services,
  actor: Actor,
  id: string,
  { count, outcome, after }: { count: number; outcome: string | undefined; after: string | undefined },
): AsyncGenerator<PositionedValue<Resource, string>> {
  const list = keys.attempt(actor.project, id, '').pk;
  for await (const item of readTimed(table, [list], { newestFirst: true, after, most: count + 1 })) {
    const attempt = attemptOf(item);
    const isWanted = mayKnow(actor, item) && (outcome === undefined || attempt.outcome === outcome);
    yield { position: item.sk, value: isWanted ? attempt : undefined };
  }
}

const idText = 'delivery must be the id of a delivery';

export const redeliverBody = fields({
  delivery: pipe(string(idText), regex(/^[0-9a-f]{40}$/, idText)),
});

/**
 * Begins a delivery that has ended anew, outside the order of its record. One that has not ended is
 * under way already.
 * @param body `{"delivery": "<id>"}`
 * @throws {Refusal} forbidden, not-found, invalid, unavailable
 */
export async function redeliver(
  services: SubscriptionServices,
  caller: Caller<'administrator'>,
  { id, body }: { id: string; body: unknown },
): Promise<void> {
  const { delivery: deliveryId } = parse(redeliverBody, body);
  const { project } = caller;
  const key = keys.delivery(project, deliveryId);
  const { actor, found, subscription } = await requireSubscription(services, caller, id, [key]);
  const item = found.get(key);
  if (!item || item.subscriptionId !== id) throw new Refusal('not-found', 'There is no such delivery');
  const earlier = deliveryOf(item);
  const { newId, now } = services;
  if (!earlier.ended) return sendFor(services.queues.deliveries, laneMessage(earlier, newId()));
  const lane = `${earlier.type}#${earlier.id}#${deliveryId}`;
  const delivery = { ...earlier, redelivery: earlier.redelivery + 1, lane };
  const ttl = expiryOf(now());
  const actions: Action[] = [
    {
      name: 'delivery',
      update: key,
      set: 'SET redelivery = :next, attempt = :none, lane = :lane, #ttl = :ttl REMOVE ended, notBeforeMs',
      if: 'redelivery = :seen AND attribute_exists(ended)',
      names: { '#ttl': 'ttl' },
      values: {
        ':next': delivery.redelivery,
        ':seen': earlier.redelivery,
        ':none': 0,
        ':lane': lane,
        ':ttl': ttl,
      },
    },
    { name: 'lane', put: { ...laneKey(delivery), deliveryId, ttl } },
    auditAction(services, actor, {
      ...{ subtype: 'redeliver', action: 'E' },
      entities: [{ ...targetOf(subscription), detail: details({ delivery: deliveryId }) }],
    }),
  ];
  // Else somebody else has just done it.
  await services.table.transact(actions).catch(whenConditionFailed(() => undefined));
  await sendFor(services.queues.deliveries, laneMessage(delivery, newId()));
}

/** Nothing is lost where it fails: asked again, it is sent again. @throws {Refusal} unavailable */
async function sendFor(queue: Queue, message: Message): Promise<void> {
  const lost = await queue.send([message]);
  if (lost.length > 0) throw new Refusal('unavailable', 'Try again shortly', { retryAfterSeconds: 1 });
}

const referenceText = 'subscription must be a reference, Subscription/<id>';

export const resendBody = onlyFields({
  interaction: optionalField(picklist(interactions, 'interaction must be create, update or delete')),
  subscription: optionalField(
    pipe(string(referenceText), regex(/^Subscription\/[A-Za-z0-9\-.]{1,64}$/, referenceText)),
  ),
});

/**
 * Decides anew which Subscriptions the last change of a record is for, and delivers it outside the order.
 * @param body `{"interaction"?: "create|update|delete", "subscription"?: "Subscription/<id>"}`
 * @throws {Refusal} forbidden, not-found, invalid, unavailable
 */
export async function resend(
  services: SubscriptionServices,
  caller: Caller<'administrator'>,
  { type, id, body }: { type: string; id: string; body: unknown },
): Promise<void> {
  const { project } = caller;
  if (!isResourceType(type) || type === 'AuditEvent' || !isId(id))
    throw new Refusal('not-found', 'Not found');
  const { interaction, subscription } = body === undefined ? {} : parse(resendBody, body);
  const only = subscription?.replace('Subscription/', '');
  const headKey = keys.resource(project, type, id);
  const { actor, found } = await admit(services, caller, [headKey]);
  const head = found.get(headKey);
  const change = head && (await lastChange(services, head));
  if (!change) throw new Refusal('not-found', 'Not found');
  const listed = await listSubscriptions(services.table, project);
  const about = listed.filter((one) => one.type === type && (only === undefined || one.id === only));
  // As if the last change had been another one: of a deletion the record is told that was.
  const asked = {
    ...change,
    ...(interaction ? { interaction } : {}),
    ...(interaction === 'delete' ? { previous: change.previous ?? change.version } : {}),
  };
  const subscriptions = about.map((one) => one.id);
  const message = candidateMessage({ ...asked, subscriptions, resend: services.newId() });
  if (about.length > 0) await sendFor(services.queues.subscriptions, message);
  const entities = [{ reference: `${type}/${id}` }];
  const event = { project, subtype: 'resend', action: 'E', outcome: '0', entities } as const;
  await record(services, { ...event, agent: agentOf(actor) });
}

async function lastChange({ table }: SubscriptionServices, head: Item) {
  for await (const { item } of listVersions(table, head, { expected: String(head.versionId), limit: 3 })) {
    if (item.versionId !== head.versionId) return changeOf(item, head);
  }
  return changeOf(undefined, head);
}

interface SubscriptionServices extends Services {
  queues: Readonly<Record<Extract<Purpose, 'deliveries' | 'subscriptions'>, Queue>>;
}
