import { withoutKeys } from './values.ts';

/** A FHIR resource as it is stored and answered. */
export interface Resource {
  resourceType: string;
  id: string;
  meta: Meta;
  [element: string]: unknown;
}

export interface Meta {
  versionId: string;
  lastUpdated: string;
  /** Id of the Project it belongs to. */
  project?: string;
  /** Who wrote this version: a profile, or `system`. */
  author?: Reference;
  [element: string]: unknown;
}

export interface Reference {
  reference: string;
  display?: string;
}

export const profileTypes = ['Patient', 'Practitioner', 'RelatedPerson'] as const;
export type ProfileType = (typeof profileTypes)[number];

/** FHIR id (R4 datatypes, `id`): up to 64 of letters, digits, `-` and `.`. */
export function isId(text: string): boolean {
  return /^[A-Za-z0-9\-.]{1,64}$/.test(text);
}

/** A relative literal reference `Type/id`; undefined for every other form. */
export function parseReference(text: unknown): { type: string; id: string } | undefined {
  if (typeof text !== 'string') return undefined;
  const match = /^([A-Z][A-Za-z]{1,63})\/([A-Za-z0-9\-.]{1,64})$/.exec(text);
  return match?.[1] && match[2] ? { type: match[1], id: match[2] } : undefined;
}

/** The relative literal reference to a resource. */
export function referenceOf({ resourceType, id }: Pick<Resource, 'resourceType' | 'id'>): string {
  return `${resourceType}/${id}`;
}

/** Now, or a millisecond after the state before when another machine's clock was ahead. @param before an instant, if any */
export function instantAfter(before: unknown, nowMs: number): string {
  const atLeast = typeof before === 'string' ? Date.parse(before) + 1 : 0;
  return new Date(Math.max(nowMs, atLeast)).toISOString();
}

/** Who writes, when, and into which Project: the same for all resources of one transaction. */
export interface Stamp {
  project: string;
  nowMs: number;
  author: Reference;
  newId(): string;
}

/** Meta of a new version. */
export function newMeta({ newId, ...stamp }: Stamp): Meta {
  return metaOf({ ...stamp, versionId: newId() });
}

/** Meta of a version whose id is known; what the one before had beside stays. */
export function metaOf(
  { versionId, nowMs, ...stamp }: { versionId: string; nowMs: number; project: string; author: Reference },
  before: Partial<Meta> = {},
): Meta {
  const lastUpdated = new Date(nowMs).toISOString();
  return { ...before, versionId, lastUpdated, project: stamp.project, author: stamp.author };
}

/** What `meta` has beside R4's elements; strict parsers refuse a resource that has more than R4 names. */
const beyond = new Set(['project', 'author', 'onBehalfOf']);

/** The `meta` that R4 knows. */
export function plainMeta<Meta extends object>(meta: Meta): Meta {
  return withoutKeys(meta, (name) => beyond.has(name));
}

/** Types that hold identity, Bots' settings, policies and audit; every other one may be a record of care. */
export const administrativeTypes = [
  'AccessPolicy',
  'AuditEvent',
  'Bot',
  'ClientApplication',
  'Project',
  'ProjectMembership',
  'User',
] as const;

export function isAdministrative(type: string): boolean {
  return administrativeTypes.some((one) => one === type);
}

/** R4 AuditEvent.type of every entry, and the system of our subtypes. */
export const auditType = {
  system: 'http://terminology.hl7.org/CodeSystem/audit-event-type',
  code: 'rest',
  display: 'Restful Operation',
} as const;

const subtypeSystem = 'urn:portico:audit';

export function auditSubtype(code: string): { system: string; code: string } {
  return { system: subtypeSystem, code };
}
