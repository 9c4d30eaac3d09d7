import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { cachedGuest } from '../../infra/guest/build.ts';
import { createSandbox, type Sandbox } from '../../shared/bots/sandbox/supervisor.ts';
import { bot, type RunChanges, returned, runOf } from './bot-runs.ts';

let sandbox: Sandbox;
const value = async (body: string, changes?: RunChanges) =>
  returned(await sandbox.run(runOf(bot(body), changes)));

beforeAll(async () => {
  sandbox = createSandbox({ guestDir: await cachedGuest() });
});
afterAll(() => sandbox.close());

const adt = 'MSH|^~\\&|LAB|A|EHR|B|20260101||ADT^A01|42|P|2.5\rPID|1||123^^^MRN||Smith^Ann\r';

describe('the input', () => {
  test('is undefined without one', async () => {
    expect(await value('return [event.input === undefined, "input" in event]')).toEqual([true, true]);
  });

  test('is the text itself', async () => {
    const text = 'line\u2028 \ud83d\ude00 "q" \\ \u0000';
    expect(await value('return event.input', { input: { kind: 'text', text } })).toBe(text);
  });

  test('is any JSON value', async () => {
    const input = { kind: 'json', text: '{"a":[1,null,"x"],"__proto__":{"b":1}}' } as const;
    expect(await value('return [event.input.a, Object.keys(event.input)]', { input })).toEqual([
      [1, null, 'x'],
      ['a', '__proto__'],
    ]);
  });

  test('is a form without a prototype', async () => {
    const input = { kind: 'form', text: '{"toString":"a","__proto__":"b"}' } as const;
    const body =
      'return [Object.getPrototypeOf(event.input), event.input.toString, event.input.__proto__, event.input.constructor]';
    expect(await value(body, { input })).toEqual([null, 'a', 'b', null]);
  });

  test('is a FHIR resource', async () => {
    const input = { kind: 'fhir', text: '{"resourceType":"Patient","id":"1"}' } as const;
    expect(await value('return event.input.resourceType', { input })).toBe('Patient');
  });

  test('is an HL7 message with an ACK and a view by hl7-standard', async () => {
    const input = { kind: 'hl7', text: adt } as const;
    const body = `const m = event.input;
      return [m.get('PID.5.1'), m.getSegment('PID').getComponent(5, 2), m.standard.get('PID.5.1'), m.toString()]`;
    expect(await value(body, { input })).toEqual(['Smith', 'Ann', 'Smith', adt.trimEnd()]);
    const result = await sandbox.run(runOf(bot('return event.input.buildAck()'), { input }));
    expect(result.outcome).toMatchObject({ kind: 'returned', value: { type: 'hl7' } });
    expect(returned(result)).toContain('MSA|AA|42');
  });

  test('is printed as the message that was sent, whatever the Bot has made of its methods', async () => {
    const input = { kind: 'hl7', text: adt } as const;
    const body = `Object.getPrototypeOf(event.input).toString = () => 'patched';
      console.log(event.input); console.log({ message: event.input });`;
    const { log } = await sandbox.run(runOf(bot(body), { input }));
    const printed = adt.trimEnd().replaceAll('\r', '\n');
    expect(log.map(({ text }) => text)).toEqual([printed, `{ message: ${printed} }`]);
  });

  test('comes with the rest of the event', async () => {
    const secrets = { KEY: { name: 'KEY', valueString: 's3cret-value' } };
    const input = { kind: 'text', text: 'x' } as const;
    const event = (await value('return event', {
      input,
      event: { secrets, contentType: 'text/plain' },
    })) as object;
    expect(event).toEqual({
      bot: { reference: 'Bot/b1', display: 'Test' },
      input: 'x',
      contentType: 'text/plain',
      requester: { reference: 'Practitioner/p1' },
      secrets,
      headers: { accept: '*/*' },
      traceId: 'trace-1',
    });
  });
});

