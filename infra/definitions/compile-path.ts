import type { Definition, ElementDefinition } from './read-definitions.ts';

/** One place in a resource where a search parameter finds values, and their data type. */
export interface Path {
  /** Steps as `shared/search/path.ts` walks them: `name`, `telecom[system=email]`, `entry[0]`. */
  steps: string[];
  type: string;
  /** For references: only those to this type. */
  target?: string;
  /** Whether a resource may have several values there. */
  repeats?: boolean;
}

type Elements = ReadonlyMap<string, ElementDefinition>;

/** Every element of every definition by its path, such as `Patient.name` or `HumanName.family`. */
export function elementsByPath(definitions: readonly Definition[]): Elements {
  return new Map(
    definitions.flatMap(({ snapshot }) =>
      (snapshot?.element ?? []).map((element) => [element.path, element] as const),
    ),
  );
}

/**
 * An R4 search expression as paths of one resource type. The forms that R4 and the own types use are
 * understood: member access, `as`, `where(x='y')`, `where(resolve() is T)`, `[0]`.
 * @returns undefined when it is of another form
 */
export function compilePaths(
  elements: Elements,
  resourceType: string,
  expression: string,
): Path[] | undefined {
  const alternatives = splitAlternatives(expression)
    .map((text) => text.replace(/^\((.+\))\)/, '$1').replace(/^\((.+) as (.+)\)$/, '$1.as($2)'))
    .filter((text) => text.startsWith(`${resourceType}.`));
  const compiled = alternatives.map((text) => compileAlternative(elements, resourceType, text));
  return compiled.every((paths) => paths !== undefined) ? compiled.flat() : undefined;
}

/** At ` | ` outside quotes: no expression of R4 has one inside parentheses. */
function splitAlternatives(expression: string): string[] {
  return expression.split(' | ').map((text) => text.trim());
}

const stepForms =
  /where\(resolve\(\) is [A-Z][A-Za-z]+\)|where\([a-z]+='[^']+'\)|(?:as|ofType)\([A-Za-z]+\)|[A-Za-z]+(?:\[\d+\])?/g;

function compileAlternative(elements: Elements, resourceType: string, text: string): Path[] | undefined {
  const [root, ...steps] = text.match(stepForms) ?? [];
  if (root !== resourceType || [root, ...steps].join('.') !== text) return undefined;
  return steps.reduce<Path[] | undefined>(
    (paths, step) => {
      const next = paths?.map((path) => advance(elements, path, step));
      return next?.every((found) => found !== undefined) ? next.flat() : undefined;
    },
    [{ steps: [], type: resourceType }],
  );
}

function advance(elements: Elements, path: Path, step: string): Path[] | undefined {
  const resolved = /^where\(resolve\(\) is (.+)\)$/.exec(step)?.[1];
  if (resolved) return [{ ...path, target: resolved }];
  const where = /^where\((.+)='(.+)'\)$/.exec(step);
  if (where) return [{ ...path, steps: filterLast(path.steps, `[${where[1]}=${where[2]}]`) }];
  const cast = /^(?:as|ofType)\((.+)\)$/.exec(step)?.[1];
  if (cast) return path.type === cast ? [path] : [];
  const [, name = '', index = ''] = /^([A-Za-z]+)(\[\d+\])?$/.exec(step) ?? [];
  return members(elements, path.type, name).map((member) => ({
    steps: [...path.steps, member.name + index],
    type: member.type,
    repeats: path.repeats === true || (member.repeats && index === ''),
  }));
}

function filterLast(steps: readonly string[], filter: string): string[] {
  return [...steps.slice(0, -1), `${steps.at(-1)}${filter}`];
}

interface Member {
  name: string;
  type: string;
  repeats: boolean;
}

/** The member of that name; one for each of its types when it is a choice, as JSON names them. */
function members(elements: Elements, owner: string, name: string): Member[] {
  const plain = elements.get(`${owner}.${name}`);
  const choice = elements.get(`${owner}.${name}[x]`);
  const element = plain ?? choice;
  if (!element) return [];
  const target = element.contentReference?.split('#')[1];
  const repeats = element.max !== '1';
  if (target) return [{ name, type: target, repeats }];
  return (element.type ?? []).map(({ code, extension }) => ({
    repeats,
    name: plain ? name : name + code.charAt(0).toUpperCase() + code.slice(1),
    type: typeOf(element, extension?.find(({ url }) => url.endsWith('fhir-type'))?.valueUrl ?? code),
  }));
}

/** Elements with children of their own are known by their path. */
function typeOf(element: ElementDefinition, code: string): string {
  if (code === 'BackboneElement' || code === 'Element') return element.path;
  return code.replace('http://hl7.org/fhirpath/System.String', 'string');
}
