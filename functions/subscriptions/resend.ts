import { picklist, pipe, regex, string } from 'valibot';
import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import { record } from '../../shared/audit/record.ts';
import { agentOf } from '../../shared/audit/who.ts';
import { isId } from '../../shared/fhir/resource.ts';
import { isResourceType } from '../../shared/index/registry.ts';
import { Refusal } from '../../shared/refusal.ts';
import { parse } from '../../shared/schema/check.ts';
import { fields, optional } from '../../shared/schema/fields.ts';
import { listVersions } from '../../shared/store/versions.ts';
import {
  type Candidate,
  candidateMessage,
  changeOf,
  type Interaction,
  interactions,
} from '../../shared/subscription/change.ts';
import { listSubscriptions } from '../../shared/subscription/listed.ts';
import type { Item } from '../../shared/table/item.ts';
import { keys } from '../../shared/table/keys.ts';
import type { SubscriptionServices } from './services.ts';

const referenceText = 'subscription must be a reference, Subscription/<id>';

export const resendBody = fields({
  interaction: optional(picklist(interactions, 'interaction must be create, update or delete')),
  subscription: optional(
    pipe(string(referenceText), regex(/^Subscription\/[A-Za-z0-9\-.]{1,64}$/, referenceText)),
  ),
});

interface Asked {
  type: string;
  id: string;
  body: unknown;
}

/**
 * Decides anew which Subscriptions the last change of a record is for, and delivers it outside the order.
 * @param asked.body `{"interaction"?: "create|update|delete", "subscription"?: "Subscription/<id>"}`
 * @throws {Refusal} forbidden, not-found, invalid, unavailable
 */
export async function resend(
  services: SubscriptionServices,
  caller: Caller<'administrator'>,
  { type, id, body }: Asked,
): Promise<void> {
  const { project } = caller;
  if (!isResourceType(type) || type === 'AuditEvent' || !isId(id))
    throw new Refusal('not-found', 'Not found');
  const { interaction, subscription } = body === undefined ? {} : parse(resendBody, body);
  const only = subscription?.replace('Subscription/', '');
  const headKey = keys.resource(project, type, id);
  const { actor, found } = await admit(services, caller, [headKey]);
  const head = found.get(headKey);
  const change = head && (await lastChange(services, { project, type, id }, head));
  if (!change) throw new Refusal('not-found', 'Not found');
  const listed = await listSubscriptions(services.table, project);
  const about = listed.filter((one) => one.type === type && (only === undefined || one.id === only));
  const asked = { ...change, ...(interaction ? as(change, interaction) : {}) };
  const candidate: Candidate = {
    ...asked,
    subscriptions: about.map((one) => one.id),
    resend: services.newId(),
  };
  const lost =
    about.length > 0 ? await services.queues.subscriptions.send([candidateMessage(candidate)]) : [];
  if (lost.length > 0) throw new Refusal('unavailable', 'Try again shortly', { retryAfterSeconds: 1 });
  const entities = [{ reference: `${type}/${id}` }];
  const event = { project, subtype: 'resend', action: 'E', outcome: '0', entities } as const;
  await record(services, { ...event, agent: agentOf(actor) });
}

async function lastChange(
  { table }: SubscriptionServices,
  target: { project: string; type: string; id: string },
  head: Item,
) {
  let before: Item | undefined;
  for await (const { item } of listVersions(table, target, { expected: String(head.versionId), limit: 3 })) {
    if (item.versionId === head.versionId) continue;
    before = item;
    break;
  }
  return changeOf(before, head);
}

/** As if the last change had been another one: of a deletion the record is told that was. */
function as(
  { version, previous }: Pick<Candidate, 'version' | 'previous'>,
  interaction: Interaction,
): Partial<Candidate> {
  return interaction === 'delete' ? { interaction, previous: previous ?? version } : { interaction };
}
