import { entryOf } from '../audit/audit-event.ts';
import type { Resource } from '../fhir/resource.ts';
import { readResource } from '../fhir/stored-resource.ts';
import { unpackText } from '../store/packing.ts';
import type { Item } from '../table/item.ts';
import { keys } from '../table/keys.ts';
import type { Delivery } from './delivery.ts';

/** What became of one attempt. */
export interface Attempted {
  /** A word or two: `returned`, `threw`, `204`, `timeout`, `off`. */
  outcome: string;
  isSuccess: boolean;
  /** Nobody knows whether it arrived. */
  isUnknown?: boolean;
  durationMs?: number;
  /** Of the answer of a URL. */
  status?: number;
  /** Of the run of a Bot. */
  runId?: string;
}

const keptSeconds = 365 * 86_400;

/** An attempt as an AuditEvent in the list of its Subscription: never what was sent, or answered. */
export function attemptItem(delivery: Delivery, attempted: Attempted, uuid: string, nowMs: number): Item {
  const { project, subscriptionId, type, id } = delivery;
  const { outcome, isSuccess, isUnknown, durationMs, status, runId } = attempted;
  const details = {
    delivery: delivery.deliveryId,
    attempt: String(delivery.attempt),
    redelivery: delivery.redelivery > 0 ? String(delivery.redelivery) : undefined,
    interaction: delivery.interaction,
    version: delivery.version.versionId,
    outcome,
    durationMs: durationMs === undefined ? undefined : String(Math.round(durationMs)),
    status: status === undefined ? undefined : String(status),
    run: runId,
  };
  const entry = entryOf(
    {
      project,
      subtype: 'delivery',
      action: 'E',
      outcome: isSuccess ? '0' : isUnknown ? '8' : '4',
      outcomeDesc: outcome,
      agent: { reference: `Subscription/${subscriptionId}` },
      entities: [
        {
          reference: `${type}/${id}`,
          detail: Object.entries(details).flatMap(([name, valueString]) =>
            valueString === undefined ? [] : { type: name, valueString },
          ),
        },
      ],
    },
    `d-${uuid}`,
    nowMs,
  );
  const sort = `${new Date(nowMs).toISOString()}#d-${uuid}`;
  return {
    ...keys.attempt(project, subscriptionId, sort),
    ...entry,
    ttl: Math.floor(nowMs / 1000) + keptSeconds,
  };
}

/** The AuditEvent that an item of the list holds. */
export function attemptOf(item: Item): Resource {
  return readResource(JSON.parse(unpackText(item.content)));
}
