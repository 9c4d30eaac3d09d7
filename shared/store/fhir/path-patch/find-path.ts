import { isDeepStrictEqual } from 'node:util';
import { Refusal } from '../../../base/refusal.ts';
import { fieldsOf, isObject } from '../../../base/values.ts';
import type { Element } from '../elements.ts';
import { elementOf } from '../structures.ts';

/** A place in a resource. */
export interface Node {
  value: unknown;
  /** As a JSON Patch says it (RFC 6901). */
  pointer: string;
  /** The type or path of its definition. */
  owner: string;
}

/** What a path leads to, and the list or element that its last step names. */
export interface Found {
  nodes: Node[];
  /** The one that holds what the last name of the path says; undefined when there is not exactly one. */
  last: { parent: Node; element: Element } | undefined;
}

type Step =
  | { kind: 'name'; name: string }
  | { kind: 'at'; index: number }
  | { kind: 'where'; path: readonly string[]; value: unknown };

const longestPath = 1000;
const form =
  /^(?:\.?([A-Za-z][A-Za-z0-9]*)(?![A-Za-z0-9(])|\[(\d{1,6})\]|\.(first|last)\(\)|\.where\(\s*([A-Za-z.]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|(true|false|\d{1,9}))\s*\))/;

/**
 * Where a path of a FHIRPath Patch leads. Of FHIRPath the simple subset is read that R4 asks for: names,
 * positions, `first()`, `last()`, and `where(element = value)`.
 * @throws {Refusal} invalid for a path of another form, or elements that the type does not have
 */
export async function findPath(resource: unknown, type: string, path: string): Promise<Found> {
  const [root, ...steps] = parsePath(path);
  if (root?.kind !== 'name' || root.name !== type) throw invalid(`${path} must begin with ${type}`);
  let nodes: Node[] = [{ value: resource, pointer: '', owner: type }];
  let last: Found['last'];
  for (const step of steps) {
    if (step.kind === 'at') nodes = nodes.slice(step.index).slice(0, 1);
    else if (step.kind === 'where') nodes = nodes.filter(({ value }) => holds(value, step));
    else {
      const [parent] = nodes;
      if (!parent) return { nodes, last: undefined };
      const element = await requireElement(parent.owner, step.name);
      last = nodes.length === 1 ? { parent, element } : undefined;
      nodes = nodes.flatMap((node) => childrenOf(node, element));
    }
  }
  return { nodes, last };
}

function parsePath(path: string): Step[] {
  if (path.length > longestPath) throw invalid('A path is longer than 1,000 characters');
  const steps: Step[] = [];
  for (let rest = path; rest !== ''; ) {
    const found = form.exec(rest);
    if (!found)
      throw invalid(`The path ${path} cannot be read: names, [0], first(), last() and where(a = 'b') can`);
    const [all, name, index, end, where, text, plain] = found;
    rest = rest.slice(all.length);
    if (name !== undefined) steps.push({ kind: 'name', name });
    else if (index !== undefined) steps.push({ kind: 'at', index: Number(index) });
    else if (end !== undefined) steps.push({ kind: 'at', index: end === 'first' ? 0 : -1 });
    else {
      const value = text === undefined ? JSON.parse(plain ?? 'null') : text.replace(/\\(.)/g, '$1');
      steps.push({ kind: 'where', path: (where ?? '').split('.'), value });
    }
  }
  return steps;
}

function holds(value: unknown, { path, value: wanted }: Extract<Step, { kind: 'where' }>): boolean {
  let found: unknown[] = [value];
  for (const name of path) found = found.flatMap((one) => [fieldsOf(one)[name]].flat());
  return found.some((one) => isDeepStrictEqual(one, wanted));
}

async function requireElement(owner: string, name: string): Promise<Element> {
  const element = await elementOf(owner, name);
  if (!element) throw invalid(`${owner} has no element ${name}`);
  return element;
}

function childrenOf({ value, pointer }: Node, { members }: Element): Node[] {
  if (!isObject(value)) return [];
  return members.flatMap(({ property, owner }) => {
    if (!Object.hasOwn(value, property)) return [];
    const found = value[property];
    const at = `${pointer}/${property}`;
    if (!Array.isArray(found)) return [{ value: found, pointer: at, owner }];
    return found.map((one, i) => ({ value: one, pointer: `${at}/${i}`, owner }));
  });
}

export function invalid(text: string): Refusal {
  return new Refusal('invalid', text);
}
