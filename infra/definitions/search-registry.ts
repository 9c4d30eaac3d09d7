import { entryIndexes } from '../../shared/index/entry-index.ts';
import { compilePaths, elementsByPath, type Path } from './compile-path.ts';
import {
  type Definition,
  ownTypes,
  resourceTypes,
  type SearchParameterDefinition,
} from './read-definitions.ts';

/** Which data types a search parameter of each type can search (R4 search, table of types). */
const searchable: Record<string, readonly string[]> = {
  token: [
    'Identifier',
    'CodeableConcept',
    'Coding',
    'ContactPoint',
    'boolean',
    'code',
    'id',
    'string',
    'uri',
  ],
  string: ['HumanName', 'Address', 'string', 'markdown'],
  reference: ['Reference', 'canonical', 'uri', 'Resource'],
  date: ['date', 'dateTime', 'instant', 'Period', 'Timing'],
  number: ['integer', 'decimal', 'positiveInt', 'unsignedInt', 'Range'],
  quantity: ['Quantity', 'Age', 'Duration', 'Count', 'Distance', 'Money', 'SimpleQuantity', 'Range'],
  uri: ['uri', 'url', 'canonical', 'oid', 'uuid'],
};

/** Types of parameters whose values have an order. */
const ordered = new Set(['date', 'number', 'quantity']);

/** Expressions that are more than paths. */
const byHand: Record<string, string> = {
  'InsurancePlan.name': 'alias:string|name:string',
  'Patient.deceased': '$deceased',
  'ProjectMembership.profile-type': 'profile:type',
  'Condition.asserted-date': `${extension('StructureDefinition/condition-assertedDate')}.valueDateTime:dateTime`,
  'Patient.ethnicity': `${extension('us/core/StructureDefinition/us-core-ethnicity')}.extension.valueCoding:Coding`,
  'Patient.gender-identity': `${extension('us/core/StructureDefinition/us-core-genderIdentity')}.valueCodeableConcept:CodeableConcept`,
  'Patient.race': `${extension('us/core/StructureDefinition/us-core-race')}.extension.valueCoding:Coding`,
};

function extension(name: string): string {
  return `extension[url=http://hl7.org/fhir/${name}]`;
}

/** AuditEvents are written with every change: what finds them is kept to what is asked. */
const indexedOfAuditEvent = new Set<string>(entryIndexes);

/**
 * What needs no items: what all resources of a type in a Project have alike, an index of which would tell none from
 * another; and the address of a member, which stands in the items by kind of profile.
 */
const unindexed = new Set(['ProjectMembership.project', 'ProjectMembership.user-name']);

interface Line {
  type: string;
  paths: string;
  target: string | undefined;
}

/**
 * The search parameters of every type, one line each: `code type index paths target`. `index` names the
 * parameter whose index items hold this one's values too, with `<` before it when they hold more than
 * these; it is `-` when there are none. `target` is the only type that a reference can be to. One that is not served reads `code left out`.
 */
export function searchRegistry(
  definitions: readonly Definition[],
  parameters: readonly SearchParameterDefinition[],
): { registry: Record<string, string[]>; left: string[] } {
  const elements = elementsByPath(definitions);
  const left: string[] = [];
  const registry = Object.fromEntries(
    resourceTypes(definitions).map((type) => {
      const lines = new Map<string, Line>();
      const unserved: string[] = [];
      const composites: string[] = [];
      for (const parameter of parameters) {
        if (!appliesTo(parameter, type)) continue;
        const composite = compositeLine(type, parameter, parameters);
        if (composite !== undefined) {
          composites.push(composite);
          continue;
        }
        const found = searchablePaths(elements, type, parameter.type, parameter.expression) ?? [];
        const paths =
          byHand[`${type}.${parameter.code}`] ??
          pathsOf(elements, type, parameter.type, parameter.expression);
        if (paths)
          lines.set(parameter.code, {
            type:
              ordered.has(parameter.type) && (paths.includes('[url=') || repeats(found, type, elements))
                ? `${parameter.type}*`
                : parameter.type,
            paths,
            target: targetOf(parameter, paths),
          });
        else {
          left.push(`${type}.${parameter.code} (${parameter.type})`);
          unserved.push(`${parameter.code} left out`);
        }
      }
      return [type, [...shareIndexes(type, lines), ...composites.sort(), ...unserved]];
    }),
  );
  return { registry, left };
}

/**
 * A composite parameter as `code composite - elements parts`: the elements, one of which must match all parts
 * (`.` is the resource itself, without the others; after `+` the rest of the resource stays, because a part lies
 * there), and the parameters that the parts are.
 */
