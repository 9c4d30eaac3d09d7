/** What is kept of an R4 StructureDefinition (`infra/definitions/generate.ts`). */
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
  /** Its rules, in FHIRPath. */
  constraint?: { key: string; expression: string }[];
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

/** An element of a type, or of an element with members of its own. */
export interface Element {
  /** As FHIR names it; the name of a choice ends in `[x]`. */
  name: string;
  /** How JSON names it, and the type or path of what is there: of a choice one for each of its types. */
  members: readonly { property: string; owner: string }[];
  isList: boolean;
  isRequired: boolean;
  isSummary: boolean;
  /** The URL of the value set that a code must be from. */
  codes: string | undefined;
  /** The profiles of what a reference or canonical may lead to. */
  targets: readonly string[];
}

const known = new WeakMap<StructureDefinition, Map<string, readonly Element[]>>();

/** @param owner a type, `HumanName`, or the path of an element with members of its own, `Patient.contact` */
export function elementsOf(all: Structures, owner: string): readonly Element[] {
  const definition = all.get(owner.split('.')[0] ?? '');
  if (!definition) return [];
  const byOwner = known.get(definition) ?? new Map<string, readonly Element[]>();
  const found =
    byOwner.get(owner) ??
    definition.snapshot.element.flatMap((one) => {
      const name = one.path.startsWith(`${owner}.`) ? one.path.slice(owner.length + 1) : '';
      return name === '' || name.includes('.') ? [] : [elementFrom(name, one)];
    });
  known.set(definition, byOwner.set(owner, found));
  return found;
}

function elementFrom(name: string, element: StructureElement): Element {
  const { path, min = 0, max, isSummary = false, contentReference, codes, type = [] } = element;
  const [code = ''] = type.map((one) => one.code);
  const isOwn = code === 'BackboneElement' || code === 'Element';
  const owner = contentReference?.split('#')[1] ?? (isOwn ? path : code);
  const stem = name.endsWith('[x]') ? name.slice(0, -3) : undefined;
  return {
    ...{ name, codes, isSummary, isRequired: min > 0, isList: max === '*' || Number(max) > 1 },
    members:
      stem === undefined
        ? [{ property: name, owner }]
        : type.map((one) => ({ property: stem + capital(one.code), owner: one.code })),
    targets: type.flatMap(({ targetProfile = [] }) => targetProfile),
  };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function ownersAt(all: Structures, owner: string, name: string): string[] {
  return elementsOf(all, owner).flatMap((element) =>
    element.members.flatMap((one) => (element.name === name || one.property === name ? [one.owner] : [])),
  );
}

/** Whether a type has an element: `birthDate`, `name.family`, `deceasedBoolean`, `deceased[x]`. Pure. */
export function hasElementIn(all: Structures, type: string, path: string): boolean {
  const owners = path
    .split('.')
    .reduce((found, name) => found.flatMap((owner) => ownersAt(all, owner, name)), [type]);
  return owners.length > 0;
}

/** What a policy never closes, and what has no use in one. */
const unnamed = new Set(['id', 'meta', 'implicitRules', 'extension', 'modifierExtension', 'contained']);

/**
 * The names of a type's elements, and of what is in them one level below: `birthDate`, `name`, `name.family`.
 * Without what every type has.
 */
export function elementNames(all: Structures, type: string): string[] {
  const namesOf = (owner: string) =>
    elementsOf(all, owner).flatMap(({ name }) => (unnamed.has(name) ? [] : [name]));
  return namesOf(type).flatMap((name) => {
    const owners = ownersAt(all, type, name).filter((owner) => /^[A-Z]/.test(owner));
    return [name, ...new Set(owners.flatMap(namesOf).map((part) => `${name}.${part}`))];
  });
}
