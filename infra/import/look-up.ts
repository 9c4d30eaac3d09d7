import type { Portico } from '../../client/src/create-portico.ts';
import { sendBatch } from './calls.ts';

const mostSearches = 50;

/** Of references as `Type/id`, those that the service has. */
export async function presentOf(portico: Portico, references: readonly string[]): Promise<Set<string>> {
  const byType = Map.groupBy(references, (reference) => reference.slice(0, reference.indexOf('/')));
  const searches = [...byType].map(([type, all]) => {
    const ids = all.map((reference) => reference.slice(type.length + 1));
    return `${type}?_id=${ids.join(',')}&_elements=id&_count=${ids.length}`;
  });
  const answers = await search(portico, searches);
  return new Set(answers.flatMap(({ type, ids }) => ids.map((id) => `${type}/${id}`)));
}

/** For each condition, as `Type?query`, the one resource of the service that meets it. */
export async function matchesOf(
  portico: Portico,
  conditions: readonly string[],
): Promise<Map<string, string>> {
  const answers = await search(
    portico,
    conditions.map((condition) => `${condition}&_elements=id&_count=2`),
  );
  return new Map(
    answers.flatMap(({ type, ids: [id, second] }, at) =>
      id !== undefined && second === undefined ? [[conditions[at] ?? '', `${type}/${id}`]] : [],
    ),
  );
}

/** A search that is refused, for want of rights too, finds nothing. */
async function search(
  portico: Portico,
  searches: readonly string[],
): Promise<{ type: string; ids: string[] }[]> {
  const found: { type: string; ids: string[] }[] = [];
  for (let from = 0; from < searches.length; from += mostSearches) {
    const some = searches.slice(from, from + mostSearches);
    const entries = some.map((url) => JSON.stringify({ request: { method: 'GET', url } }));
    const answers = (await sendBatch(portico, entries)) ?? [];
    some.forEach((url, at) => {
      const { resource } = answers[at] ?? {};
      const ids = resource?.resourceType === 'Bundle' ? (resource.entry ?? []) : [];
      found.push({
        type: url.slice(0, url.indexOf('?')),
        ids: ids.flatMap(({ resource: one }) => one?.id ?? []),
      });
    });
  }
  return found;
}
