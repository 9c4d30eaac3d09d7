/** All network access of one run: bounded in number, and over when the run is. */

import http from 'node:http';
import https from 'node:https';
import { FetchRefused, type Reach } from '../address-guard/guarded-request.ts';
import type { RunRequest } from '../bot/contract.ts';
import { errorCode } from '../error-name.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { mostFetchesAtOnce, type WireRequest, type WireResponse } from './protocol.ts';

type Answer =
  | { type: 'fetched'; id: string; response: WireResponse }
  | { type: 'fetch-failed'; id: string; message: string };

export interface RunNetworkOptions extends Reach {
  api: { baseUrl: string; token: string; traceId: string } | undefined;
  hosts: RunRequest['fetchHosts'];
  /** How many requests the run may make. */
  most: number;
  send: (answer: Answer) => void;
}

export interface RunNetwork {
  fetch: (id: string, request: WireRequest) => void;
  abort: (id: string) => void;
  /** Ends every connection; what is asked for afterwards is not heard. */
  close: () => void;
}

export function createRunNetwork(options: RunNetworkOptions): RunNetwork {
  const { api, hosts, most, lookup, connectMs, send } = options;
  const agents = new Map<string, http.Agent>();
  const agentFor = (protocol: string) => {
    const agent =
      agents.get(protocol) ?? new (protocol === 'https:' ? https : http).Agent({ keepAlive: true });
    agents.set(protocol, agent);
    return agent;
  };
  const trusted = api && { origin: new URL(api.baseUrl).origin, ...api };
  const open = new Map<string, AbortController>();
  let made = 0;
  let isClosed = false;

  const fail = (id: string, message: string) => send({ type: 'fetch-failed', id, message });

  function fetch(id: string, request: WireRequest) {
    if (isClosed) return;
    made += 1;
    if (made > most) {
      fail(id, `This run may make ${most} requests`);
    } else if (open.size >= mostFetchesAtOnce) {
      // The child makes them wait; this bounds a child that has been taken over.
      fail(id, 'Too many requests at once');
    } else {
      void go(id, request);
    }
  }

  async function go(id: string, request: WireRequest): Promise<void> {
    const controller = new AbortController();
    open.set(id, controller);
    const { signal } = controller;
    try {
      const reach = { lookup, connectMs };
      const response = await guardedFetch(request, { api: trusted, hosts, ...reach, signal, agentFor });
      if (!signal.aborted) send({ type: 'fetched', id, response });
    } catch (error) {
      if (!signal.aborted) {
        fail(id, error instanceof FetchRefused ? error.message : `fetch failed${codeOf(error)}`);
      }
    }
    if (!signal.aborted) open.delete(id);
  }

  function abort(id: string) {
    open.get(id)?.abort();
    open.delete(id);
  }

  return {
    fetch,
    abort,
    close: () => {
      isClosed = true;
      for (const id of [...open.keys()]) {
        abort(id);
      }
      for (const agent of agents.values()) {
        agent.destroy();
      }
    },
  };
}

/** ECONNREFUSED and the like help an author; the rest of Node's message may name our machines. */
function codeOf(error: unknown): string {
  const code = errorCode(error);
  return code ? `: ${code}` : '';
}
