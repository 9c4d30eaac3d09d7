import type { Resource } from '../../../shared/fhir/resource.ts';
import { summaryElements } from '../../../shared/fhir/summary.ts';
import type { SearchRequest } from '../../../shared/search/search-request.ts';
import { withoutKeys } from '../../../shared/typed-keys.ts';

const always = new Set(['resourceType', 'id', 'meta']);

/** R4 `_fields`, `_elements` and `_summary`: a resource with some of its top-level elements. */
export async function subsetOf(
  resource: Resource,
  { fields, summary }: Pick<SearchRequest, 'fields' | 'summary'>,
): Promise<Resource> {
  if (fields) return pick(resource, (name) => fields.includes(name));
  if (summary === 'false' || summary === 'count') return resource;
  if (summary === 'data') return pick(marked(resource), (name) => name !== 'text');
  const { required, summarised } = await summaryElements(resource.resourceType);
  if (summary === 'text') return pick(marked(resource), (name) => name === 'text' || required.has(name));
  return pick(marked(resource), (name) => summarised.has(name) || required.has(name));
}

function pick(resource: Resource, isKept: (name: string) => boolean): Resource {
  return withoutKeys(resource, (name) => !always.has(name) && !isKept(name.replace(/^_/, '')));
}

/** R4 search, `_summary`: a part must not be taken for the whole and written back. */
function marked(resource: Resource): Resource {
  const tag = [resource.meta.tag ?? []].flat();
  return { ...resource, meta: { ...resource.meta, tag: [...tag, subsetted] } };
}

const subsetted = {
  system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue',
  code: 'SUBSETTED',
};
