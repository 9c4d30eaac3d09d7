/** What is kept of an R4 StructureDefinition (`infra/definitions/trim-definitions.ts`). */
export interface StructureDefinition {
  name: string;
  snapshot: { element: StructureElement[] };
}

interface StructureElement {
  path: string;
  min?: number;
  max?: string;
  isSummary?: boolean;
  contentReference?: string;
  /** The URL of the value set that a code must be from. */
  codes?: string;
  type?: { code: string; targetProfile?: string[] }[];
}

/** By name. */
export interface Structures {
  get(name: string): StructureDefinition | undefined;
}

/**
 * Each is parsed when it is first asked for: of some hundred types a request needs a few.
 * @param text the unpacked lines of definitions.ts
 */
export function structuresIn(text: string): Structures {
  const lines = new Map<string, string>();
  for (const line of text.split('\n')) {
    const end = line.indexOf(' ');
    lines.set(line.slice(0, end), line.slice(end));
  }
  const parsed = new Map<string, StructureDefinition>();
  return {
    get(name) {
      const line = lines.get(name);
      if (line !== undefined) {
        parsed.set(name, JSON.parse(line) as StructureDefinition);
        lines.delete(name);
      }
      return parsed.get(name);
    },
  };
}

/** Whether a type has an element: `birthDate`, `name.family`, `deceasedBoolean`, `deceased[x]`. Pure. */
export function hasElementIn(all: Structures, type: string, path: string): boolean {
  let owners: readonly string[] = [type];
  for (const name of path.split('.')) owners = owners.flatMap((owner) => members(all, owner, name));
  return owners.length > 0;
}

/** What a policy never closes, and what has no use in one. */
const unnamed = new Set(['id', 'meta', 'implicitRules', 'extension', 'modifierExtension', 'contained']);

/**
 * The names of a type's elements, and of what is in them one level below: `birthDate`, `name`, `name.family`.
 * Without what every type has.
 */
export function elementNames(all: Structures, type: string): string[] {
  return namesOf(all, type).flatMap((name) => {
    const owners = members(all, type, name).filter((owner) => /^[A-Z]/.test(owner));
    const parts = owners.flatMap((owner) => namesOf(all, owner));
    return [name, ...new Set(parts.map((part) => `${name}.${part}`))];
  });
}

function namesOf(all: Structures, owner: string): string[] {
  const elements = all.get(owner.split('.')[0] ?? '')?.snapshot.element ?? [];
  return elements.flatMap(({ path }) => {
    const name = path.startsWith(`${owner}.`) ? path.slice(owner.length + 1) : '';
    return name === '' || name.includes('.') || unnamed.has(name) ? [] : [name];
  });
}

/** The types of a member; the path itself where the member has members of its own. */
export function members(all: Structures, owner: string, name: string): readonly string[] {
  const elements = all.get(owner.split('.')[0] ?? '')?.snapshot.element ?? [];
  return elements.flatMap((element) => {
    const { path, type = [], contentReference } = element;
    const stem = path.endsWith('[x]') ? path.slice(0, -3) : undefined;
    const codes = type.map(({ code }) => code);
    if (stem !== undefined && path !== `${owner}.${name}`) {
      return codes.filter(
        (code) => `${stem}${code.charAt(0).toUpperCase()}${code.slice(1)}` === `${owner}.${name}`,
      );
    }
    if (path !== `${owner}.${name}`) return [];
    if (contentReference) return [contentReference.split('#')[1] ?? ''];
    return codes.some((code) => code === 'BackboneElement' || code === 'Element') ? [path] : codes;
  });
}
