import { exactOptional, type InferInput, object, string } from 'valibot';
import { instantAfter, type Resource } from '../../base/resource.ts';
import { messageBody } from '../../base/schema.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import { readPages } from '../../carry/table/pages.ts';
import { readItem } from '../../carry/table/table.ts';
import type { Action } from '../../carry/table/transact.ts';
import { type Queue, sendAll } from '../../carry/work/queue.ts';
import { auditItem, targetOf } from '../../identity/audit/audit-event.ts';
import { listAdministrators } from '../../identity/invitations/accept.ts';
import type { MailKind } from '../../identity/mail/letters.ts';
import { updateActions } from '../../store/items/change.ts';
import { inlineResource } from '../../store/items/content.ts';
import { laneMessage, removeNote } from './delivery.ts';

/** So many administrators are told; a Project with more of them has a few who look. */
const mostTold = 20;
const keptSeconds = 7 * 86_400;

/** Puts back into the queue whatever waits for a Subscription to go on, in the order of its lanes. */
async function wakeAll(
  { table, queues }: StatusServices,
  project: string,
  subscriptionId: string,
): Promise<void> {
  const { pk } = keys.waitingLane(project, subscriptionId, '');
  for await (const items of readPages(table, pk, { limit: 100 })) {
    const lanes = items.map(({ sk, note }) => ({ project, subscriptionId, lane: sk, note: String(note) }));
    await sendAll(
      queues.deliveries,
      lanes.map((lane) => laneMessage(lane, lane.note)),
    );
    await Promise.all(lanes.map((lane) => removeNote(table, lane, lane.note)));
  }
}

const dayMs = 86_400_000;

const statusMessage = object({
  project: string(),
  id: string(),
  /** The version that was written: one that is requested is known everywhere by now; or the one that failed. */
  versionId: exactOptional(string()),
  /** Why it cannot go on. */
  failed: exactOptional(string()),
});

/** @throws {Error} when the body is none */
export const parseStatus = messageBody('Subscription', statusMessage);

/**
 * Writes the status that a Subscription has with us, and lets go on what waits for it.
 * @throws {Error} when somebody has written it meanwhile: it is to be done again
 */
export async function changeStatus(
  services: StatusServices,
  message: InferInput<typeof statusMessage>,
): Promise<void> {
  const { project, id, versionId, failed } = message;
  const key = keys.resource(project, 'Subscription', id);
  const head = await readItem(services.table, key);
  const stored = inlineResource('Subscription', head);
  const isAsItWas = versionId === stored?.meta.versionId;
  // One that was saved since it failed is tried again.
  if (failed !== undefined && (isAsItWas || versionId === undefined)) {
    if (stored && stored.status !== 'error' && stored.status !== 'off') {
      const told = await telling(services, project, id, head);
      await write(services, project, stored, { status: 'error', error: failed }, told);
    }
    return;
  }
  if (stored?.status === 'requested') {
    // Another version has a message of its own.
    if (!isAsItWas) return;
    await write(services, project, stored, { status: 'active' });
  }
  if (stored?.status !== 'error') await wakeAll(services, project, id);
}

/**
 * What administrators are told of a failure, by mails for that very write, and what the head notes of that. Once a day
 * for a Subscription: the head knows when it was told last, whoever writes the Subscription meanwhile.
 */
async function telling(
  { table, now }: StatusServices,
  project: string,
  subscriptionId: string,
  head: Item | undefined,
): Promise<Telling> {
  const nowMs = now();
  if (typeof head?.toldAtMs === 'number' && nowMs - head.toldAtMs < dayMs) return { head: {}, mails: [] };
  const administrators = await listAdministrators(table, project, mostTold);
  const mails = administrators.map((membershipId) => ({
    name: 'mail',
    put: {
      ...keys.failureMail(project, subscriptionId, membershipId),
      kind: 'subscription-failed' satisfies MailKind,
      ...{ project, subscriptionId, membershipId, generation: nowMs },
      ttl: Math.ceil(nowMs / 1000) + keptSeconds,
    },
  }));
  return { head: { toldAtMs: nowMs }, mails };
}

interface Telling {
  head: { toldAtMs?: number };
  mails: readonly Action[];
}

async function write(
  { table, newId, now }: StatusServices,
  project: string,
  stored: Resource,
  change: { status: string; error?: string },
  telling: Telling = { head: {}, mails: [] },
): Promise<void> {
  const { error: _earlier, ...kept } = stored;
  const lastUpdated = instantAfter(stored.meta.lastUpdated, now());
  const author = { reference: 'system' };
  const meta = { ...stored.meta, versionId: newId(), lastUpdated, author };
  const next: Resource = { ...kept, meta, ...change };
  const event = {
    ...({ project, subtype: 'updated', action: 'U', outcome: '0', agent: author } as const),
    entities: [{ ...targetOf(next), detail: [{ type: 'status', valueString: change.status }] }],
  };
  await table.transact([
    ...updateActions(project, next, stored, {
      isRequested: undefined,
      hasFailed: change.status === 'error' || undefined,
      ...telling.head,
    }),
    ...telling.mails,
    { name: 'audit', put: auditItem(event, newId(), now()) },
  ]);
}

interface StatusServices extends Services {
  queues: { deliveries: Queue };
}
