import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { cachedGuest } from '../../infra/guest/build.ts';
import { createSandbox, type Sandbox } from '../../shared/bots/sandbox/supervisor.ts';
import { bot, returned, runOf } from './bot-runs.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = createSandbox({ guestDir: await cachedGuest() });
});
afterAll(() => sandbox.close());

const value = async (body: string) => returned(await sandbox.run(runOf(bot(body))));

/** Each is a way to reach a host object; all are tried in one Bot. */
const CLIMBS = [
  'this.constructor.constructor("return process")()',
  'globalThis.constructor.constructor("return process")()',
  'console.log.constructor("return process")()',
  'console.log.constructor.constructor("return process.env")()',
  'setTimeout.constructor("return this.process")()',
  'fetch.constructor("return process.mainModule.require(\'fs\')")()',
  '(async () => {}).constructor("return process")()',
  '(function* () {}).constructor("yield process")().next().value',
  'Reflect.get(event, "constructor").constructor("return process")()',
  'event.input?.constructor.constructor("return process")()',
  'require("@medplum/core").MedplumClient.constructor("return process")()',
  'require("@medplum/core").constructor.constructor("return require")()("fs")',
  'require.cache',
  'require.resolve',
  'require.main',
  'module.constructor',
  'module.parent',
  'process',
  'Deno',
  'Bun',
  'global.process',
  'arguments.callee.caller',
  'new Function("return import(\'node:fs\')")',
  'Error.captureStackTrace.constructor("return process")()',
  'Symbol.for("nodejs.util.inspect.custom") in globalThis',
];

test('no way up leads to the host', async () => {
  const tries = CLIMBS.map((climb) => `async () => ${climb}`).join(',\n');
  const found = await value(`const tries = [${tries}]; const found = [];
    for (const climb of tries) { try { const v = await climb(); if (v && typeof v !== 'boolean' && !(typeof v === 'function' && v.name === 'anonymous')) found.push(String(climb)) } catch {} }
    return found`);
  expect(found).toEqual([]);
});

test('our own parts are no modules of a Bot, by any way of asking', async () => {
  for (const name of [
    'portico:keys',
    'portico:form-data',
    'portico:medplum-client',
    'portico:internals',
    'node:portico:keys',
    '__proto__',
    'constructor',
  ]) {
    const body = `return Promise.all([async () => require('${name}'), () => $mport('${name}')].map((ask) => ask().then(() => 'got it', (e) => e.message)))`;
    expect(await value(body)).toEqual(Array(2).fill(expect.stringContaining(`Cannot import '${name}'`)));
    const text = `import * as parts from '${name}'; export const handler = () => 'got it'`;
    expect((await sandbox.run(runOf(text))).outcome).toMatchObject({ kind: 'not-compiled' });
  }
});

test('errors of host calls and call sites show no host object', async () => {
  const body = `Error.prepareStackTrace = (error, sites) => { const seen = []; for (const s of sites) seen[seen.length] = [typeof s.getFunction(), typeof s.getThis(), String(s.getFileName())]; return seen };
    const stacks = []; const note = (run) => { try { run() } catch (e) { stacks.push(...[].concat(e.stack)) } };
    note(() => new URL('::')); note(() => require('fs')); note(() => crypto.getRandomValues(new Uint8Array(1e6)));
    note(() => new TextDecoder('x')); note(() => new Headers([['not a name', '']])); Object.defineProperty(Array.prototype, 'at', { get() { note(() => { throw new Error('m') }); } });
    console.log({ a: 1 }); new URLSearchParams('a=1');
    return stacks`;
  const stacks = (await value(body)) as [string, string, string][];
  expect(stacks.length).toBeGreaterThan(4);
  for (const [fn, self, file] of stacks) {
    expect(file).toMatch(/^(?:bot\.js|portico:\S+|undefined|null)$/);
    if (file !== 'bot.js') {
      expect([fn, self]).toEqual(['undefined', 'undefined']);
    }
  }
});

test('the global scope holds nothing of ours', async () => {
  const names = (await value('return Object.getOwnPropertyNames(globalThis)')) as string[];
  expect(names.filter((name) => /portico|ivm|host|__bot/i.test(name))).toEqual([]);
});

test('a Bot that calls the loader itself fools only itself', async () => {
  const text = 'globalThis.__bot?.({ handler: () => "mine" }); export const handler = () => "real"';
  expect(returned(await sandbox.run(runOf(text)))).toBe('mine');
  expect(await value('return "next"')).toBe('next');
});

test("another run's secret is not there", async () => {
  const secrets = { KEY: { name: 'KEY', valueString: 'secret-of-the-first' } };
  await sandbox.run(runOf(bot('globalThis.stolen = event.secrets; return 1'), { event: { secrets } }));
  expect(await value('return [typeof stolen, JSON.stringify(event)]')).toEqual([
    'undefined',
    expect.not.stringContaining('secret-of'),
  ]);
});
