import type { Resource } from '../../../shared/fhir/resource.ts';
import { isResourceType } from '../../../shared/index/registry.ts';
import { mostExplained } from '../../../shared/limits.ts';
import { invalidField, Refusal } from '../../../shared/refusal.ts';
import type { Reader } from '../../../shared/search/reader.ts';
import { runSearch } from '../../../shared/search/run-search.ts';
import { parseSearch } from '../../../shared/search/search-request.ts';
import { type Explanation, type Seen, seenAs, type View } from './explanation.ts';
import { gatherIncluded } from './included.ts';
import { readerOf, requireSearchable } from './reader.ts';

/**
 * One page of what the member would find.
 * @param text a type with its parameters: `Patient?name=Doe`
 */
export async function explainSearch(view: View, text: string): Promise<Explanation> {
  const { services, asker, own, together } = view;
  const [, type = '', parameters = ''] = /^([A-Za-z]+)(?:\?(.*))?$/s.exec(text) ?? [];
  if (!isResourceType(type) || type === 'User')
    throw invalidField('search', 'search must begin with a type, as Patient?name=Doe');
  const query = new URLSearchParams(parameters);
  if (Number(query.get('_count') ?? 0) > mostExplained) query.set('_count', String(mostExplained));
  const request = parseSearch(type, query, `${services.baseUrl}/fhir/R4/`);
  requireSearchable(asker, request);
  const refused = refusalOf(() => requireSearchable(own, request));
  if (refused) return { seen: [], why: whyNot(refused, type) };

  const explained = new Map<string, Seen>();
  const reader = noting(readerOf(services, together), async (whole, seen) => {
    explained.set(nameOf(whole), await seenAs(view, 'search', whole, seen));
  });
  const page = await runSearch(reader, request);
  const included = await gatherIncluded(reader, page.resources, request.includes, page.characters);
  const seen = [...page.resources, ...included].flatMap((one) => explained.get(nameOf(one)) ?? []);
  if (page.next === undefined)
    return seen.length > 0 ? { seen } : { seen, why: 'They would find nothing with this search.' };
  query.set('_cursor', page.next);
  if (page.offset) query.set('_offset', String(page.offset));
  return { seen, next: `${type}?${query}` };
}

/** The same reader, which tells of all that it shows, with what it has left out. */
function noting(reader: Reader, note: (whole: Resource, seen: Resource) => Promise<void>): Reader {
  return {
    ...reader,
    async see(whole, searched) {
      const seen = await reader.see(whole, searched);
      if (seen) await note(whole, seen);
      return seen;
    },
  };
}

const nameOf = ({ resourceType, id }: Resource) => `${resourceType}/${id}`;

function refusalOf(check: () => void): Refusal | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

function whyNot({ issues }: Refusal, type: string): string {
  const [issue] = issues ?? [];
  return issue?.expression
    ? `They may not search by ${issue.expression}: their rules hide it.`
    : `None of their rules lets them search ${type}.`;
}
