import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Portico, startPortico } from './portico.ts';

let portico: Portico;
beforeAll(async () => {
  portico = await startPortico();
  // The first request builds the app.
  await portico.api('GET', 'app', { token: null });
});
afterAll(() => portico.stop());

const get = (path: string, headers = {}) =>
  fetch(`${portico.baseUrl}/${path}`, { headers: { 'accept-encoding': 'identity', ...headers } });

test.each(['app', 'app/accept', 'app/members/some-id'])(
  '%s opens the app under a strict policy',
  async (path) => {
    const answer = await get(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'cache-control': 'no-cache',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
    });
    const page = await answer.text();
    expect(page).not.toMatch(/<style|style=|<script(?![^>]* src=)|\son\w+=/);
  },
);

test('its files are named by their content and kept for good', async () => {
  const page = await (await get('app')).text();
  const files = [...page.matchAll(/(?:src|href)="\/(app\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
  expect(files.length).toBeGreaterThan(1);
  for (const path of files) {
    const answer = await get(path);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([
      200,
      'public, max-age=31536000, immutable',
    ]);
    const same = await get(path, { 'if-none-match': answer.headers.get('etag') });
    expect([same.status, await same.text()]).toEqual([304, '']);
  }
});

test('the description of the API is a public file that may be kept for five minutes', async () => {
  const answer = await get('openapi.json');
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
  expect((await answer.json()).openapi).toMatch(/^3\.1\./);
  const same = await get('openapi.json', { 'if-none-match': answer.headers.get('etag') });
  expect([same.status, await same.text()]).toEqual([304, '']);
});

test('the first load is under 250 kB', async () => {
  const sizes: number[] = [];
  const page = await (await get('app')).text();
  for (const [, path = ''] of page.matchAll(/(?:src|href)="\/(app\/[^"]+)"/g)) {
    const answer = await get(path, { 'accept-encoding': 'gzip' });
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    sizes.push(Number(answer.headers.get('content-length')));
  }
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(sizes.every((size) => size > 0)).toBe(true);
  expect(total).toBeLessThan(250_000);
});

test('whoever takes no gzip gets the same file', async () => {
  const [plain, refused] = [await get('app'), await get('app', { 'accept-encoding': 'gzip;q=0, br' })];
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect(refused.headers.get('content-encoding')).toBeNull();
  const packed = await get('app', { 'accept-encoding': 'br, gzip' });
  expect(await packed.text()).toBe(await plain.text());
});

test.each(['app/assets/none.js', 'app/../package.json', 'app/%2e%2e/package.json', 'app/x.php'])(
  '%s is not there',
  async (path) => {
    const answer = await get(path);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ resourceType: 'OperationOutcome' });
  },
);

test('a laptop says that it has a mailbox', async () => {
  expect(await (await get('app/stage.json')).json()).toEqual({ hasMailbox: true });
});

test('it brings the notice of what others have made', async () => {
  const answer = await get('app/NOTICE.txt');
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(await answer.text()).toBe(await readFile(resolve(import.meta.dirname, '../../NOTICE'), 'utf8'));
});