describe('the code', () => {
  test.each([
    ['cjs', 'exports.handler = async () => "cjs"', 'cjs'],
    ['cjs', 'module.exports = { handler: () => "replaced" }', 'replaced'],
    ['cjs', '"use strict"; exports.handler = () => this === undefined || typeof this', 'object'],
    ['esm', 'export const handler = () => "arrow"', 'arrow'],
    ['esm', 'export default { handler: () => "default" }', 'default'],
    [
      'esm',
      'const x = await new Promise((r) => setTimeout(r, 5, "late")); export const handler = () => x',
      'late',
    ],
    [
      'cjs',
      'const { MedplumClient } = require("@medplum/core"); exports.handler = () => typeof MedplumClient',
      'function',
    ],
    [
      'esm',
      'import { getReferenceString as r } from "@medplum/core"; export const handler = () => r({ resourceType: "Bot", id: "1" })',
      'Bot/1',
    ],
    [
      'esm',
      'import { BotEvent } from "@medplum/core"; import { Patient } from "@medplum/fhirtypes"; export const handler = () => typeof BotEvent',
      'undefined',
    ],
    ['esm', 'import HL7 from "hl7-standard"; export const handler = () => typeof HL7', 'function'],
    [
      'esm',
      'import * as core from "@medplum/core"; import again from "@medplum/core"; export const handler = () => core.Hl7Message === again.Hl7Message',
      true,
    ],
  ] as const)('%s: %s', async (format, text, expected) => {
    expect(returned(await sandbox.run(runOf(text, { format })))).toBe(expected);
  });

  test('returns an HL7 message of @medplum/core as one', async () => {
    const text = `import { Hl7Message } from '@medplum/core'; export const handler = () => Hl7Message.parse('MSH|^~\\\\&|A')`;
    const { outcome } = await sandbox.run(runOf(text));
    expect(outcome).toEqual({ kind: 'returned', value: { type: 'hl7', text: 'MSH|^~\\&|A' } });
  });

  test('throws an outcome, with a stack of its own file only', async () => {
    const text = `const { OperationOutcomeError, notFound } = require('@medplum/core');
      exports.handler = async () => { throw new OperationOutcomeError(notFound) }`;
    const { outcome } = await sandbox.run(runOf(text, { format: 'cjs', filename: '/home/me/src/my bot.ts' }));
    expect(outcome).toMatchObject({ kind: 'threw', name: 'OperationOutcomeError' });
    if (outcome.kind === 'threw') {
      expect(JSON.parse(outcome.outcome ?? '')).toMatchObject({
        resourceType: 'OperationOutcome',
        id: 'not-found',
      });
      expect(outcome.stack).toMatch(/my_bot\.ts:2:\d+/);
      expect(JSON.stringify(outcome)).not.toMatch(/portico|\/home|node_modules|isolated-vm/);
    }
  });

  test('can be given no medplum, and says so when it is used', async () => {
    const { outcome } = await sandbox.run(runOf(bot('return medplum.readResource("Patient", "1")')));
    expect(outcome).toMatchObject({
      kind: 'threw',
      message: expect.stringContaining('medplum is not available'),
    });
  });
});

