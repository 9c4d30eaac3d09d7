import http from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { cachedGuest } from '../../infra/guest/build.ts';
import { createRunNetwork, guardedFetch } from '../../shared/bots/sandbox/run-network.ts';
import { createSandbox, type Sandbox } from '../../shared/bots/sandbox/supervisor.ts';
import type { Lookup } from '../../shared/carry/address-guard/guarded-request.ts';
import { bot, type RunChanges, returned, runOf } from './bot-runs.ts';

const TOKEN = 'run-token-of-the-host';
const PATIENT = { resourceType: 'Patient', id: '1' };

interface Seen {
  method: string;
  url: string;
  headers: http.IncomingHttpHeaders;
  body: string;
}

let sandbox: Sandbox;
let api: { baseUrl: string; token: string };
let elsewhere: string;
let seen: Seen[] = [];
let seenElsewhere: Seen[] = [];
const asked: string[] = [];
/** Names answer here; a list is worked off look-up by look-up. */
const names: Record<string, string[][]> = {};

const lookup: Lookup = (hostname, _options, done) => {
  asked.push(hostname);
  if (hostname.endsWith('.invalid')) return done(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
  const answers = names[hostname] ?? [];
  const addresses = (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
  done(
    null,
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  );
};

function listen(answer: (request: Seen, response: http.ServerResponse) => void): Promise<http.Server> {
  const server = http.createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) {
      chunks.push(chunk as Buffer);
    }
    const { method = '', url = '', headers } = incoming;
    answer({ method, url, headers, body: Buffer.concat(chunks).toString('utf8') }, response);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

const servers: http.Server[] = [];
const originOf = (server: http.Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

beforeAll(async () => {
  const other = await listen((request, response) => {
    seenElsewhere.push(request);
    response.end('elsewhere');
  });
  elsewhere = originOf(other);
  const server = await listen((request, response) => {
    seen.push(request);
    const { pathname, searchParams } = new URL(request.url, 'http://x');
    if (pathname === '/redirect') {
      response
        .writeHead(Number(searchParams.get('status') ?? 302), { location: searchParams.get('to') ?? '/end' })
        .end();
    } else if (pathname === '/loop') {
      response.writeHead(302, { location: '/loop' }).end();
    } else if (pathname === '/large') {
      response.end(Buffer.alloc(4 * 1024 * 1024 + 1));
    } else if (pathname === '/bytes') {
      response.end(Buffer.from([0xff, 0x00, 0xfe]));
    } else if (pathname === '/slow') {
      // Whoever asks gives up before.
      setTimeout(() => response.end(), 60_000).unref();
    } else if (pathname.startsWith('/fhir/R4/Patient/missing')) {
      response.writeHead(404, { 'content-type': 'application/fhir+json' });
      response.end(
        JSON.stringify({
          resourceType: 'OperationOutcome',
          issue: [{ severity: 'error', code: 'not-found' }],
        }),
      );
    } else if (pathname.startsWith('/fhir/R4/Patient/unauthorized')) {
      response.writeHead(401, { 'content-type': 'application/fhir+json' }).end('{}');
    } else {
      response.writeHead(200, { 'content-type': 'application/fhir+json', 'x-answer': 'yes' });
      response.end(request.method === 'POST' ? request.body : JSON.stringify(PATIENT));
    }
  });
  servers.push(server, other);
  api = { baseUrl: `${originOf(server)}/`, token: TOKEN };
  sandbox = createSandbox({ guestDir: await cachedGuest(), lookup, connectMs: 2000 });
});

afterEach(() => {
  seen = [];
  seenElsewhere = [];
  asked.length = 0;
});

afterAll(async () => {
  await sandbox.close();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

const value = async (body: string, changes?: RunChanges) =>
  returned(await sandbox.run(runOf(bot(body), { api, ...changes })));
/** What `fetch(url)` came to: the text, or the message of its error. */
const fetched = (url: string) =>
  value(`return fetch(${JSON.stringify(url)}).then((r) => r.text(), (e) => e.name + ': ' + e.message)`);

describe('the API', () => {
  test('is reached with the token that the guest never sees', async () => {
    const body = `const p = await medplum.readResource('Patient', '1'); return [p, medplum.getAccessToken(), JSON.stringify([event, String(medplum)])]`;
    const [patient, placeholder, all] = (await value(body)) as [unknown, string, string];
    expect(patient).toEqual(PATIENT);
    expect(placeholder).not.toBe(TOKEN);
    expect(all).not.toContain(TOKEN);
    expect(seen.map(({ method, url, headers }) => [method, url, headers.authorization])).toEqual([
      ['GET', '/fhir/R4/Patient/1', `Bearer ${TOKEN}`],
    ]);
  });

  test('is reached in an isolate that was made ready for what the last Bot used', async () => {
    const text = `const { MedplumClient } = require('@medplum/core');
      exports.handler = async (medplum) => [medplum instanceof MedplumClient, (await medplum.readResource('Patient', '1')).id]`;
    for (let round = 0; round < 4; round++) {
      expect(returned(await sandbox.run(runOf(text, { api, format: 'cjs' })))).toEqual([true, PATIENT.id]);
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
  });

  test('takes what the client creates', async () => {
    expect(
      await value(
        `return medplum.createResource({ resourceType: 'Patient', name: [{ family: 'M\u00fcller' }] })`,
      ),
    ).toEqual({
      resourceType: 'Patient',
      name: [{ family: 'Müller' }],
    });
    expect(seen[0]).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/fhir+json' } });
  });

  test('answers errors as outcomes', async () => {
    const { outcome } = await sandbox.run(
      runOf(bot(`return medplum.readResource('Patient', 'missing')`), { api }),
    );
    expect(outcome).toMatchObject({
      kind: 'threw',
      name: 'OperationOutcomeError',
      outcome: expect.stringContaining('not-found'),
    });
  });

  test('is asked once when it refuses the token', async () => {
    const { outcome } = await sandbox.run(
      runOf(bot(`return medplum.readResource('Patient', 'unauthorized')`), { api }),
    );
    expect(outcome.kind).toBe('threw');
    expect(seen).toHaveLength(1);
  });

  test("gets the host's authorization whatever the guest sends", async () => {
    const headers = { Authorization: 'Bearer mine', cookie: 'a=b', Host: 'evil', 'x-other': '1' };
    await value(`await fetch('${api.baseUrl}x', { headers: ${JSON.stringify(headers)} })`);
    expect(seen[0]?.headers).toMatchObject({ authorization: `Bearer ${TOKEN}`, 'x-other': '1' });
    expect(seen[0]?.headers).not.toHaveProperty('cookie');
    expect(seen[0]?.headers.host).toBe(new URL(api.baseUrl).host);
  });

  test('is one client: instanceof, own properties and methods', async () => {
    const text = `import { MedplumClient } from '@medplum/core';
      export const handler = async (medplum) => { const { fhirUrl } = medplum;
        return [medplum instanceof MedplumClient, medplum.getBaseUrl(), 'readResource' in medplum, fhirUrl('Patient').pathname, await medplum === medplum] }`;
    expect(returned(await sandbox.run(runOf(text, { api })))).toEqual([
      true,
      api.baseUrl,
      true,
      '/fhir/R4/Patient',
      true,
    ]);
  });
});

describe('elsewhere', () => {
  const refused = expect.stringMatching(/^TypeError: .*not a public address$/);

  test.each([
    'http://127.0.0.1:1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://0/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[fd00:ec2::254]/latest/meta-data/',
    'http://169.254.169.254/latest/meta-data/',
    'http://169.254.170.2/v2/credentials',
    'https://10.0.0.1/',
    'http://100.100.100.200/',
    'http://\uff11\uff12\uff17.0.0.1/',
  ])('%s is refused', async (url) => {
    expect(await fetched(url)).toEqual(refused);
  });

  test("the API's host on another port is not the API", async () => {
    expect(await fetched(elsewhere)).toEqual(refused);
    expect(seenElsewhere).toEqual([]);
  });

  test('is nothing at all without an API', async () => {
    const result = await sandbox.run(runOf(bot(`return fetch('${api.baseUrl}').catch((e) => e.message)`)));
    expect(returned(result)).toMatch(/not a public address/);
  });

  test.each([
    'file:///etc/passwd',
    'data:text/plain,x',
    'ftp://a.example/',
    'https://u:p@a.example/',
    'nonsense',
  ])('%s is no address', async (url) => {
    expect(await fetched(url)).toMatch(/^TypeError: /);
    expect(asked).toEqual([]);
  });

  test.each([
    ['private', ['10.1.2.3']],
    ['loopback', ['127.0.0.1']],
    ['public and private', ['93.184.216.34', '192.168.0.1']],
    ['mapped', ['::ffff:127.0.0.1']],
  ])('a name with a %s address is refused', async (_, addresses) => {
    names['internal.example'] = [addresses];
    expect(await fetched('http://internal.example/')).toEqual(refused);
  });
});

describe('a redirect', () => {
  const to = (target: string, status = 302) =>
    `${api.baseUrl}redirect?status=${status}&to=${encodeURIComponent(target)}`;

  test('is followed inside the API', async () => {
    const body = `const r = await fetch('${to('/fhir/R4/Patient/1')}'); return [r.redirected, new URL(r.url).pathname, (await r.json()).id]`;
    expect(await value(body)).toEqual([true, '/fhir/R4/Patient/1', '1']);
  });

  test('is said of no answer that came at once', async () => {
    const url = `${api.baseUrl}fhir/R4/Patient/1`;
    expect(await value(`const r = await fetch('${url}'); return [r.redirected, r.url]`)).toEqual([
      false,
      url,
    ]);
  });

  test('is checked like a first request', async () => {
    for (const target of [elsewhere, 'http://169.254.169.254/', 'http://2130706433/', 'file:///etc/passwd']) {
      expect(await fetched(to(target))).toMatch(/^TypeError: /);
    }
    names['redirected.example'] = [['10.0.0.1']];
    expect(await fetched(to('http://redirected.example/'))).toMatch(/not a public address/);
    expect(seenElsewhere).toEqual([]);
  });

  test.each([307, 302])(
    'of %i from elsewhere does not lead into the API, with the token of the run',
    async (status) => {
      const { host, port, origin } = new URL(api.baseUrl);
      // Every name leads to the server of the API, so that elsewhere is reached at all.
      const agent = new http.Agent();
      agent.createConnection = () => connect(Number(port), '127.0.0.1');
      const answer = guardedFetch(
        {
          url: `http://elsewhere.example/redirect?status=${status}&to=${encodeURIComponent(`http://${host}/fhir/R4/Patient/1`)}`,
          method: 'DELETE',
          headers: [],
          redirect: 'follow',
        },
        {
          api: { origin, token: TOKEN, traceId: 't' },
          lookup,
          signal: AbortSignal.timeout(10_000),
          agentFor: () => agent,
        },
      );
      await expect(answer).rejects.toThrow('does not lead into the API');
      expect(seen.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    },
  );

  test('to another origin does not carry credentials on, whatever the header is called', async () => {
    const { port, origin } = new URL(api.baseUrl);
    const agent = new http.Agent();
    agent.createConnection = () => connect(Number(port), '127.0.0.1');
    const credentials = [
      'Authorization',
      'X-Api-Key',
      'X-Hub-Signature-256',
      'X-Session-Id',
      'X-Passwd',
      'X-Jwt',
    ];
    await guardedFetch(
      {
        url: `http://one.example/redirect?to=${encodeURIComponent('http://two.example/end')}`,
        method: 'GET',
        headers: [...credentials, 'X-Clinic'].map((name) => [name, 'a']),
        redirect: 'follow',
      },
      {
        api: { origin, token: TOKEN, traceId: 't' },
        lookup,
        signal: AbortSignal.timeout(10_000),
        agentFor: () => agent,
      },
    );
    const given = seen.map(({ headers }) => Object.keys(headers).filter((name) => headers[name] === 'a'));
    const all = [...credentials, 'X-Clinic'].map((name) => name.toLowerCase());
    expect(given.map((names) => names.sort())).toEqual([all.sort(), ['x-clinic']]);
  });

  test('can be refused or taken as it is', async () => {
    expect(
      await value(
        `return fetch('${to('/end')}', { redirect: 'manual' }).then((r) => [r.status, r.headers.get('location')])`,
      ),
    ).toEqual([302, '/end']);
    expect(await value(`return fetch('${to('/end')}', { redirect: 'error' }).catch((e) => e.name)`)).toBe(
      'TypeError',
    );
  });

  test.each([
    [303, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [307, 'POST', 'POST', 'b'],
  ])('%i makes %s a %s', async (status, method, then, body) => {
    await value(`await fetch('${to('/end', status)}', { method: '${method}', body: 'b' })`);
    expect(seen[1]).toMatchObject({ url: '/end', method: then, body });
  });

  test('without end is given up', async () => {
    expect(await fetched(`${api.baseUrl}loop`)).toMatch(/Too many redirects/);
  });
});

describe('a body', () => {
  test('of bytes crosses unchanged', async () => {
    expect(await value(`return [...(await (await fetch('${api.baseUrl}bytes')).bytes())]`)).toEqual([
      255, 0, 254,
    ]);
    await value(
      `await fetch('${api.baseUrl}x', { method: 'POST', body: new URLSearchParams({ a: '\u00e9' }) })`,
    );
    expect(seen[1]).toMatchObject({
      body: 'a=%C3%A9',
      headers: { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' },
    });
  });

  test('over 4 MiB is refused', async () => {
    expect(await fetched(`${api.baseUrl}large`)).toMatch(/longer than 4194304 bytes/);
  });
});

test('a name that a network does not look up, and a server that it does not let through, are named as such', async () => {
  expect(await fetched('https://unlisted.invalid/')).toMatch(/^TypeError: fetch failed: ENOTFOUND$/);
  const taken: Socket[] = [];
  const silent = createServer((socket) => taken.push(socket));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', () => resolve()));
  const baseUrl = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
  const body = `return fetch('${baseUrl}').catch((e) => e.name + ': ' + e.message)`;
  expect(await value(body, { api: { baseUrl, token: TOKEN } })).toBe('TypeError: fetch failed: ETIMEDOUT');
  expect(taken).toHaveLength(1);
  for (const socket of taken) socket.destroy();
  silent.close();
});

test('an abort and the end of the run end a request', async () => {
  const slow = `${api.baseUrl}slow`;
  expect(
    await value(`return fetch('${slow}', { signal: AbortSignal.timeout(50) }).catch((e) => e.name)`),
  ).toBe('TimeoutError');
  const result = await sandbox.run(runOf(bot(`await fetch('${slow}')`), { api, limits: { timeoutMs: 200 } }));
  expect(result.outcome).toMatchObject({ kind: 'limit', limit: 'time' });
});

test('what is aborted before its turn never leaves the isolate, and its place is free at once', async () => {
  const before = process.memoryUsage.rss();
  let most = before;
  const measuring = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 5);
  const body = `const stop = new AbortController();
    const slow = Array.from({ length: 6 }, () => fetch('${api.baseUrl}slow', { signal: stop.signal }).catch((e) => e.name));
    const large = 'x'.repeat(4e6);
    const names = [];
    for (let i = 0; i < 80; i++) {
      const one = new AbortController();
      const posted = fetch('${api.baseUrl}posted', { method: 'POST', body: large, signal: one.signal });
      one.abort();
      names.push(await posted.catch((e) => e.name));
      await new Promise((done) => setTimeout(done, 5));
    }
    stop.abort();
    names.push(...(await Promise.all(slow)));
    return [names.every((name) => name === 'AbortError'), names.length, (await fetch('${api.baseUrl}last')).status]`;
  const limits = { memoryMb: 128, timeoutMs: 20_000 };
  expect(await value(body, { limits })).toEqual([true, 86, 200]);
  clearInterval(measuring);
  expect(seen.map(({ url }) => url)).toEqual([...Array(6).fill('/slow'), '/last']);
  expect((most - before) / 2 ** 20).toBeLessThan(64);
});

test('a child that keeps to no turns is refused what is too much', async () => {
  const answers: { type: string; id: string }[] = [];
  const run = runOf(bot(''), { api, limits: { calls: 8 } });
  const network = createRunNetwork(run, {}, (answer) => answers.push(answer));
  const request = { url: `${api.baseUrl}slow`, method: 'GET', headers: [], redirect: 'follow' } as const;
  for (let id = 1; id <= 10; id++) network.fetch(`${id}`, { ...request, headers: [] });
  expect(answers).toEqual([
    { type: 'fetch-failed', id: '7', message: 'Too many requests at once' },
    { type: 'fetch-failed', id: '8', message: 'Too many requests at once' },
    { type: 'fetch-failed', id: '9', message: 'This run may make 8 requests' },
    { type: 'fetch-failed', id: '10', message: 'This run may make 8 requests' },
  ]);
  network.close();
});

test('many requests take turns, and no run makes more than it may', async () => {
  const many = (
    count: number,
  ) => `const all = Array.from({ length: ${count} }, () => fetch('${api.baseUrl}x'));
    return (await Promise.allSettled(all)).filter((one) => one.status === 'fulfilled').length`;
  expect(await value(many(150))).toBe(150);
  expect(await value(many(1010), { limits: { timeoutMs: 20_000 } })).toBe(1000);
  expect(await value(many(30), { limits: { calls: 12 } })).toBe(12);
  expect(
    await value(`return fetch('${api.baseUrl}x').catch((e) => e.message)`, { limits: { calls: 0 } }),
  ).toBe('This run may make 0 requests');
});

test('what waits to be sent is bounded in bytes', async () => {
  const body = `const post = () => fetch('${api.baseUrl}x', { method: 'POST', body: 'b'.repeat(3e6) }).then(() => 1, (e) => e.message);
    return Promise.all(Array.from({ length: 9 }, post))`;
  const results = (await value(body, { limits: { memoryMb: 128, timeoutMs: 20_000 } })) as unknown[];
  expect(results.filter((one) => one === 1).length).toBeGreaterThan(1);
  expect(results).toContain('Too much is being sent at once');
});
