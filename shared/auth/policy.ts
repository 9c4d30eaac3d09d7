import { parseReference, type Reference } from '../fhir/resource.ts';
import type { Actor, NamedPolicy } from './actor.ts';

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

const reading: readonly Interaction[] = ['read', 'vread', 'search', 'history'];
const writing: readonly Interaction[] = ['create', 'update', 'delete'];

interface PolicyEntry {
  resourceType?: unknown;
  criteria?: unknown;
  readonly?: unknown;
  interaction?: unknown;
  hiddenFields?: unknown;
  readonlyFields?: unknown;
}

/** The rules of the policies that a membership names. An entry that cannot be understood grants nothing. */
export function policyRules(actor: Actor, policies: readonly NamedPolicy[]): Rule[] {
  return policies.flatMap(({ policy, parameters }) => {
    const variables = variablesOf(actor, parameters);
    const entries = Array.isArray(policy.resource) ? (policy.resource as PolicyEntry[]) : [];
    return entries.flatMap((entry) => ruleOf(entry, variables) ?? []);
  });
}

function ruleOf(entry: PolicyEntry, variables: ReadonlyMap<string, string>): Rule | undefined {
  const { resourceType, criteria } = entry;
  if (typeof resourceType !== 'string') return undefined;
  if (criteria !== undefined && typeof criteria !== 'string') return undefined;
  const replaced = criteria === undefined ? undefined : replaceVariables(criteria, variables);
  if (criteria !== undefined && replaced === undefined) return undefined;
  return {
    resourceType,
    ...(replaced === undefined ? {} : { criteria: replaced }),
    interactions: new Set(interactionsOf(entry)),
    hiddenFields: strings(entry.hiddenFields),
    readonlyFields: strings(entry.readonlyFields),
  };
}

/** `interaction` when given; else read, write unless `readonly`, and execute. */
function interactionsOf({ readonly, interaction }: PolicyEntry): readonly Interaction[] {
  const all = [...reading, ...writing, 'execute'] as readonly Interaction[];
  const named = interaction === undefined ? all : all.filter((one) => strings(interaction).includes(one));
  return readonly === true ? named.filter((one) => reading.includes(one)) : named;
}

/** Undefined when a variable has no value: a criterion with a hole must not match more. */
function replaceVariables(criteria: string, variables: ReadonlyMap<string, string>): string | undefined {
  let complete = true;
  const text = criteria.replace(/%[A-Za-z_][A-Za-z0-9_.-]*/g, (name) => {
    const value = variables.get(name.slice(1));
    if (value === undefined) complete = false;
    return encodeURIComponent(value ?? '');
  });
  return complete ? text : undefined;
}

/** `%profile` is the profile's reference; `%patient` the same for a Patient; parameters by name. */
function variablesOf(actor: Actor, parameters: NamedPolicy['parameters']): Map<string, string> {
  const variables = new Map<string, string>();
  for (const { name, valueString, valueReference } of parameters) {
    if (valueString !== undefined) variables.set(name, valueString);
    if (valueReference) addReference(variables, name, valueReference);
  }
  addReference(variables, 'profile', { reference: actor.profile });
  return variables;
}

function addReference(variables: Map<string, string>, name: string, { reference }: Reference): void {
  variables.set(name, reference);
  const id = parseReference(reference)?.id;
  if (id !== undefined) variables.set(`${name}.id`, id);
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
