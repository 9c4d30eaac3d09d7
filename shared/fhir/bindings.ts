import { inflateRawSync } from 'node:zlib';
import { fieldsOf, isObject } from '../fields-of.ts';
import type { RefusalIssue } from '../refusal.ts';
import type { StructureDefinition } from './element-names.ts';
import { structures } from './structures.ts';

type Codes = Readonly<Record<string, readonly string[]>>;

/** A value set, ready to be asked. */
interface ValueSet {
  url: string;
  /** Of any of its systems. */
  codes: ReadonlySet<string>;
  bySystem: ReadonlyMap<string, ReadonlySet<string>>;
}

/** A member of an object: where its own members are defined, and which codes it may have. */
interface Member {
  owner: string;
  codes: string | undefined;
}

/** By owner, a type or the path of an element with members of its own: the members that JSON may name. */
const known = new Map<string, ReadonlyMap<string, Member>>();
const knownSets = new Map<string, ValueSet>();
let unpacked: Promise<Readonly<Record<string, Codes>>> | undefined;

/**
 * The codes of a resource that are not of the value set that R4 requires for their element. Of a
 * CodeableConcept one coding must be of it; one that says its meaning as text alone cannot be judged.
 * @returns an issue for each, with the element as expression
 */
export async function bindingFaults(resource: { resourceType: string }): Promise<RefusalIssue[]> {
  const all = await structures();
  const sets = await allSets();
  const issues: RefusalIssue[] = [];
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
        const set = member.codes === undefined ? undefined : setOf(sets, member.codes);
        if (set && !isOf(one, set)) issues.push({ text: textOf(one, set), expression: path });
        look(one, member.owner, path);
      }
    }
  };
  look(resource, resource.resourceType, resource.resourceType);
  return issues;
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

function membersOf(
  all: ReadonlyMap<string, StructureDefinition>,
  owner: string,
): ReadonlyMap<string, Member> {
  const found = known.get(owner);
  if (found) return found;
  const elements = all.get(owner.split('.')[0] ?? '')?.snapshot.element ?? [];
  const members = new Map<string, Member>();
  for (const { path, type = [], contentReference, codes } of elements) {
    if (!path.startsWith(`${owner}.`) || path.slice(owner.length + 1).includes('.')) continue;
    const name = path.slice(owner.length + 1);
    if (name.endsWith('[x]')) {
      const stem = name.slice(0, -3);
      for (const { code } of type) {
        members.set(`${stem}${code.charAt(0).toUpperCase()}${code.slice(1)}`, { owner: code, codes });
      }
      continue;
    }
    const code = type[0]?.code ?? '';
    const isOwn = code === 'BackboneElement' || code === 'Element';
    members.set(name, { owner: contentReference?.split('#')[1] ?? (isOwn ? path : code), codes });
  }
  known.set(owner, members);
  return members;
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
