import { auditSubtype, auditType, breakTheGlass, restfulSubtype } from '../fhir/audit-coding.ts';
import { parseReference, type Reference, type Resource } from '../fhir/resource.ts';
import { headAttributes } from '../store/head-attributes.ts';
import { packText } from '../store/packing.ts';
import { logEntryId } from '../table/entry-id.ts';
import type { Item } from '../table/item.ts';
import { keys } from '../table/keys.ts';
import type { Subtype } from './subtypes.ts';
import { isAdministrative } from './who.ts';

/** One thing that happened, before it becomes an R4 AuditEvent. */
export interface Audited {
  project: string;
  /** Deliveries are told of in the lists of their Subscriptions only. */
  subtype: Subtype | 'delivery';
  /** FHIR AuditEvent.action: create, read, update, delete, execute. */
  action: 'C' | 'R' | 'U' | 'D' | 'E';
  /** FHIR AuditEvent.outcome: success, minor failure (refused), serious failure. */
  outcome: '0' | '4' | '8';
  outcomeDesc?: string;
  /** Who did it. */
  agent: Reference;
  /** Whether who did it had emergency access, or took or lost it by this. */
  isEmergency?: boolean | undefined;
  /** FHIR restful-interaction, where something was read. */
  interaction?: string;
  /** Id of the client by which it was read, empty for none. */
  client?: string;
  /** What it was done to. */
  entities: readonly (Partial<Reference> & {
    detail?: { type: string; valueString: string }[];
    is?: keyof typeof entityKinds;
  })[];
}

const dicom = 'http://dicom.nema.org/resources/ontology/DCM';
const entityType = 'http://terminology.hl7.org/CodeSystem/audit-entity-type';
const objectRole = 'http://terminology.hl7.org/CodeSystem/object-role';

/** IHE BALP: what was read, and whose it is. */
const entityKinds = {
  data: {
    type: { system: entityType, code: '2', display: 'System Object' },
    role: { system: objectRole, code: '4', display: 'Domain Resource' },
  },
  patient: {
    type: { system: entityType, code: '1', display: 'Person' },
    role: { system: objectRole, code: '1', display: 'Patient' },
  },
} as const;

/** An entry of the usual length is then one unit of 1 KB, and is written within transactions, which double it. */
const deflateBeyond = 512;

/**
 * The AuditEvent as a new item of the table, in the log of its Project.
 * @param uuid for its id
 */
export function auditItem(audited: Audited, uuid: string, nowMs: number): Item {
  const entry = entryItem(audited, logEntryId(nowMs, uuid), nowMs);
  return {
    ...entry,
    content: typeof entry.content === 'string' ? packText(entry.content, deflateBeyond) : entry.content,
    // What leads to it beside its time is written when the stream is read: what is audited pays for one item.
    untidy: true,
  };
}

/** The AuditEvent with that id, which says where it is; found by its time alone. */
export function entryItem(audited: Audited, id: string, nowMs: number): Item {
  return { ...keys.resource(audited.project, 'AuditEvent', id), ...entryOf(audited, id, nowMs) };
}

/** The AuditEvent as attributes of an item that is listed where its kind is. */
export function entryOf(audited: Audited, id: string, nowMs: number) {
  return headAttributes('AuditEvent', auditEvent(audited, id, new Date(nowMs).toISOString()));
}

function auditEvent(audited: Audited, id: string, recorded: string): Resource {
  const { project, subtype, action, outcome, outcomeDesc, agent, interaction, client, entities } = audited;
  const { isEmergency = false } = audited;
  return {
    resourceType: 'AuditEvent',
    id,
    meta: { versionId: id, lastUpdated: recorded, project },
    type: auditType,
    subtype: [auditSubtype(subtype), ...(interaction ? [restfulSubtype(interaction)] : [])],
    action,
    recorded,
    outcome,
    ...(outcomeDesc ? { outcomeDesc } : {}),
    ...(isEmergency ? { purposeOfEvent: [breakTheGlass] } : {}),
    agent: [{ who: agent, requestor: true }, ...(interaction ? systemsOf(client) : [])],
    source: { observer: { reference: `Project/${project}` } },
    entity: entities.map(({ detail, reference, display, is }) => ({
      ...(reference === undefined ? {} : { what: whatOf(reference, display) }),
      ...(is ? entityKinds[is] : {}),
      ...(detail ? { detail } : {}),
    })),
  };
}

/** IHE BALP: to which system it went, and from which. */
function systemsOf(client = '') {
  const destination = { system: dicom, code: '110152', display: 'Destination Role ID' };
  const source = { system: dicom, code: '110153', display: 'Source Role ID' };
  return [
    ...(client === ''
      ? []
      : [{ type: { coding: [destination] }, who: { identifier: { value: client } }, requestor: false }]),
    { type: { coding: [source] }, who: { display: 'Portico' }, requestor: false },
  ];
}

/** No name of a patient, whoever calls: clinical records are named by their reference only. */
function whatOf(reference: string, display: string | undefined): Reference {
  const isNamed = display !== undefined && isAdministrative(parseReference(reference)?.type);
  return isNamed ? { reference, display } : { reference };
}
