import { inflateRawSync } from 'node:zlib';
import { type Element, elementsOf, hasElementIn, type Structures, structuresIn } from './elements.ts';

let known: Promise<Structures> | undefined;

/** All definitions by name, unpacked when first asked for, each parsed when it is. */
export function structures(): Promise<Structures> {
  known ??= import('./definitions.ts').then(({ definitions }) =>
    structuresIn(inflateRawSync(Buffer.from(definitions, 'base64')).toString('utf8')),
  );
  return known;
}

/** Whether a type has an element: `birthDate`, `name.family`, `deceasedBoolean`, `deceased[x]`. */
export async function hasElement(type: string, path: string): Promise<boolean> {
  return hasElementIn(await structures(), type, path);
}

/**
 * @param owner a type, `HumanName`, or the path of an element with members of its own, `Patient.contact`
 * @param name as FHIR names it, that of a choice without its `[x]`
 */
export async function elementOf(owner: string, name: string): Promise<Element | undefined> {
  const all = elementsOf(await structures(), owner);
  return all.find((one) => one.name === name) ?? all.find((one) => one.name === `${name}[x]`);
}

type Members = ReadonlyMap<string, { owner: string; codes: string | undefined }>;

const knownMembers = new Map<string, Members>();

/** The members that JSON may name: where their own are defined, and which codes they may have. */
export function membersOf(all: Structures, owner: string): Members {
  const members =
    knownMembers.get(owner) ??
    new Map(
      elementsOf(all, owner).flatMap(({ members, codes }) =>
        members.map(({ property, owner }) => [property, { owner, codes }] as const),
      ),
    );
  knownMembers.set(owner, members);
  return members;
}

/**
 * The types that a reference or canonical may lead to.
 * @param steps elements, as JSON names them, from the resource on
 * @returns undefined when it may be any
 */
export async function targetsOf(
  type: string,
  steps: readonly { element: string }[],
): Promise<string[] | undefined> {
  const all = await structures();
  let found: Element[] = [];
  let owners = [type];
  for (const { element: name } of steps) {
    const isNamed = ({ property }: { property: string }) => property === name;
    found = owners.flatMap((one) => elementsOf(all, one)).filter(({ members }) => members.some(isNamed));
    owners = found.flatMap(({ members }) => members.filter(isNamed).map(({ owner }) => owner));
  }
  const profiles = found.flatMap(({ targets }) => targets);
  const targets = [...new Set(profiles.map((profile) => profile.split('/').at(-1) ?? ''))];
  return targets.length === 0 || targets.includes('Resource') ? undefined : targets;
}

/** Which elements of a resource type `_summary` answers, as JSON names them: those that R4 marks so, and those that must be there. */
export async function summaryElements(
  type: string,
): Promise<{ summarised: ReadonlySet<string>; required: ReadonlySet<string> }> {
  const all = elementsOf(await structures(), type);
  const namesOf = (some: readonly Element[]) =>
    new Set(some.flatMap(({ members }) => members.map(({ property }) => property)));
  return {
    summarised: namesOf(all.filter(({ isSummary }) => isSummary)),
    required: namesOf(all.filter(({ isRequired }) => isRequired)),
  };
}

/**
 * The members that rules of R4 read together with some elements: of a whole resource, as obs-6 reads `dataAbsentReason`
 * with `value[x]`, or of a part of it, as pat-1 reads all of a `contact` with its `name`, and tim-9 of a Timing its `offset`
 * with `when`. Rather too many than too few: what a rule names anywhere counts.
 * @param paths of the elements, as policies name them
 */
export async function membersReadWith(type: string, paths: readonly string[]): Promise<string[]> {
  const all = await structures();
  return [...new Set(paths.flatMap((path) => readWith(all, type, path.split('.'))))];
}

function readWith(all: Structures, type: string, names: readonly string[]): string[] {
  const found: string[] = [];
  let places = [{ owner: type, rules: rulesAt(all, type) }];
  for (const [depth, name] of names.entries()) {
    for (const { owner, rules } of places) {
      for (const rule of rules) {
        const { heads, nested } = namesIn(rule, owner);
        const reads = [...heads].some((one) => isNamed(name, one));
        if (!reads && ![...nested].some((one) => names.slice(depth).some((part) => isNamed(part, one))))
          continue;
        found.push(
          ...(depth === 0 ? membersNamed(all, owner, [...heads, ...nested]) : topOf(all, type, names)),
        );
      }
    }
    places = places.flatMap(({ owner }) =>
      elementsOf(all, owner).flatMap((element) =>
        element.members
          .filter(({ property }) => element.name === name || property === name)
          .map(({ owner: inside }) => ({
            owner: inside,
            rules: [...rulesAt(all, `${owner}.${element.name}`), ...rulesAt(all, inside)],
          })),
      ),
    );
  }
  return found;
}

/** The rules of a type, or of an element, named by its path. */
function rulesAt(all: Structures, path: string): string[] {
  const elements = all.get(path.split('.')[0] ?? '')?.snapshot.element ?? [];
  const rules = elements.find((one) => one.path === path)?.constraint ?? [];
  return rules.map(({ expression }) => expression);
}

function membersNamed(all: Structures, owner: string, names: readonly string[]): string[] {
  const named = elementsOf(all, owner).filter(({ name }) => names.includes(name.replace('[x]', '')));
  return named.flatMap(({ members }) => members.map(({ property }) => property));
}

function topOf(all: Structures, type: string, [top = '']: readonly string[]): string[] {
  const choice = elementsOf(all, type).find(({ name }) => name === top);
  return choice ? choice.members.map(({ property }) => property) : [top];
}

/** A rule says `detail` of what JSON names detailQuantity, and policies `detail[x]`. */
function isNamed(part: string, name: string): boolean {
  const rest = part.startsWith(name) ? part.slice(name.length) : undefined;
  return rest !== undefined && /^$|^\[x\]$|^[A-Z]/.test(rest);
}

/**
 * The names in a rule: `heads` are elements of what it is of, `nested` those within calls, of whatever is there. A rule may
 * name the type that it is of before an element.
 */
function namesIn(expression: string, owner: string): { heads: Set<string>; nested: Set<string> } {
  const [heads, nested] = [new Set<string>(), new Set<string>()];
  const plain = expression.replaceAll(/'[^']*'/g, '');
  /** Of each parenthesis that is open, whether it is that of a call. */
  const open: boolean[] = [];
  let isBehindType = false;
  for (const [text, dot, name, call] of plain.matchAll(/(\.?)\s*([%$]?[A-Za-z]\w*)(\s*\()?|[()]/g)) {
    if (name === undefined) text === '(' ? open.push(false) : open.pop();
    else if (call !== undefined) open.push(true);
    else if (open.includes(true)) nested.add(name);
    else if (dot === '' && name === owner) isBehindType = true;
    else if (dot === '' || isBehindType) {
      heads.add(name);
      isBehindType = false;
    }
  }
  return { heads, nested };
}
