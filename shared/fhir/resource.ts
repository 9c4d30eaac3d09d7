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
