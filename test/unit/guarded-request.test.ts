import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { guardedRequest } from '../../shared/carry/address-guard/guarded-request.ts';
import { newAuthority } from '../mllp/certificates.ts';

let folder: string;
let ca: string;
const servers: http.Server[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-guarded-'));
  const authority = await newAuthority(folder, 'authority');
  const { cert, key } = await authority.identity('server');
  ca = readFileSync(authority.ca, 'utf8');
  const answer: http.RequestListener = async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    response.writeHead(201, { 'x-method': incoming.method }).end(Buffer.concat(chunks));
  };
  servers.push(
    http.createServer(answer),
    https.createServer({ cert: readFileSync(cert), key: readFileSync(key) }, answer),
  );
  for (const server of servers)
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
});
afterAll(async () => {
  for (const server of servers) server.close();
  await rm(folder, { recursive: true });
});

function send(protocol: 'http' | 'https', agent: http.Agent) {
  const [plain, secured] = servers.map((server) => (server.address() as AddressInfo).port);
  const port = protocol === 'http' ? plain : secured;
  return guardedRequest({
    url: new URL(`${protocol}://localhost:${port}/`),
    ...{ method: 'POST', headers: { 'x-a': 'b' }, body: Buffer.from('text') },
    ...{ signal: AbortSignal.timeout(20_000), trusted: true, agent },
  });
}

describe('a request to a place that may be reached', () => {
  test.each([
    ['http', () => new http.Agent()],
    ['https', () => new https.Agent({ ca })],
  ] as const)('is made over %s as its URL says', async (protocol, newAgent) => {
    const answer = await send(protocol, newAgent());
    expect([answer.status, answer.body.toString()]).toEqual([201, 'text']);
    expect(answer.headers).toContainEqual(['x-method', 'POST']);
  });

  test('over https is none where the certificate is by nobody who is known', async () => {
    await expect(send('https', new https.Agent())).rejects.toMatchObject({
      code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    });
  });
});
