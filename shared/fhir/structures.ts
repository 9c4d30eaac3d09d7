import { inflateRawSync } from 'node:zlib';
import { hasElementIn, members, type Structures, structuresIn } from './element-names.ts';

let known: Promise<Structures> | undefined;

/** All definitions by name, unpacked when first asked for, each parsed when it is. */
export function structures(): Promise<Structures> {
  known ??= unpack();
  return known;
}

async function unpack(): Promise<Structures> {
  const { definitions } = await import('./definitions.ts');
  return structuresIn(inflateRawSync(Buffer.from(definitions, 'base64')).toString('utf8'));
}

/** Whether a type has an element: `birthDate`, `name.family`, `deceasedBoolean`, `deceased[x]`. */
export async function hasElement(type: string, path: string): Promise<boolean> {
  return hasElementIn(await structures(), type, path);
}

/** An element of a type or of a part of one. */
export interface Element {
  isList: boolean;
  /** How JSON names it, by type where it may have several, and the definition of what is there. */
  members: readonly { property: string; owner: string }[];
  /** What the names of its types begin with, where it may have several. */
  choice?: string;
}

/** @param owner a type, `HumanName`, or the path of an element with members of its own, `Patient.contact` */
export async function elementOf(owner: string, name: string): Promise<Element | undefined> {
  const all = await structures();
  const elements = all.get(owner.split('.')[0] ?? '')?.snapshot.element ?? [];
  const plain = elements.find(({ path }) => path === `${owner}.${name}`);
  const open = elements.find(({ path }) => path === `${owner}.${name}[x]`);
  if (plain) {
    const [target] = members(all, owner, name);
    return {
      isList: plain.max === '*' || Number(plain.max) > 1,
      members: [{ property: name, owner: target ?? '' }],
    };
  }
  if (!open) return undefined;
  const types = (open.type ?? []).map(({ code }) => code);
  const properties = types.map((code) => ({
    property: `${name}${code.charAt(0).toUpperCase()}${code.slice(1)}`,
    owner: code,
  }));
  return { isList: false, members: properties, choice: name };
}

/**
 * The types that a reference or canonical may lead to.
 * @param names of elements, as JSON names them, from the resource on
 * @returns undefined when it may be any
 */
export async function targetsOf(type: string, names: readonly string[]): Promise<string[] | undefined> {
  const all = await structures();
  let owners: readonly string[] = [type];
  for (const name of names.slice(0, -1)) owners = owners.flatMap((owner) => members(all, owner, name));
  const last = names.at(-1) ?? '';
  const profiles = owners.flatMap((owner) => {
    const elements = all.get(owner.split('.')[0] ?? '')?.snapshot.element ?? [];
    const at = `${owner}.${last}`;
    const found = elements.filter(
      ({ path }) => path === at || (path.endsWith('[x]') && at.startsWith(path.slice(0, -3))),
    );
    return found.flatMap(({ type: types = [] }) => types.flatMap(({ targetProfile = [] }) => targetProfile));
  });
  const targets = [...new Set(profiles.map((profile) => profile.split('/').at(-1) ?? ''))];
  return targets.length === 0 || targets.includes('Resource') ? undefined : targets;
}