describe('what a Bot has', () => {
  test('console', async () => {
    const body = `console.log('a', 1, { b: [1n, new Date(0), new Map([['k', null]])] }); console.warn('%s-%d%%', 'x', 5);
      console.error(new RangeError('bad')); console.debug();`;
    const { log, logTruncated } = await sandbox.run(runOf(bot(body)));
    expect(log.map(({ level, text }) => [level, text.split('\n')[0]])).toEqual([
      ['info', 'a 1 { b: [ 1n, 1970-01-01T00:00:00.000Z, Map { "k" => null } ] }'],
      ['warn', 'x-5%'],
      ['error', 'RangeError: bad'],
      ['debug', ''],
    ]);
    expect(logTruncated).toBe(false);
  });

  test('timers', async () => {
    const body = `const seen = []; const wait = (ms) => new Promise((done) => setTimeout(done, ms));
      setTimeout((x) => seen.push(x), 10, 'b'); setImmediate(() => seen.push('a'));
      clearTimeout(setTimeout(() => seen.push('never'), 1));
      let n = 0; const every = setInterval(() => { seen.push(n); if (++n === 2) clearInterval(every) }, 15);
      queueMicrotask(() => seen.push('first')); while (n < 2) await wait(5); await wait(40); return seen`;
    expect(await value(body)).toEqual(['first', 'a', 'b', 0, 1]);
  });

  test('URL and URLSearchParams', async () => {
    const body = `const u = new URL('/a b?x=1&y=%C3%A9+z', 'https://ex\u00e4mple.org'); u.searchParams.append('k', "a&b c'*~");
      u.port = '8443'; u.hash = 'h'; const p = new URLSearchParams({ a: '\u00e9 ', b: '%zz' }); p.append('a', '2'); p.sort();
      const s = new URLSearchParams('a=1&b=2&a=3&c=4'); s.set('a', '5'); s.set('d', '6');
      return [s.toString(), u.href, u.host, u.searchParams.get('y'), [...u.searchParams.keys()], p.toString(), p.getAll('a'),
        URL.canParse('nope'), new URLSearchParams('?q=%ff&r=%41%').toString(), JSON.stringify({ u })]`;
    const u = new URL('/a b?x=1&y=%C3%A9+z', 'https://exämple.org');
    u.searchParams.append('k', "a&b c'*~");
    u.port = '8443';
    u.hash = 'h';
    const p = new URLSearchParams({ a: 'é ', b: '%zz' });
    p.append('a', '2');
    p.sort();
    expect(await value(body)).toEqual([
      'a=5&b=2&c=4&d=6',
      u.href,
      u.host,
      'é z',
      ['x', 'y', 'k'],
      p.toString(),
      ['é ', '2'],
      false,
      new URLSearchParams('?q=%ff&r=%41%').toString(),
      JSON.stringify({ u }),
    ]);
  });

  test('text encodings', async () => {
    const text = 'a\u00e9\u20ac\ud83d\ude00\ud800z';
    const bytes = [
      0xef, 0xbb, 0xbf, 0x61, 0xc3, 0x28, 0xe2, 0x82, 0xf0, 0x9f, 0x98, 0x80, 0xed, 0xa0, 0x80, 0xff,
    ];
    const body = `const bytes = new Uint8Array(${JSON.stringify(bytes)}); const d = new TextDecoder('utf-8');
      const streamed = d.decode(bytes.slice(0, 9), { stream: true }) + d.decode(bytes.slice(9));
      return [[...new TextEncoder().encode(${JSON.stringify(text)})], new TextDecoder().decode(bytes), streamed,
        btoa('\u00ff\u0000a'), atob(' /wBh '), (() => { try { new TextDecoder('utf-8', { fatal: true }).decode(bytes) } catch (e) { return e.name } })()]`;
    const decoded = new TextDecoder().decode(new Uint8Array(bytes));
    expect(await value(body)).toEqual([
      [...new TextEncoder().encode(text)],
      decoded,
      decoded,
      '/wBh',
      'ÿ\0a',
      'TypeError',
    ]);
  });

  test('base64 of what is no byte, and of what is no base64, is refused by name', async () => {
    const body = `return [() => btoa('\u0100'), () => btoa('a\u20ac'), () => atob('a'), () => atob('\u00e4aaa')]
      .map((run) => { try { return run() } catch (e) { return e.name } })`;
    expect(await value(body)).toEqual(Array(4).fill('InvalidCharacterError'));
  });

  test('Buffer', async () => {
    const body = `const b = Buffer.from('h\u00e9llo'); const n = Buffer.alloc(8); n.writeUInt16BE(0x1234, 0); n.writeDoubleLE && n.writeInt32LE(-5, 4);
      return [b.toString('hex'), b.toString('base64'), Buffer.from('aGk_', 'base64url').toString('latin1'), Buffer.concat([b, n]).length,
        n.readUInt16BE(0), n.readInt32LE(4), b.equals(Buffer.from(b)), JSON.stringify(Buffer.from([1])), Buffer.byteLength('\u20ac'),
        Buffer.isBuffer(b.slice(1)), Buffer.from('abc').subarray(1).toString()]`;
    const b = Buffer.from('héllo');
    expect(await value(body)).toEqual([
      b.toString('hex'),
      b.toString('base64'),
      Buffer.from('aGk_', 'base64url').toString('latin1'),
      b.length + 8,
      0x1234,
      -5,
      true,
      '{"type":"Buffer","data":[1]}',
      3,
      true,
      'bc',
    ]);
  });

  test('crypto: published vectors', async () => {
    const body = `const bytes = (text) => new TextEncoder().encode(text); const hex = (buffer) => Buffer.from(buffer).toString('hex');
      const hmac = { name: 'HMAC', hash: 'SHA-256' };
      const key = await crypto.subtle.importKey('raw', bytes('Jefe'), hmac, false, ['sign', 'verify']);
      const mac = await crypto.subtle.sign('HMAC', key, bytes('what do ya want for nothing?'));
      return [hex(await crypto.subtle.digest('SHA-256', bytes('abc'))), hex(await crypto.subtle.digest({ name: 'sha-1' }, bytes('abc'))), hex(mac),
        await crypto.subtle.verify('HMAC', key, mac, bytes('what do ya want for nothing?')), await crypto.subtle.verify('HMAC', key, mac, bytes('else')),
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()),
        new Set(crypto.getRandomValues(new Uint32Array(64))).size > 60]`;
    expect(await value(body)).toEqual([
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad', // FIPS 180-4
      'a9993e364706816aba3e25717850c26c9cd0d89d',
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843', // RFC 4231, case 2
      true,
      false,
      true,
      true,
    ]);
  });

  test('structuredClone, AbortController, Headers, Response, Blob', async () => {
    const body = `const a = { d: new Date(1), m: new Map([[1, new Set([2])]]), b: new Uint8Array([1, 2]) }; a.self = a;
      const c = structuredClone(a); const controller = new AbortController(); let heard = 0;
      controller.signal.addEventListener('abort', () => heard++); controller.abort(); controller.abort();
      const h = new Headers({ A: '1' }); h.append('a', '2'); const r = Response.json({ x: 1 });
      return [c !== a && c.self === c, c.d.getTime(), c.m.get(1).has(2), c.b[1], (() => { try { structuredClone(() => 1) } catch (e) { return e.name } })(),
        heard, controller.signal.reason.name, [...h], await r.json(), r.ok, await new Blob(['a', new Uint8Array([98])]).text()]`;
    const expected = [
      true,
      1,
      true,
      2,
      'DataCloneError',
      1,
      'AbortError',
      [['a', '1, 2']],
      { x: 1 },
      true,
      'ab',
    ];
    expect(await value(body)).toEqual(expected);
  });

  test('no more than that', async () => {
    const names = [
      'process',
      'module',
      'WebAssembly',
      'SharedArrayBuffer',
      'Atomics',
      'Deno',
      'XMLHttpRequest',
      'WebSocket',
      'Worker',
    ];
    expect(await value(`return ${JSON.stringify(names)}.filter((name) => name in globalThis)`)).toEqual([]);
  });
});

test('a real 4 MiB message is read and answered', async () => {
  const observation = readFileSync(new URL('../../package.json', import.meta.url), 'base64');
  const text = `${adt}OBX|1|ED|PDF||${observation.repeat(Math.ceil((4 * 1024 * 1024) / observation.length))}\r`;
  const input = { kind: 'hl7', text } as const;
  const limits = { memoryMb: 128, timeoutMs: 15_000 };
  expect(await value("return event.input.get('OBX.5').length", { input, limits })).toBeGreaterThan(4_000_000);
});
