import http from 'node:http';
import https from 'node:https';
import { Recent } from '../../base/recent.ts';
import { errorCode, errorName, isObject } from '../../base/values.ts';
import { FetchRefused, guardedRequest, type Lookup } from '../../carry/address-guard/guarded-request.ts';
import { isLoopback, isWebUrl } from './issuer.ts';

/** An issuer could not be reached, or served what cannot be used. The text is for administrators. */
export class IssuerFault extends Error {
  override readonly name = 'IssuerFault';
}

/** How issuers' documents are fetched: public addresses only, no redirect, bounded in size and time. */
export interface IssuerWeb {
  /** On a laptop issuers on loopback are good too. */
  onLoopback: boolean;
  /** @throws {IssuerFault} */
  get(url: string, withinMs?: number): Promise<unknown>;
  /** Sends a form. @throws {IssuerFault} */
  post(url: string, form: URLSearchParams, headers: Record<string, string>): Promise<JsonAnswer>;
}

interface JsonAnswer {
  status: number;
  json: unknown;
}

const mostBytes = 256 * 1024;
/** Three in a row must fit the time of a function, 15 s. */
const defaultTimeoutMs = 3500;

/** @param options.baseUrl of our own API: where it is on loopback, issuers may be too */
export function openIssuerWeb(options: { baseUrl: string; timeoutMs?: number; lookup?: Lookup }): IssuerWeb {
  const { timeoutMs = defaultTimeoutMs, lookup } = options;
  const onLoopback = isLoopback(new URL(options.baseUrl));

  async function send(
    href: string,
    method: string,
    headers: Record<string, string>,
    { text, withinMs = timeoutMs }: { text?: string; withinMs?: number | undefined } = {},
  ): Promise<JsonAnswer> {
    const url = URL.parse(href);
    if (!url || !isWebUrl(url, { onLoopback })) throw new IssuerFault('An address of it is not https');
    const body = text === undefined ? undefined : Buffer.from(text);
    const { Agent } = url.protocol === 'https:' ? https : http;
    const agent = new Agent({ keepAlive: false });
    try {
      const answer = await guardedRequest({
        url,
        method,
        headers: {
          'user-agent': 'Portico',
          accept: 'application/json',
          'accept-encoding': 'identity',
          ...headers,
          ...(body ? { 'content-length': String(body.length) } : {}),
        },
        body,
        signal: AbortSignal.timeout(withinMs),
        trusted: onLoopback && isLoopback(url),
        lookup,
        agent,
        mostBytes,
      });
      return { status: answer.status, json: JSON.parse(answer.body.toString('utf8')) };
    } catch (error) {
      throw new IssuerFault(`It did not answer as an issuer does: ${nameOf(error)}`);
    } finally {
      agent.destroy();
    }
  }

  return {
    onLoopback,
    async get(url, withinMs) {
      const { status, json } = await send(url, 'GET', {}, { withinMs });
      if (status !== 200) throw new IssuerFault(`It answered with status ${status}`);
      return json;
    },
    post: (url, form, headers) =>
      send(
        url,
        'POST',
        { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        { text: form.toString() },
      ),
  };
}

/** Of our own and of Node, never what the other side said. */
function nameOf(error: unknown): string {
  if (error instanceof FetchRefused) return error.message;
  const name = errorName(error);
  if (name === 'SyntaxError') return 'no JSON';
  return name === 'AbortError' ? 'too slow' : (errorCode(error) ?? name);
}

interface Options {
  now(): number;
  /** How long what was loaded is used. */
  lifetimeMs: number;
  /** The least time between two loads, whoever asks and however the last one ended. */
  restMs: number;
}

interface Entry<V> {
  loading: Promise<V>;
  loadedAtMs: number;
  triedAtMs: number;
  failed: boolean;
}

/** What a process loaded by name, at most 100 of them. Who asks during a load waits for that one. */
export interface Remembered<V> {
  get(name: string): Promise<V>;
  /** Loads again unless that was tried a moment ago. One that fails takes away nothing that is good. */
  renew(name: string): Promise<V>;
}

export function remembered<V>(load: (name: string) => Promise<V>, options: Options): Remembered<V> {
  const { now, lifetimeMs, restMs } = options;
  const entries = new Recent<Entry<V>>(100);

  function start(name: string): Promise<V> {
    const entry = { loading: load(name), loadedAtMs: now(), triedAtMs: now(), failed: false };
    entry.loading.catch(() => {
      entry.failed = true;
    });
    entries.set(name, entry);
    return entry.loading;
  }

  return {
    get(name) {
      const entry = entries.get(name);
      const isUsable = entry && now() - entry.loadedAtMs < (entry.failed ? restMs : lifetimeMs);
      return isUsable ? entry.loading : start(name);
    },
    async renew(name) {
      const entry = entries.get(name);
      if (!entry) return start(name);
      if (now() - entry.triedAtMs < restMs) return entry.loading;
      entry.triedAtMs = now();
      const renewing = start(name);
      return renewing.catch((error: unknown) => {
        if (!entry.failed) entries.set(name, entry);
        throw error;
      });
    },
  };
}

/** What sign-in needs of OpenID Connect Discovery 1.0 section 3 and RFC 9207. */
export interface Discovery {
  issuer: string;
  authorizationEndpoint: string;
  tokenEndpoint: string;
  jwksUri: string;
  /** Client credentials go into the body; else into the Authorization header. */
  wantsSecretInBody: boolean;
  /** Its answers say who they come from. */
  saysIssuer: boolean;
}

/**
 * @param withinMs how long it may take to answer
 * @throws {IssuerFault} when it does not, the document names another issuer, or lacks an endpoint
 */
export async function discover(web: IssuerWeb, issuer: string, withinMs?: number): Promise<Discovery> {
  const document = await web.get(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, withinMs);
  if (!isObject(document)) throw new IssuerFault('No discovery document');
  if (document.issuer !== issuer) throw new IssuerFault('Its discovery document names another issuer');
  const endpoint = (name: string) => {
    const value = document[name];
    const url = typeof value === 'string' && value.length <= 1000 ? URL.parse(value) : null;
    if (!url || !isWebUrl(url, web)) throw new IssuerFault(`Its ${name} is missing or not https`);
    return url.href;
  };
  const methods = document.token_endpoint_auth_methods_supported;
  return {
    issuer,
    authorizationEndpoint: endpoint('authorization_endpoint'),
    tokenEndpoint: endpoint('token_endpoint'),
    jwksUri: endpoint('jwks_uri'),
    wantsSecretInBody: Array.isArray(methods) && !methods.includes('client_secret_basic'),
    saysIssuer: document.authorization_response_iss_parameter_supported === true,
  };
}
