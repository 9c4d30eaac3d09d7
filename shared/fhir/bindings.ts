import { inflateRawSync } from 'node:zlib';
import { fieldsOf, isObject } from '../fields-of.ts';
import type { RefusalIssue } from '../refusal.ts';
import { membersOf } from './members.ts';
import { structures } from './structures.ts';

type Codes = Readonly<Record<string, readonly string[]>>;

/** A value set, ready to be asked. */
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
export async function bindingFaults(resource: { resourceType: string }): Promise<RefusalIssue[]> {
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
