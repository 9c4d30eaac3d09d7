import http from 'node:http';
import type { LookupFunction } from 'node:net';
import { Duplex } from 'node:stream';
import { expect, test } from '@jest/globals';
import { guardedRequest, type Lookup } from '../../shared/carry/address-guard/guarded-request.ts';

/** Resolves as a socket would, with the look-up that it was given, and keeps what came of it. */
class RecordingAgent extends http.Agent {
  readonly connectedTo: unknown[] = [];

  override createConnection(options: { host?: string; lookup?: LookupFunction }): Duplex {
    const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
    options.lookup?.(options.host ?? '', { all: true }, (error, addresses) => {
      this.connectedTo.push(error?.message ?? addresses);
      socket.destroy(error ?? new Error('no network in this test'));
    });
    return socket;
  }
}

/** Public when first asked, loopback ever after. */
function rebinding(): Lookup & { asked: () => number } {
  let asked = 0;
  const lookup: Lookup = (_hostname, _options, done) => {
    asked += 1;
    done(null, [{ address: asked === 1 ? '93.184.216.34' : '127.0.0.1', family: 4 }]);
  };
  return Object.assign(lookup, { asked: () => asked });
}

test('a name is looked up once, for the connection itself, and what it says then is checked', async () => {
  const agent = new RecordingAgent();
  const lookup = rebinding();
  const url = new URL('http://rebind.example/');
  const signal = new AbortController().signal;
  const request = () =>
    guardedRequest({
      url,
      method: 'GET',
      headers: {},
      body: undefined,
      signal,
      trusted: false,
      lookup,
      agent,
    });

  await expect(request()).rejects.toThrow('no network in this test');
  expect(lookup.asked()).toBe(1);
  expect(agent.connectedTo).toEqual([[{ address: '93.184.216.34', family: 4 }]]);

  await expect(request()).rejects.toThrow('not a public address');
  expect(lookup.asked()).toBe(2);
});
