import { plainMeta } from '../../shared/fhir/plain-meta.ts';
import type { HttpRequest } from '../../shared/http/request.ts';

interface Body {
  meta?: object;
  entry?: readonly { resource?: object }[];
}

/**
 * A resource, or a Bundle with all in it, as the caller wants it: elements of `meta` that R4 does not know
 * are shown to who asks with `X-Medplum: extended`.
 */
export function asAsked<T extends object>(body: T, request: Pick<HttpRequest, 'headers'>): T {
  return isExtended(request) ? body : plain(body);
}

export function isExtended({ headers }: Pick<HttpRequest, 'headers'>): boolean {
  return headers['x-medplum']?.trim().toLowerCase() === 'extended';
}

function plain<T extends Body>(body: T): T {
  const { meta, entry } = body;
  if (!meta && !entry) return body;
  return {
    ...body,
    ...(meta ? { meta: plainMeta(meta) } : {}),
    ...(entry
      ? { entry: entry.map((one) => (one.resource ? { ...one, resource: plain(one.resource) } : one)) }
      : {}),
  };
}
