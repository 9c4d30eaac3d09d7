import type { Caller } from '../../../shared/access/access-token.ts';
import { isResourceType } from '../../../shared/index/registry.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import type { BundleEntry } from '../read/bundle.ts';
import { readEverything } from '../read/read-everything.ts';
import { readHistory } from '../read/read-history.ts';
import { readResource } from '../read/read-resource.ts';
import { searchResources } from '../read/search-resources.ts';
import type { Entry } from './parse-entries.ts';

/** A GET inside a Bundle. @throws {Refusal} as the read, search or history itself */
export async function readEntry(
  services: Services,
  caller: Caller,
  { path, query }: Pick<Entry, 'path' | 'query'>,
): Promise<BundleEntry> {
  const [type = '', id, history, versionId] = path;
  const parameters = new URLSearchParams(query ?? '');
  if (id === undefined) {
    const resource = await searchResources(services, caller, { type, query: parameters });
    return { resource, response: { status: '200' } };
  }
  if (type === 'Patient' && history === '$everything' && path.length === 3) {
    const resource = await readEverything(services, caller, { id, query: parameters });
    return { resource, response: { status: '200' } };
  }
  if (type === 'Patient' && path.length === 3 && isResourceType(history ?? '')) {
    const search = { type: String(history), within: `Patient/${id}`, query: parameters };
    return { resource: await searchResources(services, caller, search), response: { status: '200' } };
  }
  if (history === '_history' && versionId === undefined) {
    const resource = await readHistory(services, caller, { type, id, query: parameters });
    return { resource, response: { status: '200' } };
  }
  if (history !== undefined && (history !== '_history' || path.length > 4)) {
    throw new Refusal('not-found', 'Not found');
  }
  const wanted = { type, id, ...(versionId === undefined ? {} : { versionId }) };
  const { resource } = await readResource(services, caller, wanted);
  const { meta } = resource;
  return {
    fullUrl: `${services.baseUrl}/fhir/R4/${type}/${id}`,
    resource,
    response: { status: '200', etag: `W/"${meta.versionId}"`, lastModified: meta.lastUpdated },
  };
}
