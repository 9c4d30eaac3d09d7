import { isDeepStrictEqual } from 'node:util';
import { invalidField, Refusal } from '../../base/refusal.ts';
import { fieldsOf, isObject } from '../../base/values.ts';
import type { Element } from './elements.ts';
import type { PatchOperation } from './json-patch.ts';
import { elementOf } from './structures.ts';

/** One operation of a FHIRPath Patch (R4 fhirpatch). */
export type PathOperation = { path: string } & (
  | { type: 'add'; name: string; value: PathValue }
  | { type: 'insert'; index: number; value: PathValue }
  | { type: 'delete' }
  | { type: 'replace'; value: PathValue }
  | { type: 'move'; source: number; destination: number }
);

/** A value of a data type, or the members of an element that has no type of its own. */
type PathValue =
  | { type: string; value: unknown }
  | { members: readonly { name: string; value: PathValue }[] };

const types = ['add', 'insert', 'delete', 'replace', 'move'] as const;
const mostOperations = 100;
const deepestValue = 10;

interface PatchParameter {
  name?: unknown;
  part?: unknown;
  [value: string]: unknown;
}

/**
 * Without operations it changes nothing.
 * @throws {Refusal} invalid, with the place in the Parameters as expression
 */
export function parsePathPatch({ parameter = [] }: { parameter?: unknown }): PathOperation[] {
  const all = listOf(parameter);
  if (!Array.isArray(parameter) || all.length < parameter.length)
    throw invalidField('Parameters.parameter', 'A FHIRPath Patch has operations as its parameters');
  if (all.length > mostOperations) {
    throw invalid(`A FHIRPath Patch holds at most ${mostOperations} operations`);
  }
  return all.map((one, i) => parseOperation(one, `Parameters.parameter[${i}]`));
}

function parseOperation({ name, part }: PatchParameter, at: string): PathOperation {
  if (name !== 'operation') throw invalidField(at, 'Each parameter must be an operation');
  const parts = new Map(listOf(part).map((one) => [one.name, one]));
  const text = (which: string) => {
    const found = parts.get(which);
    const value = found?.valueString ?? found?.valueCode;
    return typeof value === 'string' ? value : undefined;
  };
  const type = types.find((one) => one === text('type'));
  const path = text('path');
  if (!type) throw invalidField(at, `type must be one of ${types.join(', ')}`);
  if (path === undefined) throw invalidField(at, 'An operation needs a path');
  const number = (which: string) => {
    const value = parts.get(which)?.valueInteger;
    if (Number.isInteger(value) && Number(value) >= 0) return Number(value);
    throw invalidField(at, `${type} needs ${which}`);
  };
  const readValue = () => {
    const value = parts.get('value');
    if (!value) throw invalidField(at, `${type} needs a value`);
    return parseValue(value, at, 0);
  };
  switch (type) {
    case 'add': {
      const name = text('name');
      if (name === undefined) throw invalidField(at, 'add needs the name of an element');
      return { type, path, name, value: readValue() };
    }
    case 'insert':
      return { type, path, value: readValue(), index: number('index') };
    case 'delete':
      return { type, path };
    case 'replace':
      return { type, path, value: readValue() };
    case 'move':
      return { type, path, source: number('source'), destination: number('destination') };
  }
}

function parseValue(parameter: PatchParameter, at: string, depth: number): PathValue {
  const [name, value] =
    Object.entries(parameter).find(([key]) => /^value[A-Z]/.test(key)) ??
    (parameter.resource === undefined ? [] : ['valueResource', parameter.resource]);
  if (name !== undefined) return { type: name.slice('value'.length), value };
  const parts = listOf(parameter.part);
  if (parts.length === 0 || depth > deepestValue) throw invalidField(at, 'The value cannot be read');
  return {
    members: parts.map((part) => {
      if (typeof part.name !== 'string') throw invalidField(at, 'A part needs a name');
      return { name: part.name, value: parseValue(part, at, depth + 1) };
    }),
  };
}

function listOf(value: unknown): PatchParameter[] {
  if (!Array.isArray(value)) return [];
  return value.filter((one) => typeof one === 'object' && one !== null);
}

/**
 * What one operation of a FHIRPath Patch does to a resource as it stands, as a JSON Patch.
 * @param spend is told how many elements are looked at, before each step of the path
 * @throws {Refusal} invalid when the path leads nowhere, or to several elements
 */
export async function patchOperations(
  resource: unknown,
  type: string,
  operation: PathOperation,
  spend: (elements: number) => void,
): Promise<PatchOperation[]> {
  const { path } = operation;
  const { nodes, last } = await findPath(resource, type, path, spend);
  switch (operation.type) {
    case 'add':
      return addTo(only(nodes, path), operation.name, operation.value, spend);
    case 'replace': {
      const node = only(nodes, path);
      return [{ op: 'replace', path: node.pointer, value: await built(operation.value, node.owner, spend) }];
    }
    case 'delete':
      return nodes.length === 0 ? [] : [{ op: 'remove', path: only(nodes, path).pointer }];
    default: {
      const member = last?.element.isList ? last.element.members[0] : undefined;
      if (!last || !member) throw invalid(`${path} is no list`);
      const list = `${last.parent.pointer}/${member.property}`;
      if (operation.type === 'move') {
        const { source, destination } = operation;
        return [{ op: 'move', from: `${list}/${source}`, path: `${list}/${destination}` }];
      }
      const one = await built(operation.value, member.owner, spend);
      if (nodes.length === 0 && operation.index === 0) return [{ op: 'add', path: list, value: [one] }];
      return [{ op: 'add', path: `${list}/${operation.index}`, value: one }];
    }
  }
}

