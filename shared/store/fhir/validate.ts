import { inflateRawSync } from 'node:zlib';
import { stringifyJson } from '../../base/json.ts';
import { Refusal, type RefusalIssue } from '../../base/refusal.ts';
import { fieldsOf, isObject } from '../../base/values.ts';
import type { Structures } from './elements.ts';
import { isEmpty } from './fields.ts';
import { membersOf, structures } from './structures.ts';

type Codes = Readonly<Record<string, readonly string[]>>;

interface ValueSet {
  url: string;
  /** Of any of its systems. */
  codes: ReadonlySet<string>;
  bySystem: ReadonlyMap<string, ReadonlySet<string>>;
}

const knownSets = new Map<string, ValueSet>();
let unpacked: Promise<Readonly<Record<string, Codes>>> | undefined;

/**
 * The codes of a resource that are not of the value set that R4 requires for their element. Of a
 * CodeableConcept one coding must be of it; one that says its meaning as text alone cannot be judged.
 * @returns an issue for each, with the element as expression
 */
async function bindingFaults(resource: { resourceType: string }): Promise<RefusalIssue[]> {
  const all = await structures();
  const bound: { value: unknown; url: string; path: string }[] = [];
  const look = (value: unknown, owner: string, at: string): void => {
    if (!isObject(value)) return;
    const { resourceType } = value;
    const type = typeof resourceType === 'string' ? resourceType : owner;
    const members = membersOf(all, type);
    for (const [name, part] of Object.entries(value)) {
      const member = members.get(name);
      if (!member) continue;
      const several = Array.isArray(part);
      for (const [i, one] of (several ? part : [part]).entries()) {
        const path = several ? `${at}.${name}[${i}]` : `${at}.${name}`;
        if (member.codes !== undefined) bound.push({ value: one, url: member.codes, path });
        look(one, member.owner, path);
      }
    }
  };
  look(resource, resource.resourceType, resource.resourceType);
  if (bound.length === 0) return [];
  const sets = await allSets();
  return bound.flatMap(({ value, url, path }) => {
    const set = setOf(sets, url);
    return isOf(value, set) ? [] : [{ text: textOf(value, set), expression: path }];
  });
}

function isOf(value: unknown, { codes, bySystem }: ValueSet): boolean {
  if (typeof value === 'string') return codes.has(value);
  const { coding } = fieldsOf(value);
  if (!Array.isArray(coding) || coding.length === 0) return true;
  return coding.some((one) => {
    const { system, code } = fieldsOf(one);
    if (typeof code !== 'string') return false;
    return typeof system === 'string' ? bySystem.get(system)?.has(code) === true : codes.has(code);
  });
}

const longestListed = 12;

function textOf(value: unknown, { url, codes }: ValueSet): string {
  const named = typeof value === 'string' ? `${value.slice(0, 100)} is not` : 'None of the codings is';
  const listed = codes.size <= longestListed ? `: ${[...codes].join(', ')}` : '';
  return `${named} of the required value set ${url}${listed}`;
}

function setOf(sets: Readonly<Record<string, Codes>>, url: string): ValueSet {
  const found = knownSets.get(url);
  if (found) return found;
  const systems = Object.entries(sets[url] ?? {});
  const set = {
    url,
    codes: new Set(systems.flatMap(([, codes]) => codes)),
    bySystem: new Map(systems.map(([system, codes]) => [system, new Set(codes)])),
  };
  knownSets.set(url, set);
  return set;
}

function allSets(): Promise<Readonly<Record<string, Codes>>> {
  unpacked ??= import('./value-sets.ts').then(({ valueSets }) =>
    JSON.parse(inflateRawSync(Buffer.from(valueSets, 'base64')).toString('utf8')),
  );
  return unpacked;
}

/** R4 narrative: the elements of XHTML that show text and nothing else. */
const elements = new Set(
  'a abbr acronym b bdo big blockquote br caption center cite code col colgroup dd del dfn dir div dl dt em font h1 h2 h3 h4 h5 h6 hr i img ins kbd li map menu area ol p pre q s samp small span strike strong sub sup table tbody td tfoot th thead tr tt u ul var'.split(
    ' ',
  ),
);

const attribute = `\\s+([A-Za-z_:][-A-Za-z0-9_:.]*)\\s*=\\s*(?:"([^"<]*)"|'([^'<]*)')`;
const tag = new RegExp(`</?([A-Za-z][A-Za-z0-9]*)((?:${attribute})*)\\s*/?>`, 'y');
const comment = /<!--(?:[^-]|-[^-])*-->/y;

/**
 * Narratives that hold more than text: scripts, forms, frames, what reacts to the reader, links that run.
 * @returns an issue for each, with the element as expression
 */
function narrativeFaults(value: unknown, at: string): RefusalIssue[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => {
    const path = Array.isArray(value) ? `${at}[${name}]` : `${at}.${name}`;
    if (name !== 'div' || typeof part !== 'string') return narrativeFaults(part, path);
    const fault = faultOf(part);
    return fault === undefined ? [] : [{ text: `A narrative is text only: ${fault}`, expression: path }];
  });
}

function faultOf(html: string): string | undefined {
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at + 1)) {
    // What browsers take for text is text.
    if (!/[A-Za-z/!?]/.test(html.charAt(at + 1))) continue;
    comment.lastIndex = at;
    if (comment.test(html)) continue;
    tag.lastIndex = at;
    const found = tag.exec(html);
    if (!found) return 'a tag cannot be read';
    const [, name = '', attributes = ''] = found;
    if (!elements.has(name.toLowerCase())) return `the element ${name} is not allowed`;
    for (const [, attributeName = '', double, single] of attributes.matchAll(new RegExp(attribute, 'g'))) {
      if (/^on/i.test(attributeName)) return `the attribute ${attributeName} is not allowed`;
      const isLink = /^(?:href|src|cite|longdesc|background|xlink:href)$/i.test(attributeName);
      if (isLink && !isHarmless(double ?? single ?? '')) return `the link of ${attributeName} is not allowed`;
    }
  }
  return undefined;
}

