/** The validator of `@medplum/core`. Imported on demand, by these names alone: a third of the library is bundled then. */

import { loadDataType, OperationOutcomeError, validateResource } from '@medplum/core';
import { longestBodyBytes } from '../../base/limits.ts';
import type { RefusalIssue } from '../../base/refusal.ts';
import { fieldsOf } from '../../base/values.ts';
import type { StructureDefinition } from './elements.ts';

/** A rule as code: of the element that has it, and the resource that this is in. */
type Judge = (element: unknown, resource: Record<string, unknown>) => boolean;

/** All that a path leads to. */
function valuesAt(from: unknown, path: string): unknown[] {
  const step = (found: unknown[], name: string) => found.flatMap((one) => fieldsOf(one)[name] ?? []);
  return path.split('.').reduce(step, [from]);
}

function areDistinct(values: readonly unknown[]): boolean {
  return new Set(values).size === values.length;
}

function distinctAt(path: string): Judge {
  return (element) => areDistinct(valuesAt(element, path));
}

function knownAt(path: string, known: string): Judge {
  return (element) => {
    const all = new Set(valuesAt(element, known));
    return valuesAt(element, path).every((one) => all.has(one));
  };
}

function distinctIds(path: string): Judge {
  return (element) => {
    const ids = valuesAt(element, path).map((one) => fieldsOf(one).id);
    return ids.every((id) => id !== undefined) && areDistinct(ids);
  };
}

function pathsOf(part: unknown): string[] {
  return valuesAt(part, 'element').map((one) => String(fieldsOf(one).path));
}

/**
 * Rules whose FHIRPath takes the square of what there is, or worse, by their keys. Each says what the library makes of it:
 * `descendants()` is nothing there, and no Coding is another one. It asks no rule that a data type has as a whole (ref-1).
 */
export const judges: Readonly<Record<string, Judge>> = {
  'axp-3': (element) => {
    const { resourceType = '', criteria } = fieldsOf(element);
    if (typeof criteria !== 'string') return true;
    const query = criteria.startsWith(`${resourceType}?`) ? criteria.slice(`${resourceType}?`.length) : '';
    return /^(?:[a-zA-Z_:-]+=[^&]+(?:&|$))+$/.test(query) && !criteria.includes('_has:');
  },
  'bdl-7': (bundle) => {
    const named = valuesAt(bundle, 'entry')
      .map(fieldsOf)
      .filter(({ fullUrl }) => fullUrl !== undefined);
    const versions = named.map((one) => `${one.fullUrl}${valuesAt(one, 'resource.meta.versionId').join('')}`);
    return fieldsOf(bundle).type === 'history' || areDistinct(versions);
  },
  'cpb-7': (statement) =>
    areDistinct(
      valuesAt(statement, 'document').map((one) => `${fieldsOf(one).profile}${fieldsOf(one).mode}`),
    ),
  'cpb-9': distinctAt('resource.type'),
  'cpb-12': distinctAt('searchParam.name'),
  'csd-1': distinctAt('concept.code'),
  'ig-1': knownAt('resource.groupingId', 'grouping.id'),
  'ig-2': knownAt('definition.resource.fhirVersion', 'fhirVersion'),
  'nsd-2': (system) => {
    const preferred = valuesAt(system, 'uniqueId').filter((one) => fieldsOf(one).preferred === true);
    return areDistinct(preferred.map((one) => fieldsOf(one).type));
  },
  'obs-7': () => true,
  'sdf-1': (definition) =>
    fieldsOf(definition).derivation === 'constraint' ||
    areDistinct(valuesAt(definition, 'snapshot.element.path')),
  'sdf-8': (snapshot, { kind, type }) => {
    const [first = '', ...others] = pathsOf(snapshot);
    return (kind === 'logical' || first === type) && others.every((path) => path.startsWith(`${first}.`));
  },
  'sdf-8a': (differential, { kind, type }) => {
    const [first = '', ...others] = pathsOf(differential);
    const root = `${first.replace(/\..*/g, '')}.`;
    return (
      (kind === 'logical' || first.startsWith(`${type}`)) && others.every((path) => path.startsWith(root))
    );
  },
  'sdf-16': distinctIds('snapshot.element'),
  'sdf-17': distinctIds('differential.element'),
};

/** A rule as the validator evaluates it: the library takes a text, or what such a text was read as. */
function withJudge<T extends { key: string; expression: string }>(rule: T) {
  const judge = judges[rule.key];
  if (!judge) return rule;
  type Context = { variables: { '%resource'?: { value: Record<string, unknown> } } };
  const evaluate = ({ variables }: Context, [element]: { value: unknown }[]) => [
    { type: 'boolean', value: judge(element?.value, variables['%resource']?.value ?? {}) },
  ];
  return { ...rule, expression: { eval: evaluate } };
}

/** Types whose definitions the validator has; the rest wait in their text. */
const loaded = new Set<string>();

/** Gives the validator a definition, once. */
export function learn(definition: StructureDefinition | undefined): void {
  if (!definition || loaded.has(definition.name)) return;
  loaded.add(definition.name);
  const element = definition.snapshot.element.map(({ constraint = [], ...one }) => ({
    ...one,
    constraint: constraint.map(withJudge),
  }));
  loadDataType({ ...definition, snapshot: { element } } as never);
}

/** @param resource of types whose definitions, and those of all that is in it, are learned */
export function faultsOf(resource: { resourceType: string }): RefusalIssue[] | undefined {
  try {
    validateResource(resource as never, { base64BinaryMaxBytes: longestBodyBytes });
    return undefined;
  } catch (error) {
    if (!(error instanceof OperationOutcomeError)) throw error;
    const faults = error.outcome.issue.filter(
      ({ severity }) => severity !== 'warning' && severity !== 'information',
    );
    return faults.map(({ details, expression: [at] = [] }) => ({
      text: details?.text ?? 'Not valid',
      ...(at === undefined ? {} : { expression: at }),
    }));
  }
}
