/** All network access of one run: bounded in number, to places that it may reach, and over when the run is. */

import { isUtf8 } from 'node:buffer';
import http, { type Agent } from 'node:http';
import https from 'node:https';
import { errorCode } from '../../base/values.ts';
import {
  FetchRefused,
  type GuardedResponse,
  guardedRequest,
  isAllowedHost,
  type Reach,
} from '../../carry/address-guard/guarded-request.ts';
import { isCredentialHeader, type RunRequest } from '../run/contract.ts';
import { type FetchAnswer, mostFetchesAtOnce, type WireRequest, type WireResponse } from './protocol.ts';

export function createRunNetwork(
  { api, event, fetchHosts: hosts, limits }: Pick<RunRequest, 'api' | 'event' | 'fetchHosts' | 'limits'>,
  { lookup, connectMs }: Reach,
  send: (answer: FetchAnswer) => void,
) {
  const agents = new Map<string, Agent>();
  const agentFor = (protocol: string) => {
    const agent = agents.get(protocol) ?? keptAgent(protocol);
    agents.set(protocol, agent);
    return agent;
  };
  const context = { api: api && trustedApi(api, event.traceId), hosts, lookup, connectMs, agentFor };
  const open = new Map<string, AbortController>();
  let made = 0;
  let isClosed = false;

  async function go(id: string, request: WireRequest): Promise<void> {
    const controller = new AbortController();
    open.set(id, controller);
    const { signal } = controller;
    let answer: FetchAnswer;
    try {
      answer = { type: 'fetched', id, response: await guardedFetch(request, { ...context, signal }) };
    } catch (error) {
      const code = errorCode(error);
      // ECONNREFUSED and the like help an author; the rest of Node's message may name our machines.
      const message =
        error instanceof FetchRefused ? error.message : `fetch failed${code ? `: ${code}` : ''}`;
      answer = { type: 'fetch-failed', id, message };
    }
    if (signal.aborted) return;
    open.delete(id);
    send(answer);
  }

  function abort(id: string) {
    open.get(id)?.abort();
    open.delete(id);
  }

  return {
    fetch(id: string, request: WireRequest): void {
      if (isClosed) return;
      made += 1;
      const fail = (message: string) => send({ type: 'fetch-failed', id, message });
      if (made > limits.calls) fail(`This run may make ${limits.calls} requests`);
      // The child makes them wait; this bounds a child that has been taken over.
      else if (open.size >= mostFetchesAtOnce) fail('Too many requests at once');
      else void go(id, request);
    },
    abort,
    /** Ends every connection; what is asked for afterwards is not heard. */
    close(): void {
      isClosed = true;
      for (const id of [...open.keys()]) abort(id);
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

function keptAgent(protocol: string): Agent {
  return new (protocol === 'https:' ? https : http).Agent({ keepAlive: true });
}

type TrustedApi = { origin: string; token: string; traceId: string };

function trustedApi({ baseUrl, token }: NonNullable<RunRequest['api']>, traceId: string): TrustedApi {
  return { origin: new URL(baseUrl).origin, token, traceId };
}

export interface FetchContext extends Reach {
  /** Requests to this origin carry token and trace id, and no other request does. */
  api?: TrustedApi | undefined;
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

/**
 * A Bot's `fetch`: each redirect is checked like a first request. Rejects with FetchRefused or with Node's connection
 * errors.
 */
export async function guardedFetch(request: WireRequest, context: FetchContext): Promise<WireResponse> {
  let url = webUrl(request.url);
  let method = METHOD.test(request.method) ? request.method : refuse('The method is not valid');
  let body = request.body && Buffer.from(request.body.text, request.body.encoding);
  let headers = request.headers.filter(([name]) => !HOST_SETS.test(name.toLowerCase()));

  for (let redirects = 0; ; redirects++) {
    const response = await send(url, method, headers, body, context);
    const location = response.headers.find(([name]) => name === 'location')?.[1];
    const isRedirect = [301, 302, 303, 307, 308].includes(response.status) && location !== undefined;
    if (!isRedirect || request.redirect === 'manual') {
      const { body: bytes, ...head } = response;
      const encoding = isUtf8(bytes) ? 'utf8' : 'base64';
      const text = bytes.toString(encoding);
      return { ...head, url: url.href, redirected: redirects > 0, body: { encoding, text } };
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
  { api, hosts, agentFor, ...reach }: FetchContext,
): Promise<GuardedResponse> {
  const trusted = api !== undefined && url.origin === api.origin;
  if (!trusted && !isAllowedHost(url.hostname, hosts)) {
    return refuse(`fetch to ${url.hostname} is not allowed by the Project`);
  }
  const sent: Record<string, string> = { 'user-agent': 'Portico-Bot' };
  for (const [name, value] of headers) sent[name.toLowerCase()] = value;
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
    ...{ url, method, headers: sent, body, trusted },
    ...{ agent: agentFor(url.protocol), ...reach },
  });
}

/** The URL parser turns decimal, octal and short forms of an address into the dotted form. */
function webUrl(href: string, base?: URL): URL {
  const url = URL.canParse(href, base?.href) ? new URL(href, base) : refuse('The URL is not valid');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return refuse(`fetch speaks http and https only, not ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') return refuse('The URL contains credentials');
  return url;
}

function refuse(message: string): never {
  throw new FetchRefused(message);
}

/** Most runs have ended before it is asked at all. */
const FIRST_MS = 1000;
/** The longer a run has taken, the less often: at most this long passes until it is noticed. */
const MOST_MS = 5000;
const ANSWER_WITHIN_MS = 3000;

/**
 * Asks the API, with the run's own token and from outside the guest, whether a run that goes on was cancelled. Where
 * the token is no longer good, its caller's membership or Project has ended, and the run ends with it. An API that
 * does not answer cancels nothing: it is asked again. Nothing is asked for a run that nobody can cancel.
 * @returns what ends the asking
 */
export function watchCancel(
  { api, cancelKeys, runId, event }: RunRequest,
  { lookup }: Reach,
  onCancelled: () => void,
): () => void {
  if (!cancelKeys || !api) return () => undefined;
  const over = new AbortController();
  const agent = keptAgent(new URL(api.baseUrl).protocol);
  const beganAtMs = Date.now();
  let timer = setTimeout(ask, FIRST_MS);

  async function ask(): Promise<void> {
    const isCancelled = await answerOf().catch(() => false);
    if (over.signal.aborted) return;
    if (isCancelled) return onCancelled();
    timer = setTimeout(ask, Math.min(MOST_MS, Math.max(FIRST_MS, (Date.now() - beganAtMs) / 10)));
  }

  async function answerOf(): Promise<boolean> {
    const url = `${api?.baseUrl}/fhir/R4/run/${runId}/status`;
    const { status, body } = await guardedFetch(
      { url, method: 'GET', headers: [], redirect: 'error' },
      {
        api: api && trustedApi(api, event.traceId),
        lookup,
        signal: AbortSignal.any([over.signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
        agentFor: () => agent,
      },
    );
    return status === 401 || (status === 200 && JSON.parse(body.text).status === 'cancelled');
  }

  return () => {
    over.abort();
    clearTimeout(timer);
    agent.destroy();
  };
}
