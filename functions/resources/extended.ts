import type { HttpRequest } from '../../shared/http/request.ts';

interface Body {
  meta?: object;
  entry?: readonly { resource?: object }[];
}

/** What `meta` has beside R4's elements; strict parsers refuse a resource that has more than R4 names. */
const beyond = new Set(['project', 'author', 'onBehalfOf']);

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

function plainMeta(meta: object): object {
  return Object.fromEntries(Object.entries(meta).filter(([name]) => !beyond.has(name)));
}
