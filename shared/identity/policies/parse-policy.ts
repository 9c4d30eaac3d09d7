import { fieldsOf, isObject } from '../../base/values.ts';

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

const interactions: readonly Interaction[] = [...reading, ...writing, 'execute'];

/** Elements of an entry that are understood; one that is not could be meant to narrow. */
const entryElements = new Set([
  ...['id', 'extension', 'resourceType', 'criteria'],
  ...['readonly', 'interaction', 'hiddenFields', 'readonlyFields'],
]);

/** Elements of a policy that other implementations know, all of which narrow. */
const unknownElements = ['basedOn', 'compartment', 'ipAccessRule'];

/** An entry of AccessPolicy.resource, its form checked. */
export type PolicyEntry = Omit<Rule, 'compartment' | 'writableFields'>;

/** Records what is wrong with an element. */
type Refuse = (expression: string, text: string) => void;

/**
 * The entries of a policy; what has a fault is refused, and is not among them. Only the form is
 * checked: of the criteria and the fields it takes the definitions of R4 to say more.
 */
export function parsePolicy(policy: object, refuse: Refuse): PolicyEntry[] {
  const fields = fieldsOf(policy);
  const unknown = unknownElements.filter((name) => fields[name] !== undefined);
  for (const name of unknown) refuse(name, `${name} is not supported`);
  if (fields.resource !== undefined && !Array.isArray(fields.resource))
    refuse('resource', 'resource must be a list');
  if (unknown.length > 0 || !Array.isArray(fields.resource)) return [];
  return fields.resource.flatMap((entry, i) => parseEntry(entry, `resource[${i}]`, refuse) ?? []);
}

function parseEntry(entry: unknown, at: string, refuse: Refuse): PolicyEntry | undefined {
  if (!isObject(entry)) {
    refuse(at, 'An entry must be an object');
    return undefined;
  }
  let isSound = true;
  const wrong = (name: string, text: string) => {
    isSound = false;
    refuse(`${at}.${name}`, text);
  };
  for (const name of Object.keys(entry).filter((one) => !entryElements.has(one))) {
    wrong(name, `${name} is not supported`);
  }
  const { resourceType, criteria, readonly, interaction, hiddenFields, readonlyFields } = entry;
  if (typeof resourceType !== 'string' || resourceType === '')
    wrong('resourceType', 'A resource type is required');
  if (criteria !== undefined && typeof criteria !== 'string') wrong('criteria', 'criteria must be text');
  if (readonly !== undefined && typeof readonly !== 'boolean')
    wrong('readonly', 'readonly must be true or false');
  const parsed: PolicyEntry = {
    resourceType: String(resourceType),
    ...(criteria === undefined ? {} : { criteria: String(criteria) }),
    interactions: new Set(parseInteractions(readonly, interaction, wrong)),
    hiddenFields: parseFields(hiddenFields, 'hiddenFields', wrong),
    readonlyFields: parseFields(readonlyFields, 'readonlyFields', wrong),
  };
  return isSound ? parsed : undefined;
}

/** `interaction` when given; else read, write unless `readonly`, and execute. */
function parseInteractions(readonly: unknown, interaction: unknown, wrong: Refuse): Interaction[] {
  if (interaction !== undefined && !isTexts(interaction)) wrong('interaction', 'interaction must be a list');
  const unknown = isTexts(interaction)
    ? interaction.filter((one) => !interactions.some((known) => known === one))
    : [];
  if (unknown.length > 0) wrong('interaction', `interaction must be some of ${interactions.join(', ')}`);
  const named = isTexts(interaction) ? interactions.filter((one) => interaction.includes(one)) : interactions;
  return readonly === true ? named.filter((one) => reading.includes(one)) : [...named];
}

/** Of an entry, of either kind: each is looked for in every resource that is shown or changed. */
const mostFields = 100;

/** What makes it a resource is never closed: without it nobody could say which one it is. */
function parseFields(value: unknown, name: string, wrong: Refuse): string[] {
  if (value === undefined) return [];
  if (isTexts(value) && value.length > mostFields) {
    wrong(name, `${name} may name ${mostFields} elements`);
    return [];
  }
  const isSound = isTexts(value) && value.every(isFieldPath);
  const isOpen = isSound && value.every((path) => !/^(resourceType|id|meta)(\.|$)/.test(path));
  if (isOpen) return value;
  wrong(name, `${name} must name elements such as birthDate or name.family, not resourceType, id or meta`);
  return [];
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

/** `name.family`, `value[x]`, `_birthDate` is meant with `birthDate`. */
function isFieldPath(text: unknown): text is string {
  return (
    typeof text === 'string' && text.length <= 200 && /^[a-z]\w*(\[x\])?(\.[a-z]\w*(\[x\])?)*$/i.test(text)
  );
}
