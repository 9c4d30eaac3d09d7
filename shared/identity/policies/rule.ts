/** What one may do with a resource: the FHIR interactions, and `execute` on Bots. */
export type Interaction =
  | 'create'
  | 'read'
  | 'vread'
  | 'update'
  | 'delete'
  | 'search'
  | 'history'
  | 'execute';

export const reading: readonly Interaction[] = ['read', 'vread', 'search', 'history'];
export const writing: readonly Interaction[] = ['create', 'update', 'delete'];

/** One entry of AccessPolicy.resource, its variables already replaced. */
export interface Rule {
  /** A resource type, or `*` for every type that is not administrative. */
  resourceType: string;
  /** A FHIR search, `Type?param=value`, that a resource must match. */
  criteria?: string;
  /** A Patient whose compartment (R4 CompartmentDefinition) a resource must be in. */
  compartment?: string;
  interactions: ReadonlySet<Interaction>;
  hiddenFields: readonly string[];
  readonlyFields: readonly string[];
  /** When given, an update may change these top-level elements only. */
  writableFields?: readonly string[];
}

/** Variables of criteria: `%profile`, `%profile.id`, `%patient`, and parameters by their names. */
export const variable = /%[A-Za-z_][A-Za-z0-9_.-]*/g;
