import { isObject } from '../fields-of.ts';
import { Refusal, type RefusalIssue } from '../refusal.ts';
import { bindingFaults } from './bindings.ts';
import type { Issue } from './core-validator.ts';
import type { Structures } from './element-names.ts';
import { stringifyJson } from './json.ts';
import { membersOf } from './members.ts';
import { narrativeFaults } from './narrative.ts';
import { structures } from './structures.ts';

/**
 * Checks a resource against R4, its required bindings too, or against the definition of one of the own types. Validator and
 * definitions are loaded with the first write, and of the definitions only those of what is in the resource.
 * @throws {Refusal} unprocessable, an issue per fault with the element as expression
 */
export async function requireValid(resource: { resourceType: string }): Promise<void> {
  requireOwnNames(resource, resource.resourceType);
  const { faultsOf, learn } = await import('./core-validator.ts');
  const all = await structures();
  // Exact decimals are objects here; the validator wants plain numbers.
  const plain = JSON.parse(stringifyJson(resource), withoutSpaceInBase64);
  for (const type of typesIn(all, plain)) learn(all.get(type));
  const faults = faultsOf(plain);
  if (faults) throw unprocessable(faults);
  const issues = [...(await bindingFaults(plain)), ...narrativeFaults(plain, plain.resourceType)];
  if (issues.length > 0) throw notValid(issues);
}

/** R4 allows white space in base64Binary, the validator does not. */
function withoutSpaceInBase64(name: string, value: unknown): unknown {
  const mayBeBase64 = typeof value === 'string' && (name === 'data' || name === 'valueBase64Binary');
  return mayBeBase64 && /^[A-Za-z0-9+/=\s]+$/.test(value) ? value.replace(/\s+/g, '') : value;
}

/**
 * The types of a resource and of all that is in it, whether or not it is what the type allows: the validator
 * looks at no others. With a member such as `_birthDate` it looks at an Element.
 */
function typesIn(all: Structures, resource: unknown): Set<string> {
  const found = new Set<string>();
  const look = (value: unknown, declared: string): void => {
    if (!isObject(value)) return;
    const { resourceType } = value;
    // Names that callers make up are not to be kept anywhere.
    const owner = typeof resourceType === 'string' && all.get(resourceType) ? resourceType : declared;
    found.add(owner);
    const members = membersOf(all, owner);
    for (const [name, part] of Object.entries(value)) {
      const type = name.startsWith('_') ? 'Element' : (members.get(name)?.owner ?? '');
      found.add(type);
      for (const one of Array.isArray(part) ? part : [part]) look(one, type);
    }
  };
  look(resource, '');
  return found;
}

function unprocessable(all: readonly Issue[]): Refusal {
  const issues = all
    .filter(({ severity }) => severity !== 'warning' && severity !== 'information')
    .map(({ details, expression }): RefusalIssue => {
      const [at] = expression ?? [];
      return { text: details?.text ?? 'Not valid', ...(at === undefined ? {} : { expression: at }) };
    });
  return notValid(issues);
}

function notValid(issues: readonly RefusalIssue[]): Refusal {
  return new Refusal('unprocessable', 'The resource is not valid', { issues: issues.slice(0, 50) });
}

/**
 * Names that every object has, such as `constructor`, are no elements; the validator would find their
 * definition in its own objects.
 */
function requireOwnNames(value: unknown, at: string): void {
  if (!isObject(value)) return;
  for (const [name, part] of Object.entries(value)) {
    const path = Array.isArray(value) ? `${at}[${name}]` : `${at}.${name}`;
    if (name in Object.prototype) {
      const text = `Invalid additional property "${name}"`;
      throw new Refusal('unprocessable', text, { issues: [{ text, expression: path }] });
    }
    requireOwnNames(part, path);
  }
}