async function addTo(
  parent: Node,
  name: string,
  value: PathValue,
  spend: (elements: number) => void,
): Promise<PatchOperation[]> {
  const { element, member } = await requireMember(parent.owner, name, value);
  const path = `${parent.pointer}/${member.property}`;
  const one = await built(value, member.owner, spend);
  const held = element.members.filter(({ property }) => Object.hasOwn(fieldsOf(parent.value), property));
  if (held.length > 0 && !element.isList) throw invalid(`${parent.owner} has ${name} already`);
  if (!element.isList) return [{ op: 'add', path, value: one }];
  return held.length > 0
    ? [{ op: 'add', path: `${path}/-`, value: one }]
    : [{ op: 'add', path, value: [one] }];
}

/** An element, and of one that may have several types the member for the type of the value. */
async function requireMember(owner: string, name: string, value: PathValue) {
  const element = await elementOf(owner, name);
  const property = 'type' in value ? element?.name.replace('[x]', value.type) : '';
  const isChoice = element?.name.endsWith('[x]');
  const member = isChoice ? element?.members.find((one) => one.property === property) : element?.members[0];
  if (element && member) return { element, member };
  throw invalid(`${owner} has no element ${name} of this type`);
}

/** @param owner the type or path of the element's definition */
async function built(value: PathValue, owner: string, spend: (elements: number) => void): Promise<unknown> {
  if ('type' in value) return value.value;
  spend(value.members.length);
  const lists = new Map<string, unknown[]>();
  const object: Record<string, unknown> = {};
  for (const { name, value: inner } of value.members) {
    const { element, member } = await requireMember(owner, name, inner);
    const one = await built(inner, member.owner, spend);
    const list = lists.get(member.property) ?? [];
    if (element.isList) lists.set(member.property, list);
    list.push(one);
    object[member.property] = element.isList ? list : one;
  }
  return object;
}

function only(nodes: readonly Node[], path: string): Node {
  const [node, other] = nodes;
  if (node && !other) return node;
  throw invalid(`${path} must lead to one element, and leads to ${nodes.length}`);
}

interface Node {
  value: unknown;
  /** As a JSON Patch says it (RFC 6901). */
  pointer: string;
  /** The type or path of its definition. */
  owner: string;
}

/** What holds that which the last name of a path says; none when there is not exactly one. */
interface Last {
  parent: Node;
  element: Element;
}

type PathStep =
  | { kind: 'name'; name: string }
  | { kind: 'at'; index: number }
  | { kind: 'where'; path: readonly string[]; value: unknown };

const longestPath = 1000;
const stepForm =
  /^(?:\.?([A-Za-z][A-Za-z0-9]*)(?![A-Za-z0-9(])|\[(\d{1,6})\]|\.(first|last)\(\)|\.where\(\s*([A-Za-z.]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|(true|false|\d{1,9}))\s*\))/;

/**
 * Where a path of a FHIRPath Patch leads. Of FHIRPath the simple subset is read that R4 asks for: names,
 * positions, `first()`, `last()`, and `where(element = value)`.
 * @throws {Refusal} invalid for a path of another form, or elements that the type does not have
 */
async function findPath(
  resource: unknown,
  type: string,
  path: string,
  spend: (elements: number) => void,
): Promise<{ nodes: Node[]; last: Last | undefined }> {
  const [root, ...steps] = parsePath(path);
  if (root?.kind !== 'name' || root.name !== type) throw invalid(`${path} must begin with ${type}`);
  let nodes: Node[] = [{ value: resource, pointer: '', owner: type }];
  let last: Last | undefined;
  for (const step of steps) {
    spend(nodes.length * (step.kind === 'where' ? step.path.length : 1));
    if (step.kind === 'at') nodes = nodes.slice(step.index).slice(0, 1);
    else if (step.kind === 'where') nodes = nodes.filter(({ value }) => holds(value, step, spend));
    else {
      const [parent] = nodes;
      if (!parent) return { nodes, last: undefined };
      const element = await elementOf(parent.owner, step.name);
      if (!element) throw invalid(`${parent.owner} has no element ${step.name}`);
      last = nodes.length === 1 ? { parent, element } : undefined;
      nodes = nodes.flatMap((node) => childrenOf(node, element));
    }
  }
  return { nodes, last };
}

function parsePath(path: string): PathStep[] {
  if (path.length > longestPath) throw invalid('A path is longer than 1,000 characters');
  const steps: PathStep[] = [];
  for (let rest = path; rest !== ''; ) {
    const found = stepForm.exec(rest);
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

function holds(
  value: unknown,
  { path, value: wanted }: Extract<PathStep, { kind: 'where' }>,
  spend: (elements: number) => void,
): boolean {
  let found: unknown[] = [value];
  for (const name of path) {
    // Each name of a list leads to all that its entries hold.
    found = found.flatMap((one) => fieldsOf(one)[name] ?? []);
    spend(found.length);
  }
  return found.some((one) => isDeepStrictEqual(one, wanted));
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

function invalid(text: string): Refusal {
  return new Refusal('invalid', text);
}
