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
 * with `value[x]`, or of a part of it, as pat-1 reads all of a `contact` with its `name`.
 * @param paths of the elements, as policies name them
 */
export async function membersReadWith(type: string, paths: readonly string[]): Promise<string[]> {
  const all = await structures();
  const first = new Set(paths.map((path) => path.split('.')[0]));
  const elements = elementsOf(all, type);
  const [whole, ...parts] = all.get(type)?.snapshot.element ?? [];
  const rules = whole?.constraint ?? [];
  const ofParts = parts.flatMap(({ path, constraint = [] }) => {
    const [, ...at] = path.split('.');
    const hidden = paths.flatMap((one) => {
      const names = one.split('.');
      if (!at.every((name, i) => name === names[i])) return [];
      const member = names[at.length] ?? '';
      // A rule says `detail` of what JSON names detailQuantity.
      const isOf = ({ members }: Element) => members.some(({ property }) => property === member);
      return [member, ...elementsOf(all, path).flatMap((element) => (isOf(element) ? element.name : []))];
    });
    const isRead = constraint.some(({ expression }) => {
      const names = namesIn(expression);
      return hidden.some((name) => names.has(name.replace('[x]', '')));
    });
    return isRead ? at.slice(0, 1) : [];
  });
  const ofWhole = rules.flatMap(({ expression }) => {
    const names = namesIn(expression);
    const read = elements.filter(({ name }) => names.has(name.replace('[x]', '')));
    const isAsked = read.some(
      ({ name, members }) => first.has(name) || members.some(({ property }) => first.has(property)),
    );
    return isAsked ? read.flatMap(({ members }) => members.map(({ property }) => property)) : [];
  });
  return [...ofWhole, ...ofParts];
}

/** The elements of the resource that a rule names: not what is behind a dot, in quotes, or in the condition of a `where`. */
function namesIn(expression: string): Set<string> {
  let plain = expression.replaceAll(/'[^']*'/g, '');
  for (let before = ''; before !== plain; ) {
    before = plain;
    plain = plain.replaceAll(/\.where\([^()]*\)/g, '').replaceAll(/(where\([^()]*)\([^()]*\)/g, '$1');
  }
  return new Set(plain.match(/(?<![.\w%])[A-Za-z]\w*/g));
}
