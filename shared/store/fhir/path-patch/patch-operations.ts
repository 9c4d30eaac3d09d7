import { fieldsOf } from '../../../base/values.ts';
import type { Element } from '../elements.ts';
import type { PatchOperation } from '../json-patch.ts';
import { elementOf } from '../structures.ts';
import { findPath, invalid, type Node } from './find-path.ts';
import type { PathOperation, PathValue } from './parse-path-patch.ts';

/**
 * What one operation of a FHIRPath Patch does to a resource as it stands, as a JSON Patch.
 * @throws {Refusal} invalid when the path leads nowhere, or to several elements
 */
export async function patchOperations(
  resource: unknown,
  type: string,
  operation: PathOperation,
): Promise<PatchOperation[]> {
  const { path } = operation;
  const { nodes, last } = await findPath(resource, type, path);
  switch (operation.type) {
    case 'add':
      return addTo(only(nodes, path), operation.name, operation.value);
    case 'replace': {
      const node = only(nodes, path);
      return [{ op: 'replace', path: node.pointer, value: await built(operation.value, node.owner) }];
    }
    case 'delete':
      return nodes.length === 0 ? [] : [{ op: 'remove', path: only(nodes, path).pointer }];
    default: {
      const { parent, element } = last ?? {};
      const property = element?.isList ? element.members[0]?.property : undefined;
      if (!parent || property === undefined) throw invalid(`${path} is no list`);
      const list = `${parent.pointer}/${property}`;
      if (operation.type === 'move') {
        return [
          { op: 'move', from: `${list}/${operation.source}`, path: `${list}/${operation.destination}` },
        ];
      }
      const one = await built(operation.value, element?.members[0]?.owner ?? '');
      if (nodes.length === 0 && operation.index === 0) return [{ op: 'add', path: list, value: [one] }];
      return [{ op: 'add', path: `${list}/${operation.index}`, value: one }];
    }
  }
}

async function addTo(parent: Node, name: string, value: PathValue): Promise<PatchOperation[]> {
  const element = await elementOf(parent.owner, name);
  const member = element && memberFor(element, value);
  if (!element || !member) throw invalid(`${parent.owner} has no element ${name} of this type`);
  const path = `${parent.pointer}/${member.property}`;
  const one = await built(value, member.owner);
  const held = element.members.filter(({ property }) => Object.hasOwn(fieldsOf(parent.value), property));
  if (held.length > 0 && !element.isList) throw invalid(`${parent.owner} has ${name} already`);
  if (!element.isList) return [{ op: 'add', path, value: one }];
  return held.length > 0
    ? [{ op: 'add', path: `${path}/-`, value: one }]
    : [{ op: 'add', path, value: [one] }];
}

/** Of an element that may have several types, the one of the value. */
function memberFor({ name, members }: Element, value: PathValue): Element['members'][number] | undefined {
  if (!name.endsWith('[x]')) return members[0];
  const property = 'type' in value ? name.slice(0, -3) + value.type : '';
  return members.find((one) => one.property === property);
}

/** @param owner the type or path of the element's definition */
async function built(value: PathValue, owner: string): Promise<unknown> {
  if ('type' in value) return value.value;
  const object: Record<string, unknown> = {};
  for (const { name, value: inner } of value.members) {
    const element = await elementOf(owner, name);
    const member = element && memberFor(element, inner);
    if (!element || !member) throw invalid(`${owner} has no element ${name} of this type`);
    const one = await built(inner, member.owner);
    const before = [object[member.property] ?? []].flat();
    object[member.property] = element.isList ? [...before, one] : one;
  }
  return object;
}

function only(nodes: readonly Node[], path: string): Node {
  const [node, other] = nodes;
  if (node && !other) return node;
  throw invalid(`${path} must lead to one element, and leads to ${nodes.length}`);
}
