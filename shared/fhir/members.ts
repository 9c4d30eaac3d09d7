import type { Structures } from './element-names.ts';

/** A member of an object: where its own members are defined, and which codes it may have. */
interface Member {
  owner: string;
  codes: string | undefined;
}

/** By owner, a type or the path of an element with members of its own: the members that JSON may name. */
const known = new Map<string, ReadonlyMap<string, Member>>();

/** Of a type, or of the path of an element with members of its own. */
export function membersOf(all: Structures, owner: string): ReadonlyMap<string, Member> {
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
