/**
 * One HTTP request of a Bot to a place that it may reach. The address is checked where the connection
 * is made, so a name that resolves differently the second time gains nothing.
 */

import { lookup as systemLookup } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { TLSSocket } from 'node:tls';
import { longestBodyBytes, longestConnectMs } from '../../base/limits.ts';
import { isPublicAddress } from './public-address.ts';

/** As node:dns `lookup` with `all: true`: an error comes alone. */
export type Lookup = (
  hostname: string,
  options: { all: true },
  done: (error: Error | null, addresses?: { address: string; family: number }[]) => void,
) => void;

/** How places are reached; the system's resolver and the usual patience unless a test says otherwise. */
export interface Reach {
  lookup?: Lookup | undefined;
  /** Until the connection is there. */
  connectMs?: number | undefined;
}

export interface GuardedRequest extends Reach {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body: Buffer | undefined;
  signal: AbortSignal;
  /** The API's own origin, the one place that need not be public. */
  trusted: boolean;
  agent: http.Agent;
  /** Of the answer's body; 4 MiB when left out. */
  mostBytes?: number;
}

export interface GuardedResponse {
  status: number;
  statusText: string;
  headers: [string, string][];
  body: Buffer;
}

/** A request that may not be made or whose answer may not be taken. Its text is for the Bot. */
export class FetchRefused extends Error {}

/** Follows no redirect. Rejects with FetchRefused, or with Node's error when the connection fails. */
export function guardedRequest(request: GuardedRequest): Promise<GuardedResponse> {
  const { url, method, headers, signal, agent } = request;
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  if (!request.trusted && isIP(hostname) !== 0 && !isPublicAddress(hostname)) {
    return Promise.reject(new FetchRefused(`fetch to ${url.host} is not allowed: not a public address`));
  }
  return new Promise((resolve, reject) => {
    const lookup = request.trusted ? undefined : publicLookup(request.lookup ?? systemLookup);
    const send = url.protocol === 'https:' ? https.request : http.request;
    const outgoing = send(url, { method, headers, signal, agent, ...(lookup && { lookup }) }, (incoming) => {
      readAll(incoming, request.mostBytes ?? longestBodyBytes).then((body) => {
        const { statusCode = 0, statusMessage = '', rawHeaders } = incoming;
        resolve({ status: statusCode, statusText: statusMessage, headers: pairs(rawHeaders), body });
      }, reject);
    });
    connectInTime(outgoing, request.connectMs ?? longestConnectMs);
    outgoing.on('error', reject);
    outgoing.end(request.body);
  });
}

/**
 * Gives a request up whose connection is not there in time: name, address and, for https, the handshake. A network
 * that drops what it does not let through answers nothing at all.
 * @param outgoing fails with the code ETIMEDOUT
 */
function connectInTime(outgoing: http.ClientRequest, ms: number): void {
  outgoing.once('socket', (socket) => {
    if (outgoing.reusedSocket) return;
    const late = setTimeout(() => {
      outgoing.destroy(Object.assign(new Error(`No connection within ${ms} ms`), { code: 'ETIMEDOUT' }));
    }, ms);
    const stop = () => clearTimeout(late);
    socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', stop);
    socket.once('close', stop);
  });
}

/** One forbidden address among several refuses the name: its owner is up to something. */
function publicLookup(lookup: Lookup): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { all: true }, (error, addresses = []) => {
      const [first] = addresses;
      if (error !== null || first === undefined) {
        done(error ?? new FetchRefused(`${hostname} has no address`), '', 4);
      } else if (!addresses.every(({ address }) => isPublicAddress(address))) {
        done(new FetchRefused(`fetch to ${hostname} is not allowed: not a public address`), '', 4);
      } else if (options.all) {
        done(null, addresses);
      } else {
        done(null, first.address, first.family);
      }
    });
  };
}

async function readAll(incoming: http.IncomingMessage, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += chunk.length;
    if (size > mostBytes) {
      incoming.destroy();
      throw new FetchRefused(`The response is longer than ${mostBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function pairs(rawHeaders: string[]): [string, string][] {
  const found: [string, string][] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    found.push([`${rawHeaders[index]}`.toLowerCase(), `${rawHeaders[index + 1]}`]);
  }
  return found;
}

/**
 * Whether a Project lets its Bots fetch from a host, whatever its address. `rules` are names, and `*.` with the end of
 * one; `hostname` is as a parsed URL has it: lower case, punycode.
 */
export function isAllowedHost(
  hostname: string,
  rules: { allow?: string[]; deny?: string[] } | undefined,
): boolean {
  const host = hostname.replace(/\.$/, '');
  const matches = (pattern: string) =>
    pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;
  if (rules?.deny?.some(matches)) return false;
  return rules?.allow?.some(matches) ?? true;
}
