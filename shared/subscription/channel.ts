import { isId } from '../fhir/resource.ts';

/** Where a Subscription delivers to. */
export type Target = { kind: 'bot'; botId: string } | { kind: 'url'; url: string };

/** Of each request: named in lower case, set by us or by HTTP itself. */
const ownHeader =
  /^(?:x-medplum-.*|x-portico-.*|x-signature|traceparent|tracestate|content-type|host|content-length|transfer-encoding|connection|keep-alive|proxy-.*|te|trailer|upgrade|expect)$/;

const mostHeaders = 20;

/** `Bot/<id>` or a URL; undefined for what is neither. @param allowsLoopback http to this machine, on a laptop only */
export function parseEndpoint(endpoint: unknown, allowsLoopback: boolean): Target | undefined {
  if (typeof endpoint !== 'string') return undefined;
  const botId = /^Bot\/([^/]+)$/.exec(endpoint)?.[1];
  if (botId !== undefined) return isId(botId) ? { kind: 'bot', botId } : undefined;
  if (!URL.canParse(endpoint)) return undefined;
  const { protocol, hostname, username, password, href } = new URL(endpoint);
  if (username !== '' || password !== '') return undefined;
  const isAllowed = protocol === 'https:' || (allowsLoopback && protocol === 'http:' && isLoopback(hostname));
  return isAllowed ? { kind: 'url', url: href } : undefined;
}

export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]';
}

/** `Name: value`; undefined when it is none. The name keeps its case. */
export function parseHeader(text: unknown): { name: string; value: string } | undefined {
  if (typeof text !== 'string' || text.length > 4_000) return undefined;
  const [, name = '', value = ''] =
    /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\x20-\x7e\t]*)$/.exec(text) ?? [];
  return name === '' ? undefined : { name, value: value.trim() };
}

/** What is wrong with the headers of a channel. */
export function headerFaults(header: readonly unknown[]): { at: number; text: string }[] {
  const seen = new Set<string>();
  return header.flatMap((text, at) => {
    if (at >= mostHeaders) return [{ at, text: `A channel has at most ${mostHeaders} headers` }];
    const name = parseHeader(text)?.name.toLowerCase();
    if (name === undefined) return [{ at, text: 'A header is written `Name: value`' }];
    if (ownHeader.test(name)) return [{ at, text: `The header ${name} is not for a Subscription to set` }];
    if (seen.has(name)) return [{ at, text: `The header ${name} is there twice` }];
    seen.add(name);
    return [];
  });
}
