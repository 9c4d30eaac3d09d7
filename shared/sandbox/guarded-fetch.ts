/** A Bot's `fetch`: which headers go where, and redirects, each checked like a first request. */

import { isUtf8 } from 'node:buffer';
import type { Agent } from 'node:http';
import { isCredentialHeader } from '../address-guard/credential-headers.ts';
import {
  FetchRefused,
  type GuardedResponse,
  guardedRequest,
  type Reach,
} from '../address-guard/guarded-request.ts';
import type { RunRequest } from '../bot/contract.ts';
import { isAllowedHost } from './allowed-hosts.ts';
import type { WireBody, WireRequest, WireResponse } from './protocol.ts';

export interface FetchContext extends Reach {
  /** Requests to this origin carry token and trace id, and no other request does. */
  api?: { origin: string; token: string; traceId: string } | undefined;
  /** The Project's own lists; the API is always reachable. */
  hosts?: RunRequest['fetchHosts'];
  signal: AbortSignal;
  agentFor: (protocol: string) => Agent;
}

const MOST_REDIRECTS = 5;
/** Those that HTTP itself needs are set by the host. */
const HOST_SETS =
  /^(?:host|connection|content-length|transfer-encoding|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/;
const METHOD = /^[A-Z]{1,20}$/;

/** Rejects with FetchRefused or with Node's connection errors. */
export async function guardedFetch(request: WireRequest, context: FetchContext): Promise<WireResponse> {
  let url = webUrl(request.url);
  let method = METHOD.test(request.method) ? request.method : refuse('The method is not valid');
  let body = request.body && Buffer.from(request.body.text, request.body.encoding);
  let headers = request.headers.filter(([name]) => !HOST_SETS.test(name.toLowerCase()));

  for (let redirects = 0; ; redirects++) {
    const response = await send(url, method, headers, body, context);
    const location = response.headers.find(([name]) => name === 'location')?.[1];
    const redirect = [301, 302, 303, 307, 308].includes(response.status) && location !== undefined;
    if (!redirect || request.redirect === 'manual') {
      return answer(response, url, redirects > 0);
    }
    if (request.redirect === 'error' || redirects >= MOST_REDIRECTS) {
      return refuse(redirects >= MOST_REDIRECTS ? 'Too many redirects' : 'The response is a redirect');
    }
    const next = webUrl(location, url);
    if (next.origin !== url.origin) {
      // Another server must not cause a request that carries the token of the run.
      if (next.origin === context.api?.origin) refuse('A redirect from elsewhere does not lead into the API');
      headers = headers.filter(([name]) => !isCredentialHeader(name));
    }
    if (response.status === 303 ? method !== 'HEAD' : response.status < 303 && method === 'POST') {
      method = 'GET';
      body = undefined;
      headers = headers.filter(([name]) => !name.toLowerCase().startsWith('content-'));
    }
    url = next;
  }
}

async function send(
  url: URL,
  method: string,
  headers: readonly [string, string][],
  body: Buffer | undefined,
  { api, hosts, lookup, connectMs, signal, agentFor }: FetchContext,
): Promise<GuardedResponse> {
  const trusted = api !== undefined && url.origin === api.origin;
  if (!trusted && !isAllowedHost(url.hostname, hosts)) {
    return refuse(`fetch to ${url.hostname} is not allowed by the Project`);
  }
  const sent: Record<string, string> = { 'user-agent': 'Portico-Bot', 'accept-encoding': 'identity' };
  for (const [name, value] of headers) {
    sent[name.toLowerCase()] = value;
  }
  sent['accept-encoding'] = 'identity';
  if (trusted) {
    delete sent.cookie;
    sent.authorization = `Bearer ${api.token}`;
    sent['x-trace-id'] = api.traceId;
    delete sent.traceparent;
  }
  if (body !== undefined || !['GET', 'HEAD', 'OPTIONS', 'DELETE'].includes(method)) {
    sent['content-length'] = `${body?.length ?? 0}`;
  }
  return guardedRequest({
    url,
    method,
    headers: sent,
    body,
    signal,
    trusted,
    lookup,
    connectMs,
    agent: agentFor(url.protocol),
  });
}

function answer(
  { status, statusText, headers, body }: GuardedResponse,
  url: URL,
  redirected: boolean,
): WireResponse {
  return { url: url.href, status, statusText, headers, redirected, body: wireBody(body) };
}

function wireBody(body: Buffer): WireBody {
  return isUtf8(body)
    ? { encoding: 'utf8', text: body.toString('utf8') }
    : { encoding: 'base64', text: body.toString('base64') };
}

/** The URL parser turns decimal, octal and short forms of an address into the dotted form. */
function webUrl(href: string, base?: URL): URL {
  const url = URL.canParse(href, base?.href) ? new URL(href, base) : refuse('The URL is not valid');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return refuse(`fetch speaks http and https only, not ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    return refuse('The URL contains credentials');
  }
  return url;
}

function refuse(message: string): never {
  throw new FetchRefused(message);
}
