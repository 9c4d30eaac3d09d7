/** All network access of one run: bounded in number, and over when the run is. */

import http from 'node:http';
import https from 'node:https';
import type { RunRequest } from '../bot/contract.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { FetchRefused, type Lookup } from './guarded-request.ts';
import type { WireRequest, WireResponse } from './protocol.ts';

const MOST_REQUESTS = 1000;
/** Six responses of 4 MiB are all that the host ever holds for a Bot. */
const MOST_AT_ONCE = 6;

type Answer =
  | { type: 'fetched'; id: string; response: WireResponse }
  | { type: 'fetch-failed'; id: string; message: string };

export interface RunNetworkOptions {
  api: { baseUrl: string; token: string; traceId: string } | undefined;
  hosts: RunRequest['fetchHosts'];
  lookup: Lookup | undefined;
  send: (answer: Answer) => void;
}

export interface RunNetwork {
  fetch: (id: string, request: WireRequest) => void;
  abort: (id: string) => void;
  /** Ends every connection. */
  close: () => void;
}

export function createRunNetwork({ api, hosts, lookup, send }: RunNetworkOptions): RunNetwork {
  const agents = new Map<string, http.Agent>();
  const agentFor = (protocol: string) => {
    const agent =
      agents.get(protocol) ?? new (protocol === 'https:' ? https : http).Agent({ keepAlive: true });
    agents.set(protocol, agent);
    return agent;
  };
  const trusted = api && { origin: new URL(api.baseUrl).origin, ...api };
  const open = new Map<string, AbortController>();
  const waiting: [id: string, request: WireRequest][] = [];
  let made = 0;

  const fail = (id: string, message: string) => send({ type: 'fetch-failed', id, message });

  function fetch(id: string, request: WireRequest) {
    made += 1;
    if (made > MOST_REQUESTS) {
      fail(id, `A run may make ${MOST_REQUESTS} requests`);
    } else if (open.size >= MOST_AT_ONCE) {
      waiting.push([id, request]);
    } else {
      void go(id, request);
    }
  }

  async function go(id: string, request: WireRequest): Promise<void> {
    const controller = new AbortController();
    open.set(id, controller);
    const { signal } = controller;
    try {
      const response = await guardedFetch(request, { api: trusted, hosts, lookup, signal, agentFor });
      send({ type: 'fetched', id, response });
    } catch (error) {
      fail(id, error instanceof FetchRefused ? error.message : `fetch failed${codeOf(error)}`);
    }
    open.delete(id);
    const next = waiting.shift();
    if (next !== undefined) {
      void go(...next);
    }
  }

  return {
    fetch,
    abort: (id) => open.get(id)?.abort(),
    close: () => {
      waiting.length = 0;
      for (const controller of open.values()) {
        controller.abort();
      }
      for (const agent of agents.values()) {
        agent.destroy();
      }
    },
  };
}

/** ECONNREFUSED and the like help an author; the rest of Node's message may name our machines. */
function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? `: ${code}` : '';
}
