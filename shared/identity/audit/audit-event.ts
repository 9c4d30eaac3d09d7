import { invalidField } from '../../base/refusal.ts';
import {
  auditSubtype,
  auditType,
  isAdministrative,
  parseReference,
  type Reference,
  type Resource,
} from '../../base/resource.ts';
import { fieldsOf } from '../../base/values.ts';
import type { Services } from '../../carry/services.ts';
import { logEntryId } from '../../carry/table/entry-id.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import type { Action } from '../../carry/table/transact.ts';
import { withoutEmpty } from '../../store/fhir/fields.ts';
import { headAttributes, packText } from '../../store/items/content.ts';
import type { Claims } from '../gate/access-token.ts';
import type { Actor } from '../gate/actor.ts';
import { isInEmergency } from '../gate/emergency.ts';
import type { Subtype } from './subtypes.ts';

/** Who acts, by the name that the membership shows: it stands in the entry when they are gone. */
export function agentOf({ profile, membership }: Pick<Actor, 'profile' | 'membership'>): Reference {
  return named(profile, displayOf(membership.profile));
}

/** What an entry that is written with a change says of who did it: also whether they had emergency access. */
export function doneBy(actor: Pick<Actor, 'profile' | 'membership' | 'emergency' | 'run'>): {
  agent: Reference;
  isEmergency: boolean;
} {
  return { agent: agentOf(actor), isEmergency: isInEmergency(actor) };
}

/** Of what an actor does: in which Project, and who. */
export function byActor(
  actor: Pick<Actor, 'project' | 'profile' | 'membership'>,
): Pick<Audited, 'project' | 'agent'> {
  return { project: actor.project, agent: agentOf(actor) };
}

/** The same for who was not admitted, as far as an earlier request of this process tells. */
export function agentOfCaller(
  { memory }: Pick<Services, 'memory'>,
  caller: Pick<Claims, 'profile' | 'membershipId'>,
): Reference {
  return named(caller.profile, memory.names.get(caller.membershipId));
}

/** The Project that somebody acts in. */
export function projectOf({ project, membership }: Pick<Actor, 'project' | 'membership'>): Reference {
  return named(`Project/${project}`, displayOf(membership.project));
}

/** A person's own User, which their Project knows by the name of their profile. */
export function ownUser(actor: Pick<Actor, 'subject' | 'profile' | 'membership'>): Reference {
  return named(`User/${actor.subject}`, agentOf(actor).display);
}

/** What something was done to: by its name too when it is administrative, else by reference only. */
export function targetOf(resource: Pick<Resource, 'resourceType' | 'id'> & Partial<Resource>): Reference {
  const { resourceType, id, name, profile } = resource;
  const display = resourceType === 'ProjectMembership' ? displayOf(profile) : name;
  return named(`${resourceType}/${id}`, isNamed(resourceType) ? display : undefined);
}

/** Whether an entry may name resources of the type: records of patients never. */
function isNamed(type: string | undefined): boolean {
  if (type === undefined || type === 'AuditEvent') return false;
  return isAdministrative(type) || type === 'Subscription';
}

function displayOf(reference: unknown): string | undefined {
  const { display } = fieldsOf(reference);
  return typeof display === 'string' ? display : undefined;
}

function named(reference: string, display: unknown): Reference {
  return typeof display === 'string' && display !== '' ? { reference, display } : { reference };
}

/** One thing that happened, before it becomes an R4 AuditEvent. */
export interface Audited {
  project: string;
  /** Deliveries are told of in the lists of their Subscriptions only. */
  subtype: Subtype | 'delivery';
  /** FHIR AuditEvent.action: create, read, update, delete, execute. */
  action: 'C' | 'R' | 'U' | 'D' | 'E';
  /** FHIR AuditEvent.outcome: success, also when left out, minor failure (refused), serious failure. */
  outcome?: '0' | '4' | '8';
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

/** Particulars of an entity by their names; one that is undefined is left out. */
export function details(
  values: Readonly<Record<string, string | number | undefined>>,
): { type: string; valueString: string }[] {
  return Object.entries(values).flatMap(([type, value]) =>
    value === undefined ? [] : { type, valueString: String(value) },
  );
}

/** R4 audit-event-outcome by word. */
const outcomes: Readonly<Record<string, string>> = { success: '0', failure: '4', unknown: '8' };

/** The code of an outcome that a list is narrowed to by word, or by code. @throws {Refusal} invalid */
export function parseOutcome(value: string): string {
  const code = Object.hasOwn(outcomes, value) ? outcomes[value] : value;
  if (code !== undefined && Object.values(outcomes).includes(code)) return code;
  throw invalidField('outcome', 'outcome must be success, failure or unknown');
}

/** IHE BALP: how something was read. */
const restful = 'http://hl7.org/fhir/restful-interaction';
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

/** Whoever operates the service. */
export const operator: Reference = { reference: 'system' };

/** Who did something, and in which Project: an actor, or whoever else it was. */
type Doer = Pick<Audited, 'project' | 'agent'> | (Pick<Actor, 'project'> & Parameters<typeof doneBy>[0]);

/** What was done, noted by the transaction that does it. */
export function auditAction(
  { newId, now }: Pick<Services, 'newId' | 'now'>,
  doer: Doer,
  event: Pick<Audited, 'subtype' | 'action' | 'entities' | 'isEmergency'>,
  nowMs = now(),
): Action {
  const by = 'agent' in doer ? doer : { project: doer.project, ...doneBy(doer) };
  return { name: 'audit', put: auditItem({ ...by, ...event }, newId(), nowMs) };
}

/** The AuditEvent with that id, which says where it is; found by its time alone. */
export function entryItem(audited: Audited, id: string, nowMs: number): Item {
  return { ...keys.resource(audited.project, 'AuditEvent', id), ...entryOf(audited, id, nowMs) };
}

/** The AuditEvent as attributes of an item that is listed where its kind is. */
export function entryOf(audited: Audited, id: string, nowMs: number) {
  return headAttributes(auditEvent(audited, id, new Date(nowMs).toISOString()));
}

function auditEvent(audited: Audited, id: string, recorded: string): Resource {
  const { project, subtype, action, outcome = '0', outcomeDesc, agent, interaction, client } = audited;
  const { entities, isEmergency = false } = audited;
  return withoutEmpty({
    resourceType: 'AuditEvent',
    id,
    meta: { versionId: id, lastUpdated: recorded, project },
    type: auditType,
    subtype: [auditSubtype(subtype), ...(interaction ? [{ system: restful, code: interaction }] : [])],
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
  });
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
  const isShown = display !== undefined && isNamed(parseReference(reference)?.type);
  return isShown ? { reference, display } : { reference };
}

/** R4 AuditEvent.purposeOfEvent of what was done with emergency access. */
const breakTheGlass = {
  coding: [
    {
      system: 'http://terminology.hl7.org/CodeSystem/v3-ActReason',
      code: 'BTG',
      display: 'break the glass',
    },
  ],
};