function compositeLine(
  type: string,
  { code, type: parameterType, expression = '', component = [] }: SearchParameterDefinition,
  parameters: readonly SearchParameterDefinition[],
): string | undefined {
  if (parameterType !== 'composite') return undefined;
  const kept = component.some((part) => part.expression.startsWith('%resource.')) ? '+' : '';
  const elements = expression
    .split(' | ')
    .flatMap((one) =>
      one === type ? ['.'] : one.startsWith(`${type}.`) ? [kept + one.slice(type.length + 1)] : [],
    );
  const parts = component.map(
    ({ definition }) => parameters.find(({ url, base }) => url === definition && base.includes(type))?.code,
  );
  const isPlain = elements.length > 0 && elements.every((one) => /^(?:\.|\+?[A-Za-z]+)$/.test(one));
  if (!isPlain || parts.length < 2 || parts.includes(undefined)) return undefined;
  return `${code} composite - ${elements.join('|')} ${parts.join('$')}`;
}

function appliesTo({ base, code, expression }: SearchParameterDefinition, type: string): boolean {
  if (code.startsWith('_') || !base.includes(type)) return false;
  if (byHand[`${type}.${code}`] !== undefined) return true;
  // Parameters that another implementation adds to R4's own types are not R4's.
  return ownTypes.includes(type) || !/extension|iif\(/.test(expression ?? '');
}

function pathsOf(
  elements: ReturnType<typeof elementsByPath>,
  resourceType: string,
  parameterType: string,
  expression = '',
): string | undefined {
  const paths = searchablePaths(elements, resourceType, parameterType, expression);
  return paths?.length ? [...new Set(paths.map(print))].sort().join('|') : undefined;
}

function searchablePaths(
  elements: ReturnType<typeof elementsByPath>,
  resourceType: string,
  parameterType: string,
  expression = '',
): Path[] | undefined {
  const compiled = compilePaths(elements, resourceType, expression);
  return compiled?.filter(({ type }) => searchable[parameterType]?.includes(type));
}

/** Of what has an order: whether a resource may have several values of it. A choice has but one. */
function repeats(paths: readonly Path[], resourceType: string, elements: ReturnType<typeof elementsByPath>) {
  const owners = paths.map(({ steps }) => choiceOf(steps[0] ?? '', resourceType, elements));
  return paths.some((path) => path.repeats === true) || new Set(owners).size > 1;
}

/** The element of a resource by which a member is known, whatever the type in its name. */
function choiceOf(member: string, resourceType: string, elements: ReturnType<typeof elementsByPath>): string {
  for (let end = member.length; end > 0; end--) {
    const stem = member.slice(0, end);
    if (elements.has(`${resourceType}.${stem}[x]`)) return stem;
  }
  return member;
}

/** The type of a reference, where there is but one. */
function targetOf({ type, target = [] }: SearchParameterDefinition, paths: string): string | undefined {
  if (type !== 'reference') return undefined;
  const named = new Set(paths.split('|').map((path) => /\((.+)\)$/.exec(path)?.[1]));
  const [resolved] = named;
  if (named.size === 1 && resolved !== undefined) return resolved;
  return target.length === 1 ? target[0] : undefined;
}

function print({ steps, type, target }: Path): string {
  return `${steps.join('.')}:${type}${target ? `(${target})` : ''}`;
}

/**
 * Parameters that look at the same values, such as `subject` and `patient`, share index items; one whose
 * values are a part of another's, such as `email` of `telecom`, has none.
 */
function shareIndexes(type: string, lines: Map<string, Line>): string[] {
  const inOrder = [...lines].sort(([a], [b]) => (a < b ? -1 : 1));
  const codes = inOrder.map(([code]) => code);
  const bare = (code: string) => {
    const line = lines.get(code);
    return `${line?.type} ${line?.paths.replace(/\([A-Z][A-Za-z]+\)/g, '')}`;
  };
  return inOrder.map(([code, { type: parameterType, paths, target }]) => {
    const wider = `${parameterType} ${widerPath(paths)}`;
    const shared = codes.find((other) => bare(other) === bare(code)) ?? code;
    const around = codes.find((other) => bare(other) === wider);
    const isListed = type !== 'AuditEvent' || indexedOfAuditEvent.has(code);
    const isIndexed = isListed && !unindexed.has(`${type}.${code}`);
    const index = !isIndexed ? '-' : around === undefined ? shared : `<${around}`;
    return [code, parameterType, index, paths, ...(target === undefined ? [] : [target])].join(' ');
  });
}

/** The path whose values, as an index has them, hold those of this one; undefined when there is none. */
function widerPath(paths: string): string | undefined {
  const [, telecom] = /^([A-Za-z]+)\[system=[a-z]+\]:ContactPoint$/.exec(paths) ?? [];
  if (telecom !== undefined) return `${telecom}:ContactPoint`;
  const [, name] = /^([A-Za-z]+)\.(?:family|given):string$/.exec(paths) ?? [];
  return name === undefined ? undefined : `${name}:HumanName`;
}
