import http from 'node:http';
import https from 'node:https';
import { FetchRefused, guardedRequest, type Lookup } from '../address-guard/guarded-request.ts';
import { errorCode, errorName } from '../error-name.ts';
import { isLoopback, isWebUrl } from './issuer-url.ts';

/** An issuer could not be reached, or served what cannot be used. The text is for administrators. */
export class IssuerFault extends Error {
  override readonly name = 'IssuerFault';
}

/** How issuers' documents are fetched: public addresses only, no redirect, bounded in size and time. */
export interface IssuerWeb {
  /** On a laptop issuers on loopback are good too. */
  onLoopback: boolean;
  /** @throws {IssuerFault} */
  get(url: string): Promise<unknown>;
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
    text?: string,
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
        signal: AbortSignal.timeout(timeoutMs),
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
    async get(url) {
      const { status, json } = await send(url, 'GET', {});
      if (status !== 200) throw new IssuerFault(`It answered with status ${status}`);
      return json;
    },
    post: (url, form, headers) =>
      send(url, 'POST', { 'content-type': 'application/x-www-form-urlencoded', ...headers }, form.toString()),
  };
}

/** Of our own and of Node, never what the other side said. */
function nameOf(error: unknown): string {
  if (error instanceof FetchRefused) return error.message;
  const name = errorName(error);
  if (name === 'SyntaxError') return 'no JSON';
  return name === 'AbortError' ? 'too slow' : (errorCode(error) ?? name);
}