const harmlessSchemes = new Set(['http', 'https', 'ftp', 'mailto', 'tel', 'urn', 'cid']);

/** A link to elsewhere, or inside; an image in itself. References written as numbers could hide another. */
function isHarmless(link: string): boolean {
  const visible = [...link].filter((one) => one > ' ' && one !== '\u007f');
  const plain = visible.join('').toLowerCase();
  if (plain.includes('&#') || /&(?:colon|tab|newline);/.test(plain)) return false;
  const scheme = /^([^/?#]*?):/.exec(plain)?.[1];
  if (scheme === undefined) return true;
  return harmlessSchemes.has(scheme) || /^data:image\/(?!svg)/.test(plain);
}

/** More of a resource are not looked for. */
const mostFaults = 50;

/** Of a rule of R4 that looks at one element, in comparisons; so many of each resource are in the price of a write. */
const comparisonsOfRule = 50;
const usualRules = 200;

/**
 * Checks a resource against R4, its required bindings too, or against the definition of one of the own types. Validator and
 * definitions are loaded with the first write, and of the definitions only those of what is in the resource.
 * @param spend is told, in comparisons, what it takes beyond what is usual, before it is done
 * @throws {Refusal} unprocessable, an issue per fault with the element as expression
 */
export async function requireValid(
  resource: { resourceType: string },
  spend: (comparisons: number) => void,
): Promise<void> {
  // Exact decimals are objects here; the validator wants plain numbers.
  const plain = JSON.parse(stringifyJson(resource));
  const empty: RefusalIssue[] = [];
  prepare(plain, resource.resourceType, empty);
  if (empty.length > 0) throw notValid(empty);
  const { faultsOf, learn } = await import('./core-validator.ts');
  const all = await structures();
  const { types, rules } = typesIn(all, plain);
  spend(Math.max(0, rules - usualRules) * comparisonsOfRule);
  for (const type of types) learn(all.get(type));
  const faults = faultsOf(plain);
  if (faults) throw notValid(faults);
  const issues = [...(await bindingFaults(plain)), ...narrativeFaults(plain, plain.resourceType)];
  if (issues.length > 0) throw notValid(issues);
}

/**
 * The types of a resource and of all that is in it, whether or not it is what the type allows: the validator
 * looks at no others. With a member such as `_birthDate` it looks at an Element. And how many rules it looks at: each
 * entry of a list is looked at by one at least.
 */
function typesIn(all: Structures, resource: unknown): { types: Set<string>; rules: number } {
  const types = new Set<string>();
  let rules = 0;
  const look = (value: unknown, declared: string): void => {
    if (!isObject(value)) return;
    const { resourceType } = value;
    // Names that callers make up are not to be kept anywhere.
    const owner = typeof resourceType === 'string' && all.get(resourceType) ? resourceType : declared;
    types.add(owner);
    rules += 1 + rulesOf(all, owner);
    const members = membersOf(all, owner);
    for (const [name, part] of Object.entries(value)) {
      const type = name.startsWith('_') ? 'Element' : (members.get(name)?.owner ?? '');
      types.add(type);
      if (Array.isArray(part)) rules += part.filter((one) => !isObject(one)).length;
      for (const one of Array.isArray(part) ? part : [part]) look(one, type);
    }
  };
  look(resource, '');
  return { types, rules };
}

/** By the type or path of a definition: of these there are so many. */
const ruleCounts = new Map<string, number>();

function rulesOf(all: Structures, owner: string): number {
  const known = ruleCounts.get(owner);
  if (known !== undefined) return known;
  const elements = all.get(owner.split('.')[0] ?? '')?.snapshot.element ?? [];
  const count = elements.find(({ path }) => path === owner)?.constraint?.length ?? 0;
  ruleCounts.set(owner, count);
  return count;
}

/** A 422 for one element. */
export function unprocessableField(expression: string, text: string): Refusal {
  return new Refusal('unprocessable', text, { issues: [{ text, expression }] });
}

function notValid(issues: readonly RefusalIssue[]): Refusal {
  return new Refusal('unprocessable', 'The resource is not valid', { issues: issues.slice(0, mostFaults) });
}

/**
 * What the validator does not look for: elements that hold nothing, empty strings among them. Names that every object has,
 * such as `constructor`, are no elements; the validator would find their definition in its own objects. White space in
 * base64Binary, which R4 allows and the validator does not, is taken out.
 * @param value plain, and changed
 * @param found is given what is empty
 */
function prepare(value: unknown, at: string, found: RefusalIssue[]): void {
  if (!isObject(value) || found.length >= mostFaults) return;
  if (isEmpty(value)) found.push({ text: 'An element that holds nothing is left out', expression: at });
  for (const [name, part] of Object.entries(value)) {
    const path = Array.isArray(value) ? `${at}[${name}]` : `${at}.${name}`;
    if (name in Object.prototype) {
      throw unprocessableField(path, `Invalid additional property "${name}"`);
    }
    const mayBeBase64 = typeof part === 'string' && (name === 'data' || name === 'valueBase64Binary');
    // A Binary may be a file of no bytes.
    if (part === '' && path !== 'Binary.data')
      found.push({ text: 'An element without a value is left out', expression: path });
    if (mayBeBase64 && /^[A-Za-z0-9+/=\s]+$/.test(part)) value[name] = part.replace(/\s+/g, '');
    else prepare(part, path, found);
  }
}
