import { codeSystems, type ValueSetDefinition, valueSets } from './read-definitions.ts';

/** Codes by the system that they are of. */
export type Codes = Readonly<Record<string, readonly string[]>>;

/**
 * The value sets of required bindings that can be told code by code, by URL without version. Those over
 * systems that R4 does not list (languages, media types, currencies, units) are left out.
 */
export function requiredValueSets(urls: ReadonlySet<string>): Map<string, Codes> {
  const systems = codeSystems();
  const sets = valueSets();
  const found = new Map<string, Codes>();
  for (const url of urls) {
    const codes = codesOf(sets.get(url), systems);
    if (codes) found.set(url, codes);
  }
  return found;
}

function codesOf(
  set: ValueSetDefinition | undefined,
  systems: ReadonlyMap<string, readonly string[]>,
): Codes | undefined {
  const { include = [], exclude = [] } = set?.compose ?? {};
  if (include.length === 0 || exclude.length > 0) return undefined;
  const codes: Record<string, string[]> = {};
  for (const { system, concept, filter, valueSet } of include) {
    const listed = concept?.map(({ code }) => code) ?? systems.get(system ?? '');
    if (system === undefined || filter || valueSet || !listed?.length) return undefined;
    codes[system] = [...(codes[system] ?? []), ...listed];
  }
  return codes;
}
