import { jsonBytes } from '../../base/json.ts';
import type { Resource } from '../../base/resource.ts';
import type { OperationOutcome } from '../../carry/http/response.ts';
import type { Services } from '../../carry/services.ts';

/** R4 Bundle, as far as it is answered here. */
export interface Bundle {
  resourceType: 'Bundle';
  type: 'searchset' | 'history' | 'batch-response' | 'transaction-response';
  total?: number;
  entry?: BundleEntry[];
  link?: BundleLink[];
}

export interface BundleEntry {
  fullUrl?: string;
  resource?: Resource | Bundle | OperationOutcome;
  search?: { mode: 'match' | 'include' };
  request?: { method: string; url: string };
  response?: {
    status: string;
    location?: string;
    etag?: string;
    lastModified?: string;
    outcome?: OperationOutcome;
  };
}

export interface BundleLink {
  relation: 'self' | 'first' | 'previous' | 'next';
  url: string;
}

/** The version of a state, as a response has it. */
export function stateOf({ versionId, lastUpdated }: Pick<Resource['meta'], 'versionId' | 'lastUpdated'>) {
  return { etag: `W/"${versionId}"`, lastModified: lastUpdated };
}

export function bytesOf({ resource }: BundleEntry): number {
  return resource === undefined ? 0 : jsonBytes(resource);
}

/** A page. */
export function pageBundle(
  type: Bundle['type'],
  entry: BundleEntry[],
  link: BundleLink[],
  total?: number,
): Bundle {
  return {
    ...{ resourceType: 'Bundle', type },
    ...(total === undefined ? {} : { total }),
    ...(entry.length > 0 ? { entry } : {}),
    link,
  };
}

/** Where a page is, and the one that follows it. @param path from fhir/R4/ on */
export function pageLinks(
  baseUrl: string,
  path: string,
  query: URLSearchParams,
  following: URLSearchParams | undefined,
): BundleLink[] {
  const self = linkTo(baseUrl, path, query, 'self');
  return following ? [self, linkTo(baseUrl, path, following, 'next')] : [self];
}

export function linkTo(
  baseUrl: string,
  path: string,
  query: URLSearchParams,
  relation: BundleLink['relation'],
): BundleLink {
  const text = query.toString();
  return { relation, url: `${baseUrl}/fhir/R4${path && `/${path}`}${text ? `?${text}` : ''}` };
}

/** A resource that was found, or came along. */
export function entryOf(
  { baseUrl }: Pick<Services, 'baseUrl'>,
  resource: Resource,
  mode: 'match' | 'include',
): BundleEntry {
  const { resourceType, id } = resource;
  return { fullUrl: `${baseUrl}/fhir/R4/${resourceType}/${id}`, resource, search: { mode } };
}
