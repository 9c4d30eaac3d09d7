import type { Definition, ElementDefinition, ElementType } from './read-definitions.ts';

/** Constraints that the validator never evaluates. */
const unchecked = new Set(['ele-1', 'dom-3', 'org-1', 'sdf-19']);

/**
 * What the validator reads of a StructureDefinition, and which elements a summary has: one hundredth of its text. Constraints that
 * only warn are left out, nobody would see the warning.
 */
export function trimDefinition(
  { resourceType, name, url, type, kind, snapshot }: Definition,
  isBound: (valueSet: string) => boolean,
): { name: string; [member: string]: unknown } {
  return {
    resourceType,
    name,
    url,
    type,
    kind,
    snapshot: { element: (snapshot?.element ?? []).map((element) => trimElement(element, isBound)) },
  };
}

function trimElement(element: ElementDefinition, isBound: (valueSet: string) => boolean): object {
  const { id, path, base, max, type, isSummary, constraint = [] } = element;
  const valueSet = requiredSet(element);
  const kept = constraint.filter(({ severity, key }) => severity === 'error' && !unchecked.has(key));
  return {
    ...pick(element, /^(path|sliceName|min|max|contentReference|slicing|(fixed|pattern)[A-Z].*)$/),
    ...(id === path ? {} : { id }),
    ...(isSummary === true && path.split('.').length === 2 ? { isSummary } : {}),
    ...(base && (base.max !== max || element.contentReference) ? { base: { max: base.max } } : {}),
    ...(type ? { type: type.map(trimType) } : {}),
    ...(valueSet !== undefined && isBound(valueSet) ? { codes: valueSet } : {}),
    ...(kept.length > 0
      ? { constraint: kept.map(({ key, expression, human }) => ({ key, expression, human })) }
      : {}),
  };
}

/** The value set, without version, that a code must be from. */
export function requiredSet({ binding }: ElementDefinition): string | undefined {
  return binding?.strength === 'required' ? binding.valueSet?.split('|')[0] : undefined;
}

function trimType(type: ElementType): object {
  const fhirType = type.extension?.filter(({ url }) => url.endsWith('/structuredefinition-fhir-type'));
  return {
    ...pick(type, /^(code|targetProfile|profile)$/),
    ...(fhirType?.length ? { extension: fhirType } : {}),
  };
}

function pick(from: object, names: RegExp): object {
  return Object.fromEntries(Object.entries(from).filter(([name]) => names.test(name)));
}
