import type { Reference, Resource } from '../fhir/resource.ts';
import { keys } from '../table/keys.ts';
import { headAttributes } from '../table/resource-item.ts';
import type { Item } from '../table/table.ts';
import type { Subtype } from './subtypes.ts';

/** One thing that happened, before it becomes an R4 AuditEvent. */
export interface Audited {
  project: string;
  subtype: Subtype;
  /** FHIR AuditEvent.action: create, read, update, delete, execute. */
  action: 'C' | 'R' | 'U' | 'D' | 'E';
  /** FHIR AuditEvent.outcome: success, minor failure (refused), serious failure. */
  outcome: '0' | '4' | '8';
  outcomeDesc?: string;
  /** Who did it. */
  agent: Reference;
  /** What it was done to. */
  entities: readonly (Partial<Reference> & { detail?: { type: string; valueString: string }[] })[];
}

const restful = 'http://terminology.hl7.org/CodeSystem/audit-event-type';

/** The AuditEvent as a new item of the table. It holds ids only: no names, no input, no output. */
export function auditItem(
  audited: Audited,
  id: string,
  nowMs: number,
  extra: Record<string, unknown> = {},
): Item {
  const event = auditEvent(audited, id, new Date(nowMs).toISOString());
  return {
    ...keys.resource(audited.project, 'AuditEvent', id),
    ...headAttributes(event),
    // Its index items are written when the stream is read: what is audited pays for one item only.
    untidy: true,
    ...extra,
  };
}

function auditEvent(audited: Audited, id: string, recorded: string): Resource {
  const { project, subtype, action, outcome, outcomeDesc, agent, entities } = audited;
  return {
    resourceType: 'AuditEvent',
    id,
    meta: { versionId: id, lastUpdated: recorded, project },
    type: { system: restful, code: 'rest', display: 'Restful Operation' },
    subtype: [{ system: 'urn:portico:audit', code: subtype }],
    action,
    recorded,
    outcome,
    ...(outcomeDesc ? { outcomeDesc } : {}),
    agent: [{ who: agent, requestor: true }],
    source: { observer: { reference: `Project/${project}` } },
    entity: entities.map(({ detail, ...what }) => ({
      ...(what.reference === undefined ? {} : { what }),
      ...(detail ? { detail } : {}),
    })),
  };
}
