import { stringifyJson } from '../../base/json.ts';
import type { Resource } from '../../base/resource.ts';
import type { OperationOutcome } from '../../carry/http/response.ts';
import type { Services } from '../../carry/services.ts';

/** R4 Bundle, as far as it is answered here. */
export interface Bundle {
  resourceType: 'Bundle';
  type: 'searchset' | 'history' | 'batch-response' | 'transaction-response';
  /** How many hits a search has, where that was asked. */
  total?: number;
  entry?: BundleEntry[];
  link?: Link[];
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

export interface Link {
  relation: 'self' | 'first' | 'previous' | 'next';
  url: string;
}

export function charactersOf({ resource }: BundleEntry): number {
  return resource === undefined ? 0 : stringifyJson(resource).length;
}

export function linkTo(
  baseUrl: string,
  path: string,
  query: URLSearchParams,
  relation: Link['relation'],
): Link {
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
