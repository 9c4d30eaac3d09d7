import { isObject } from '../fields-of.ts';
import { longestBodyBytes } from '../limits.ts';
import { Refusal, type RefusalIssue } from '../refusal.ts';
import { bindingFaults } from './bindings.ts';
import type { StructureDefinition } from './element-names.ts';
import { stringifyJson } from './json.ts';
import { narrativeFaults } from './narrative.ts';
import { structures } from './structures.ts';

/** Types whose definitions the validator has; the rest wait in their text. */
const loaded = new Set<string>();
let waiting: ReadonlyMap<string, StructureDefinition> | undefined;

/**
 * Checks a resource against R4, its required bindings too, or against the definition of one of the own types. Validator and
 * definitions are loaded with the first write, and of the definitions only the types it holds.
 * @throws {Refusal} unprocessable, an issue per fault with the element as expression
 */
export async function requireValid(resource: { resourceType: string }): Promise<void> {
  requireOwnNames(resource, resource.resourceType);
  const { loadDataType, OperationOutcomeError, validateResource } = await import('@medplum/core');
  waiting ??= await structures();
  // Exact decimals are objects here; the validator wants plain numbers.
  const plain = JSON.parse(stringifyJson(resource), withoutSpaceInBase64);
  for (const type of typesIn(plain)) load(type, loadDataType as (definition: never) => void);
  try {
    validateResource(plain, { base64BinaryMaxBytes: longestBodyBytes });
  } catch (error) {
    if (!(error instanceof OperationOutcomeError)) throw error;
    throw unprocessable(error.outcome.issue);
  }
  const issues = [...(await bindingFaults(plain)), ...narrativeFaults(plain, plain.resourceType)];
  if (issues.length > 0) throw notValid(issues);
}

/** R4 allows white space in base64Binary, the validator does not. */
function withoutSpaceInBase64(name: string, value: unknown): unknown {
  const mayBeBase64 = typeof value === 'string' && (name === 'data' || name === 'valueBase64Binary');
  return mayBeBase64 && /^[A-Za-z0-9+/=\s]+$/.test(value) ? value.replace(/\s+/g, '') : value;
}

function load(type: string, loadDataType: (definition: never) => void): void {
  if (loaded.has(type)) return;
  loaded.add(type);
  const definition = waiting?.get(type);
  if (!definition) return;
  loadDataType(definition as never);
  for (const element of definition.snapshot.element) {
    for (const { code } of element.type ?? []) load(code, loadDataType);
  }
}

/** The resource types inside: its own, and those of contained resources and of a Bundle's entries. */
function typesIn(value: unknown, found = new Set<string>()): Set<string> {
  if (!isObject(value)) return found;
  const { resourceType } = value;
  if (typeof resourceType === 'string') found.add(resourceType);
  for (const part of Object.values(value)) typesIn(part, found);
  return found;
}

interface Issue {
  severity?: string;
  details?: { text?: string | undefined } | undefined;
  expression?: string[] | undefined;
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
