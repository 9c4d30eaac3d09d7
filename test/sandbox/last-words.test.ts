import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { cachedGuest } from '../../infra/guest/build.ts';
import { startChild } from '../../shared/bots/sandbox/child-process.ts';
import type { FromChild, ToChild, WireRequest } from '../../shared/bots/sandbox/protocol.ts';
import { createRunNetwork } from '../../shared/bots/sandbox/run-network.ts';
import { createSandbox, superviseRun } from '../../shared/bots/sandbox/supervisor.ts';
import { bot, returned, runOf, word } from './bot-runs.ts';

let server: http.Server;
let api: { baseUrl: string; token: string };
let seen: string[] = [];

beforeAll(async () => {
  server = http.createServer(({ url = '' }, response) => {
    seen.push(url);
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  api = { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, token: 'x' };
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});
beforeEach(() => {
  seen = [];
});

describe('what a run asks for when it has ended', () => {
  test('is not sent, however soon after its return it asks', async () => {
    const sandbox = createSandbox({ guestDir: await cachedGuest() });
    const late = `let later = Promise.resolve();
      for (let i = 0; i < 60; i++) later = later.then(() => { if (i >= 10) fetch("${api.baseUrl}late").catch(() => 0) });
      return 'done';`;
    const code = `export function handler() { ${late} }`;
    for (let run = 0; run < 5; run++) expect(returned(await sandbox.run(runOf(code, { api })))).toBe('done');
    // A run that asks in time is heard behind them.
    const honest = bot(`return (await fetch("${api.baseUrl}honest")).status`);
    expect(returned(await sandbox.run(runOf(honest, { api })))).toBe(200);
    expect(seen).toEqual(['/honest']);
    await sandbox.close();
  });

  test('is not heard by the host either, whoever asks', async () => {
    const answers: string[] = [];
    const network = (done: () => void) =>
      createRunNetwork(runOf(bot(''), { api }), {}, ({ id }) => {
        answers.push(id);
        done();
      });
    const request = (path: string): WireRequest => ({
      url: `${api.baseUrl}${path}`,
      method: 'GET',
      headers: [],
      redirect: 'follow',
    });
    const ended = network(() => undefined);
    ended.close();
    ended.fetch('late', request('late'));
    await new Promise<void>((resolve) => {
      const open = network(resolve);
      open.fetch('in time', request('in-time'));
    });
    expect([seen, answers]).toEqual([['/in-time'], ['in time']]);
  });
});

describe('a child that somebody has taken over', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'portico-child-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test.each([
    ['nothing', 'null'],
    ['a number', '7'],
    ['a log without text', "{ type: 'log', run: message.run, level: 'info' }"],
    ['a log of an object', "{ type: 'log', run: message.run, level: 'info', text: {} }"],
    ['a request of nothing', "{ type: 'fetch', run: message.run, id: '1' }"],
    ['an outcome of nothing', "{ type: 'done', run: message.run }"],
  ])('and that says %s ends its run and harms nobody else', async (_what, says) => {
    await writeFile(
      join(folder, 'child.cjs'),
      `process.on('message', (message) => {
        process.send(${says});
        process.send({ type: 'done', run: message.run, outcome: { kind: 'returned', value: { type: 'undefined' } } });
      });
      process.send({ type: 'ready' });`,
    );
    const child = startChild<ToChild, FromChild>({
      guestDir: folder,
      script: 'child.cjs',
      heapMb: 96,
      addons: false,
    });
    await child.ready;
    child.keepAlive(true);
    const { outcome } = await superviseRun(child, runOf(bot('return 1'), { api })).result;
    expect(['returned', 'limit memory', 'unserialisable']).toContain(word(outcome));
    child.kill();
  });
});
