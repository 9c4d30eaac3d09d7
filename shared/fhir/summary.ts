import { structures } from './structures.ts';

/** Top-level elements of a type, as JSON names them. */
interface SummaryElements {
  /** R4 ElementDefinition.isSummary. */
  summarised: ReadonlySet<string>;
  /** At least one must be there. */
  required: ReadonlySet<string>;
}

const known = new Map<string, SummaryElements>();

/** Which elements of a resource type `_summary` answers. */
export async function summaryElements(type: string): Promise<SummaryElements> {
  const before = known.get(type);
  if (before) return before;
  const elements = (await structures()).get(type)?.snapshot.element ?? [];
  const top = elements.filter(({ path }) => path.startsWith(`${type}.`) && path.split('.').length === 2);
  const found = {
    summarised: namesOf(top.filter(({ isSummary }) => isSummary === true)),
    required: namesOf(top.filter(({ min }) => (min ?? 0) > 0)),
  };
  known.set(type, found);
  return found;
}

/** A choice has a name for each of its types. */
function namesOf(elements: readonly { path: string; type?: { code: string }[] }[]): Set<string> {
  const names = elements.flatMap(({ path, type = [] }) => {
    const name = path.slice(path.indexOf('.') + 1);
    if (!name.endsWith('[x]')) return [name];
    return type.map(({ code }) => name.replace('[x]', code.charAt(0).toUpperCase() + code.slice(1)));
  });
  return new Set(names);
}
