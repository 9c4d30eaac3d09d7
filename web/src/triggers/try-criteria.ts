import type { Bundle, Resource } from '@medplum/fhirtypes';
import type { Api } from '../api/use-api.ts';

/** How many of the latest records of its type criteria would have matched. */
export interface Tried {
  type: string;
  checked: number;
  matched: number;
}

const latestCount = 100;

/**
 * Two searches: the records changed last, and those of them that the criteria match, found by the code that
 * matches a change.
 * @throws what the service says of the criteria
 */
export async function tryCriteria(api: Api, criteria: string): Promise<Tried> {
  const [type = '', query = ''] = criteria.trim().split(/\?(.*)/s);
  if (!/^[A-Z][A-Za-z]+$/.test(type)) throw new Error('Begin with a type of record, as Patient?active=true.');
  const look = async (more: string) => {
    const paging = `_sort=-_lastUpdated&_count=${latestCount}&_elements=id,meta`;
    const path = `fhir/R4/${type}?${more}${paging}`;
    return ((await api.get<Bundle>(path)).entry ?? []).flatMap(({ resource }) => resource ?? []);
  };
  const latest = await look('');
  const oldest = latest.at(-1)?.meta?.lastUpdated;
  if (oldest === undefined) return { type, checked: 0, matched: 0 };
  const matching = query === '' ? latest : await look(`${query}&_lastUpdated=ge${oldest}&`);
  const ids = new Set(latest.map(idOf));
  return { type, checked: latest.length, matched: matching.filter((one) => ids.has(idOf(one))).length };
}

function idOf({ id }: Resource): string | undefined {
  return id;
}
