import type { ElementDefinition, SearchParameter, StructureDefinition } from '@medplum/fhirtypes';
import { entryIndexes } from '../../shared/store/index/index-items.ts';
import { ownTypes, resourceTypes } from './read-definitions.ts';

/** Which data types a search parameter of each type can search (R4 search, table of types). */
const searchable: Record<string, readonly string[]> = {
  token: [
    ...['Identifier', 'CodeableConcept', 'Coding', 'ContactPoint'],
    ...['boolean', 'code', 'id', 'string', 'uri'],
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

/** A search parameter but for the index that its values are in. */
interface Line {
  type: string;
  paths: string;
  target: string | undefined;
}

/** What stands in the line of a parameter that is not served, after its code. */
export const leftOut = ' left out';

/**
 * The search parameters of every type, one line each: `code type index paths target`. `index` names the
 * parameter whose index items hold this one's values too, with `<` before it when they hold more than
 * these; it is `-` when there are none. `target` is the only type that a reference can be to. One that is not served reads `code left out`.
 */
export function searchRegistry(
  definitions: readonly StructureDefinition[],
  parameters: readonly SearchParameter[],
): { registry: Record<string, string[]>; left: string[] } {
  const elements: Elements = new Map(
    definitions.flatMap(({ snapshot }) => (snapshot?.element ?? []).map((one) => [one.path, one])),
  );
  const left: string[] = [];
  const linesOf = (type: string): string[] => {
    const lines = new Map<string, Line>();
    const unserved: string[] = [];
    const composites: string[] = [];
    for (const parameter of parameters.filter((one) => appliesTo(one, type))) {
      const composite = compositeLine(type, parameter, parameters);
      const line = lineOf(elements, type, parameter);
      if (composite !== undefined) composites.push(composite);
      else if (line) lines.set(parameter.code, line);
      else {
        left.push(`${type}.${parameter.code} (${parameter.type})`);
        unserved.push(`${parameter.code}${leftOut}`);
      }
    }
    return [...shareIndexes(type, lines), ...composites.sort(), ...unserved];
  };
  const registry = Object.fromEntries(resourceTypes(definitions).map((type) => [type, linesOf(type)]));
  return { registry, left };
}

function appliesTo({ base, code, expression }: SearchParameter, type: string): boolean {
  if (code.startsWith('_') || !base.some((one) => one === type)) return false;
  if (byHand[`${type}.${code}`] !== undefined) return true;
  // Parameters that another implementation adds to R4's own types are not R4's.
  return ownTypes.includes(type) || !/extension|iif\(/.test(expression ?? '');
}

function lineOf(elements: Elements, type: string, parameter: SearchParameter): Line | undefined {
  const found = compilePaths(elements, type, parameter);
  const printed = found.map(
    (one) => `${one.steps.join('.')}:${one.type}${one.target ? `(${one.target})` : ''}`,
  );
  const paths = byHand[`${type}.${parameter.code}`] ?? [...new Set(printed)].sort().join('|');
  if (paths === '') return undefined;
  const isSeveral = paths.includes('[url=') || repeats(elements, type, found);
  return {
    type: ordered.has(parameter.type) && isSeveral ? `${parameter.type}*` : parameter.type,
    paths,
    target: targetOf(parameter, paths),
  };
}

/** Of what has an order: whether a resource may have several values of it. A choice has but one. */
function repeats(elements: Elements, type: string, paths: readonly Path[]): boolean {
  // The element of a resource by which a member is known, whatever the type in its name.
  const elementOf = (member: string) =>
    Array.from(member, (_, i) => member.slice(0, member.length - i)).find((stem) =>
      elements.has(`${type}.${stem}[x]`),
    ) ?? member;
  const owners = paths.map(({ steps: [first = ''] }) => elementOf(first));
  return paths.some((path) => path.repeats === true) || new Set(owners).size > 1;
}

/** The type of a reference, where there is but one. */
function targetOf({ type, target = [] }: SearchParameter, paths: string): string | undefined {
  if (type !== 'reference') return undefined;
  const named = new Set(paths.split('|').map((path) => /\((.+)\)$/.exec(path)?.[1]));
  const [resolved] = named;
  if (named.size === 1 && resolved !== undefined) return resolved;
  return target.length === 1 ? target[0] : undefined;
}

/**
 * A composite parameter as `code composite - elements parts`: the elements, one of which must match all parts
 * (`.` is the resource itself, without the others; after `+` the rest of the resource stays, because a part lies
 * there), and the parameters that the parts are.
 */
function compositeLine(
  type: string,
  { code, type: parameterType, expression = '', component = [] }: SearchParameter,
  parameters: readonly SearchParameter[],
): string | undefined {
  if (parameterType !== 'composite') return undefined;
  const kept = component.some((part) => part.expression.startsWith('%resource.')) ? '+' : '';
  const elements = expression
    .split(' | ')
    .flatMap((one) =>
      one === type ? ['.'] : one.startsWith(`${type}.`) ? [kept + one.slice(type.length + 1)] : [],
    );
  const parts = component.map(
    ({ definition }) =>
      parameters.find(({ url, base }) => url === definition && base.some((one) => one === type))?.code,
  );
  const isPlain = elements.length > 0 && elements.every((one) => /^(?:\.|\+?[A-Za-z]+)$/.test(one));
  if (!isPlain || parts.length < 2 || parts.includes(undefined)) return undefined;
  return `${code} composite - ${elements.join('|')} ${parts.join('$')}`;
}

/**
 * Parameters that look at the same values, such as `subject` and `patient`, share index items; one whose
 * values are a part of another's, such as `email` of `telecom`, has none.
 */
function shareIndexes(type: string, lines: Map<string, Line>): string[] {
  const inOrder = [...lines].sort(([a], [b]) => (a < b ? -1 : 1));
  const withoutTarget = (line: Line) => `${line.type} ${line.paths.replace(/\([A-Z][A-Za-z]+\)/g, '')}`;
  const codeOf = (wanted: string) => inOrder.find(([, line]) => withoutTarget(line) === wanted)?.[0];
  return inOrder.map(([code, line]) => {
    const around = codeOf(`${line.type} ${widerPath(line.paths)}`);
    const isListed = type !== 'AuditEvent' || indexedOfAuditEvent.has(code);
    const isIndexed = isListed && !unindexed.has(`${type}.${code}`);
    const index = !isIndexed ? '-' : around === undefined ? codeOf(withoutTarget(line)) : `<${around}`;
    return [code, line.type, index, line.paths, ...(line.target === undefined ? [] : [line.target])].join(
      ' ',
    );
  });
}

/** The path whose values, as an index has them, hold those of this one; undefined when there is none. */
function widerPath(paths: string): string | undefined {
  const [, telecom] = /^([A-Za-z]+)\[system=[a-z]+\]:ContactPoint$/.exec(paths) ?? [];
  if (telecom !== undefined) return `${telecom}:ContactPoint`;
  const [, name] = /^([A-Za-z]+)\.(?:family|given):string$/.exec(paths) ?? [];
  return name === undefined ? undefined : `${name}:HumanName`;
}

/** Every element of every definition by its path, such as `Patient.name` or `HumanName.family`. */
type Elements = ReadonlyMap<string, ElementDefinition>;

/** One place in a resource where a search parameter finds values, and their data type. */
interface Path {
  /** Steps as `shared/store/index/value.ts` walks them: `name`, `telecom[system=email]`, `entry[0]`. */
  steps: string[];
  type: string;
  /** For references: only those to this type. */
  target?: string;
  /** Whether a resource may have several values there. */
  repeats?: boolean;
}

/**
 * An R4 search expression as paths of one resource type. The forms that R4 and the own types use are
 * understood: member access, `as`, `where(x='y')`, `where(resolve() is T)`, `[0]`.
 * @returns none when a part of it is of another form
 */
function compilePaths(
  elements: Elements,
  resourceType: string,
  { type: parameterType, expression = '' }: SearchParameter,
): Path[] {
  // No expression of R4 has an alternative inside parentheses.
  const alternatives = expression
    .split(' | ')
    .map((text) =>
      text
        .trim()
        .replace(/^\((.+\))\)/, '$1')
        .replace(/^\((.+) as (.+)\)$/, '$1.as($2)'),
    )
    .filter((text) => text.startsWith(`${resourceType}.`));
  const compiled = alternatives.map((text) => compile(elements, resourceType, text));
  const isUnderstood = compiled.every((paths) => paths !== undefined);
  const all = isUnderstood ? compiled.flatMap((paths) => paths ?? []) : [];
  return all.filter(({ type }) => searchable[parameterType]?.includes(type));
}

const stepForms =
  /where\(resolve\(\) is [A-Z][A-Za-z]+\)|where\([a-z]+='[^']+'\)|(?:as|ofType)\([A-Za-z]+\)|[A-Za-z]+(?:\[\d+\])?/g;

function compile(elements: Elements, resourceType: string, text: string): Path[] | undefined {
  const [root, ...steps] = text.match(stepForms) ?? [];
  if (root !== resourceType || [root, ...steps].join('.') !== text) return undefined;
  let paths: Path[] = [{ steps: [], type: resourceType }];
  for (const step of steps) paths = paths.flatMap((path) => advance(elements, path, step));
  return paths;
}

function advance(elements: Elements, path: Path, step: string): Path[] {
  const resolved = /^where\(resolve\(\) is (.+)\)$/.exec(step)?.[1];
  if (resolved) return [{ ...path, target: resolved }];
  const [, name, value] = /^where\((.+)='(.+)'\)$/.exec(step) ?? [];
  if (value) return [{ ...path, steps: path.steps.with(-1, `${path.steps.at(-1)}[${name}=${value}]`) }];
  const cast = /^(?:as|ofType)\((.+)\)$/.exec(step)?.[1];
  if (cast) return path.type === cast ? [path] : [];
  const [, member = '', index = ''] = /^([A-Za-z]+)(\[\d+\])?$/.exec(step) ?? [];
  return members(elements, path, member, index);
}

/** The member of that name; one for each of its types when it is a choice, as JSON names them. */
function members(elements: Elements, owner: Path, name: string, index: string): Path[] {
  const plain = elements.get(`${owner.type}.${name}`);
  const element = plain ?? elements.get(`${owner.type}.${name}[x]`);
  if (!element) return [];
  const repeats = owner.repeats === true || (element.max !== '1' && index === '');
  const path = (property: string, type: string): Path => ({
    ...{ steps: [...owner.steps, property + index], type, repeats },
  });
  const target = element.contentReference?.split('#')[1];
  if (target) return [path(name, target)];
  return (element.type ?? []).map(({ code, extension }) => {
    const fhirType = extension?.find(({ url }) => url.endsWith('fhir-type'))?.valueUrl ?? code;
    const property = plain ? name : name + code.charAt(0).toUpperCase() + code.slice(1);
    // Elements with children of their own are known by their path.
    const isOwn = fhirType === 'BackboneElement' || fhirType === 'Element';
    const type = isOwn ? element.path : fhirType.replace('http://hl7.org/fhirpath/System.String', 'string');
    return path(property, type);
  });
}
