import nodeCrypto, { type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { cachedGuest } from '../../infra/guest/build.ts';
import { fetchPackages, nodeModules } from '../../shared/bots/sandbox/modules.ts';
import { createSandbox, type Sandbox } from '../../shared/bots/sandbox/supervisor.ts';
import { bot, type RunChanges, returned, runOf } from './bot-runs.ts';

const require = createRequire(import.meta.url);
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = createSandbox({ guestDir: await cachedGuest() });
});
afterAll(() => sandbox.close());

async function value(body: string, changes: RunChanges = {}): Promise<unknown> {
  return returned(await sandbox.run(runOf(bot(body), changes)));
}

/** What the body returns in Node itself. */
async function inNode(body: string): Promise<unknown> {
  const AsyncFunction = (async () => undefined).constructor as new (
    ...parts: string[]
  ) => (...parts: unknown[]) => Promise<unknown>;
  return JSON.parse(JSON.stringify((await new AsyncFunction('require', body)(require)) ?? null));
}

const sample = 'gr\u00fc\u00df \u{1f600} 0123456789';
/** Each is tried here and in Node. */
const alike: Record<string, string[]> = {
  crypto: [
    ...['md5', 'sha1', 'sha224', 'SHA256', 'sha384', 'RSA-SHA512'].flatMap((name) =>
      ['hex', 'base64', 'base64url', 'latin1'].map(
        (encoding) =>
          `m.createHash('${name}').update('${sample}').update(Buffer.from([0, 255])).digest('${encoding}')`,
      ),
    ),
    `m.createHash('sha256').digest()`,
    `m.createHmac('sha256', 'key').update('a').update('b', 'latin1').digest('hex')`,
    `m.createHmac('sha1', Buffer.alloc(100, 1)).update('6162', 'hex').digest('base64')`,
    `m.createHmac('sha256', m.createSecretKey(Buffer.from('k'))).update('a').digest('hex')`,
    `(() => { const h = m.createHash('md5').update('a'); const c = h.copy(); return [h.update('b').digest('hex'), c.digest('hex')] })()`,
    `(() => { const h = m.createHash('md5'); h.digest(); try { h.update('a') } catch (e) { return e.message } })()`,
    `m.timingSafeEqual(Buffer.from('a'), Buffer.from('a')) && !m.timingSafeEqual(Buffer.from('a'), Buffer.from('b'))`,
    `[m.randomBytes(0).length, m.randomBytes(200_000).length, m.randomUUID().length, m.randomInt(1), m.randomInt(5, 6)]`,
    `m.hash('sha1', 'abc')`,
    `typeof m.randomBytes(8).readUInt32BE(4) + m.createHash('md5').digest().readUInt16LE(0)`,
  ],
  querystring: [
    `m.parse('a=1&b=%C3%A9&b=x+y&__proto__=z&c&=d&%ZZ=%')`,
    `m.stringify({ a: [1, 'x y'], b: true, c: null, d: '\u00e9&=', e: Infinity, f: undefined, g: 10n })`,
    `m.stringify({ a: 1, b: 2 }, ';', ':') + m.escape('a b') + m.unescape('%41')`,
    `m.parse('a:1;b:2', ';', ':')`,
  ],
  url: [
    ...[
      'https://user:pa%20ss@Example.com:8080/a/b?c=d&e=f#g',
      'http://example.com',
      '/path/only?x=1#y',
      '//host/path',
      'mailto:a@b.c',
      '?a=b',
      '#a',
      'a/b',
      '',
      'https://example.com?x',
    ].flatMap((text) => [
      `Object.entries(m.parse(${JSON.stringify(text)})).filter(([k]) => typeof m.parse('')[k] !== 'function')`,
      `m.format(m.parse(${JSON.stringify(text)}))`,
      `m.parse(${JSON.stringify(text)}, true).query`,
    ]),
    `m.format({ protocol: 'https', hostname: 'a.b', port: 1, pathname: 'x', query: { a: [1, 2] }, hash: 'h' })`,
    `m.format(new URL('https://a/b?c#d'))`,
    ...[
      ['/one/two/three', 'four'],
      ['http://example.com/', '/one'],
      ['http://example.com/one', '../two?x'],
      ['/a/b/', '../../c#d'],
    ].map(([from, to]) => `m.resolve('${from}', '${to}')`),
    `[m.URL === URL, m.URLSearchParams === URLSearchParams]`,
    `m.urlToHttpOptions(new URL('https://a:b@[::1]:9/x?y#z'))`,
  ],
  util: [
    `m.promisify((a, b, done) => done(null, a + b))(1, 2)`,
    `m.promisify((done) => done(new Error('no')))().catch((e) => e.message)`,
    `new Promise((done) => m.callbackify(async (a) => a + 1)(1, (e, v) => done([e, v])))`,
    `(() => { function A() {} function B() {} B.prototype.b = 1; m.inherits(A, B); return [new A().b, A.super_ === B] })()`,
    `m.format('%s %d %i %j %%', 'a', 1.5, 2.7, { a: 1 }, 'more')`,
    `m.isDeepStrictEqual({ a: [1, new Map([[1, new Set([2])]])] }, { a: [1, new Map([[1, new Set([2])]])] })`,
    `[m.isDeepStrictEqual({ a: 1 }, { a: 1, b: 2 }), m.isDeepStrictEqual([1], { 0: 1 }), m.isDeepStrictEqual(new Date(1), new Date(2)), m.isDeepStrictEqual(NaN, NaN)]`,
    `Object.keys({ isDate: 1, isRegExp: 1, isPromise: 1, isMap: 1, isUint8Array: 1, isArrayBuffer: 1, isAsyncFunction: 1 }).map((name) => [new Date(), /a/, Promise.resolve(), new Map(), new Uint8Array(1), new ArrayBuffer(1), async () => 1].map((v) => m.types[name](v)))`,
    `m.stripVTControlCharacters('\\u001b[31mred\\u001b[0m')`,
    `[m.isArray([]), m.toUSVString('\\ud800'), m.debuglog('x').enabled, typeof m.inspect({})]`,
  ],
  events: [
    `(() => { const e = new m(); const seen = []; e.on('a', (...p) => seen.push(p)); e.once('a', () => seen.push('once')); e.emit('a', 1, 2); e.emit('a'); return [seen, e.listenerCount('a'), e.emit('none')] })()`,
    `(() => { try { new m.EventEmitter().emit('error', new Error('loud')) } catch (e) { return e.message.includes('loud') } })()`,
    `(async () => { const e = new m(); setTimeout(() => e.emit('b', 7)); return m.once(e, 'b') })()`,
    `(() => { class A extends m {} return new A() instanceof m.EventEmitter })()`,
  ],
  buffer: [
    `[m.Buffer === Buffer, m.isAscii(Buffer.from('a')), m.isUtf8(Buffer.from([255])), typeof m.Blob, typeof m.constants.MAX_LENGTH]`,
    ...['utf8', 'hex', 'base64', 'latin1', 'utf16le', 'ucs-2', 'ascii'].map(
      (encoding) =>
        `Buffer.from(Buffer.from('${sample}').toString('${encoding}'), '${encoding}').toString('hex')`,
    ),
    `['b', 'bc', '', 'zz', Buffer.from('c'), 99].flatMap((x) => [Buffer.from('abcabc').indexOf(x), Buffer.from('abcabc').indexOf(x, 3), Buffer.from('abcabc').indexOf(x, -2), Buffer.from('abcabc').includes(x), Buffer.from('abcabc').lastIndexOf(x)])`,
    `[Buffer.alloc(5).fill('ab').toString(), Buffer.alloc(4).fill('0102', 'hex'), Buffer.alloc(5).fill('x', 1, 3).toString(), Buffer.alloc(3).fill(7)]`,
    `(() => { const b = Buffer.alloc(16); b.writeUInt16BE(258, 0); b.writeInt32LE(-5, 2); b.writeDoubleBE(1.5, 6); b.writeUIntBE(0x010203, 13, 3 - 1 + 1 > 3 ? 2 : 3); return [b, b.readUInt16BE(0), b.readInt32LE(2), b.readDoubleBE(6), b.readUIntLE(0, 3), b.readIntBE(2, 4), b.readUint8(1)] })()`,
    `(() => { const b = Buffer.alloc(8); b.writeBigUInt64BE(2n ** 60n + 1n); return [b, String(b.readBigUInt64BE()), Buffer.from([1, 2, 3, 4]).swap16(), Buffer.from([1, 2, 3, 4]).swap32()] })()`,
    `(() => { const b = Buffer.alloc(6); return [b.write('\u00e9a'), b.write('ff', 'hex'), b.write('xyz', 3), b.write('abcdef', 1, 2, 'latin1'), b] })()`,
    `[Buffer.concat([Buffer.from('a'), Buffer.from('bc')], 2).toString(), Buffer.compare(Buffer.from('a'), Buffer.from('b')), Buffer.byteLength('\u00e9'), Buffer.isEncoding('UCS-2')]`,
  ],
};

describe.each(Object.entries(alike))('%s is as in Node', (name, expressions) => {
  test.each(expressions)('%s', async (expression) => {
    const body = `const m = require('${name}'); return JSON.parse(JSON.stringify((await (${expression})) ?? null))`;
    expect(await value(body)).toEqual(await inNode(body));
  });
});

test('a Response is ok as in Node', async () => {
  const body = 'return [200, 299, 300, 599].map((status) => new Response("", { status }).ok)';
  expect(await value(body)).toEqual([true, true, false, false]);
  expect(await inNode(body)).toEqual([true, true, false, false]);
});

test('crypto.randomInt takes no range but one of whole numbers', async () => {
  for (const range of ['1.5', '0, 1.5', '0.5, 2', '0', '2, 1', '2 ** 53']) {
    const body = `try { return require('crypto').randomInt(${range}) } catch (e) { return e.name }`;
    expect([range, await value(body)]).toEqual([range, 'RangeError']);
  }
});

test('each module is there by all of its names, for import, require and import()', async () => {
  for (const name of [...nodeModules.flatMap((one) => [one, `node:${one}`]), ...fetchPackages]) {
    const text = `import all, * as named from '${name}';
      export const handler = async () => {
        const required = require('${name}');
        const later = await $mport('${name}');
        return [required === all, later.default === all, Object.keys(named).every((key) => named[key] === later[key])];
      }`;
    expect([name, returned(await sandbox.run(runOf(text)))]).toEqual([name, [true, true, true]]);
  }
});

test('a name that would lead to the same file as that of a module is none', async () => {
  for (const name of ['medplum/core', 'hl7/standard', 'node/fetch', 'portico.hl7', 'portico-runtime']) {
    const body = `try { return typeof require('${name}') } catch (e) { return e.message }`;
    expect(await value(body)).toMatch(`Cannot import '${name}'`);
  }
});

describe('signatures', () => {
  const pairs: Record<string, { publicKey: KeyObject; privateKey: KeyObject }> = {
    rsa: nodeCrypto.generateKeyPairSync('rsa', { modulusLength: 2048 }),
    p256: nodeCrypto.generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    p384: nodeCrypto.generateKeyPairSync('ec', { namedCurve: 'P-384' }),
    ed25519: nodeCrypto.generateKeyPairSync('ed25519'),
  };
  const pem = (name: string) => ({
    private: pairs[name]?.privateKey.export({ format: 'pem', type: 'pkcs8' }) as string,
    public: pairs[name]?.publicKey.export({ format: 'pem', type: 'spki' }) as string,
  });
  const literal = (value: unknown) => JSON.stringify(value);

  test.each([
    ['rsa', 'sha256', {}],
    ['rsa', 'sha512', { padding: 6, saltLength: 32 }],
    ['p256', 'sha256', {}],
    ['p384', 'sha384', { dsaEncoding: 'ieee-p1363' }],
    ['ed25519', null, {}],
  ] as const)(
    'by %s with %s and %j are good in Node, and those of Node here',
    async (name, hash, options) => {
      const { privateKey, publicKey } = pairs[name] as (typeof pairs)[string];
      const made = nodeCrypto
        .sign(hash, Buffer.from('data'), { key: privateKey, ...options })
        .toString('base64');
      const [signed, good, bad] = (await value(`const c = require('node:crypto');
      const options = ${literal(options)};
      const verify = (text) => c.verify(${literal(hash)}, Buffer.from(text), { key: ${literal(pem(name).public)}, ...options }, Buffer.from(${literal(made)}, 'base64'));
      return [c.sign(${literal(hash)}, Buffer.from('data'), { key: ${literal(pem(name).private)}, ...options }).toString('base64'), verify('data'), verify('other')]`)) as [
        string,
        boolean,
        boolean,
      ];
      expect([good, bad]).toEqual([true, false]);
      const signature = Buffer.from(signed, 'base64');
      expect(nodeCrypto.verify(hash, Buffer.from('data'), { key: publicKey, ...options }, signature)).toBe(
        true,
      );
    },
  );

  test('by createSign and createVerify, with keys in every form', async () => {
    const jwk = pairs.rsa?.privateKey.export({ format: 'jwk' });
    const pkcs1 = pairs.rsa?.privateKey.export({ format: 'pem', type: 'pkcs1' });
    const sec1 = pairs.p256?.privateKey.export({ format: 'pem', type: 'sec1' });
    const locked = pairs.rsa?.privateKey.export({
      format: 'pem',
      type: 'pkcs8',
      cipher: 'aes-256-cbc',
      passphrase: 'open',
    });
    expect(
      await value(`const c = require('crypto');
        const keys = [${literal(pkcs1)}, ${literal(sec1)}, { key: ${literal(jwk)}, format: 'jwk' }, { key: ${literal(locked)}, passphrase: 'open' }, c.createPrivateKey(${literal(pem('rsa').private)}), Buffer.from(${literal(pem('rsa').private)})];
        return keys.map((key) => {
          const signature = c.createSign('RSA-SHA256').update('a').update('b').sign(key, 'base64');
          const isGood = (text) => c.createVerify('sha256').update(text).verify(c.createPublicKey(key), signature, 'base64');
          return [isGood('ab'), isGood('abc')];
        })`),
    ).toEqual(Array(6).fill([true, false]));
  });

  test('keys tell what they are, and are given out again', async () => {
    const [type, kind, bits, exported, jwk, publicJwk] = (await value(`const c = require('crypto');
      const key = c.createPrivateKey(${literal(pem('rsa').private)});
      return [key.type, key.asymmetricKeyType, key.asymmetricKeyDetails.modulusLength, key.export({ format: 'pem', type: 'pkcs8' }), key.export({ format: 'jwk' }), c.createPublicKey(key).export({ format: 'jwk' })]`)) as [
      string,
      string,
      number,
      string,
      object,
      object,
    ];
    expect([type, kind, bits, exported]).toEqual(['private', 'rsa', 2048, pem('rsa').private]);
    expect(jwk).toEqual(pairs.rsa?.privateKey.export({ format: 'jwk' }));
    expect(publicJwk).toEqual(pairs.rsa?.publicKey.export({ format: 'jwk' }));
  });

  test.each([
    ['RSASSA-PKCS1-v1_5', { hash: 'SHA-256' }, {}, 'rsa'],
    ['RSA-PSS', { hash: { name: 'SHA-384' } }, { saltLength: 48 }, 'rsa'],
    ['ECDSA', { namedCurve: 'P-256' }, { hash: 'SHA-256' }, 'p256'],
    ['ECDSA', { namedCurve: 'P-384' }, { hash: { name: 'SHA-384' } }, 'p384'],
    ['Ed25519', {}, {}, 'ed25519'],
  ])('crypto.subtle with %s %j %j', async (name, importing, signing, pair) => {
    const { privateKey, publicKey } = pairs[pair] as (typeof pairs)[string];
    const jwk = privateKey.export({ format: 'jwk' });
    const spki = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
    const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
    const [signature, good, bad, name2, tag, refused, out] = (await value(`
      const importing = { name: ${literal(name)}, ...${literal(importing)} }, signing = { name: ${literal(name)}, ...${literal(signing)} };
      const data = new TextEncoder().encode('data');
      const own = await crypto.subtle.importKey('pkcs8', Buffer.from(${literal(pkcs8)}, 'base64'), importing, false, ['sign']);
      const open = await crypto.subtle.importKey('jwk', ${literal(jwk)}, importing, true, ['sign']);
      const others = await crypto.subtle.importKey('spki', Buffer.from(${literal(spki)}, 'base64'), importing, true, ['verify']);
      const signature = await crypto.subtle.sign(signing, own, data);
      const again = await crypto.subtle.sign(signing, open, data);
      const refused = [];
      for (const attempt of [() => crypto.subtle.sign(signing, others, data), () => crypto.subtle.exportKey('pkcs8', own), () => crypto.subtle.sign({ name: 'HMAC' }, own, data)])
        refused.push(await attempt().catch((e) => e.name));
      return [Buffer.from(signature).toString('base64'), await crypto.subtle.verify(signing, others, again, data), await crypto.subtle.verify(signing, others, again, data.slice(1)), own.algorithm.name, own[Symbol.toStringTag], refused, Buffer.from(await crypto.subtle.exportKey('spki', others)).toString('base64')]`)) as unknown[];
    expect([good, bad, name2, tag, out]).toEqual([true, false, name, 'CryptoKey', spki]);
    expect(refused).toEqual(['InvalidAccessError', 'InvalidAccessError', 'InvalidAccessError']);
    const key = await crypto.subtle.importKey(
      'spki',
      Buffer.from(spki, 'base64'),
      { name, ...importing } as never,
      false,
      ['verify'],
    );
    const isGood = await crypto.subtle.verify(
      { name, ...signing } as never,
      key,
      Buffer.from(`${signature}`, 'base64'),
      Buffer.from('data'),
    );
    expect(isGood).toBe(true);
  });

  test.each([
    ['p384', { name: 'ECDSA', namedCurve: 'P-256' }],
    ['p256', { name: 'ECDSA', namedCurve: 'P-384' }],
    ['rsa', { name: 'ECDSA', namedCurve: 'P-256' }],
    ['ed25519', { name: 'RSA-PSS', hash: 'SHA-256' }],
  ])('crypto.subtle imports no key of %s as one for %j', async (pair, importing) => {
    const spki = pairs[pair]?.publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
    const body = `const key = Buffer.from(${literal(spki)}, 'base64');
      return crypto.subtle.importKey('spki', key, ${literal(importing)}, true, ['verify']).then(() => 'imported', (e) => e.name)`;
    expect(await value(body)).toBe('DataError');
  });

  test('of JWTs by the bundled library of others', async () => {
    const bundle = async (code: string) => {
      const stdin = { contents: code, resolveDir: join(import.meta.dirname, '../..') };
      const built = await build({
        stdin,
        bundle: true,
        format: 'esm',
        minify: true,
        write: false,
        target: 'es2022',
      });
      return built.outputFiles[0]?.text ?? '';
    };
    const text = await bundle(`import { SignJWT, importPKCS8, importSPKI, jwtVerify } from 'jose';
      export async function handler(medplum, { input }) {
        const key = await importPKCS8(input.private, input.alg);
        const token = await new SignJWT({ a: 1 }).setProtectedHeader({ alg: input.alg }).setExpirationTime('1h').sign(key);
        return (await jwtVerify(token, await importSPKI(input.public, input.alg))).payload.a;
      }`);
    for (const [alg, name] of [
      ['RS256', 'rsa'],
      ['PS256', 'rsa'],
      ['ES256', 'p256'],
      ['EdDSA', 'ed25519'],
    ] as const) {
      const input = { kind: 'json', text: JSON.stringify({ alg, ...pem(name) }) } as const;
      expect([alg, returned(await sandbox.run(runOf(text, { input })))]).toEqual([alg, 1]);
    }
  });

  test('are refused with what is no key, another kind of key or too large a one', async () => {
    const large = { kty: 'RSA', n: Buffer.alloc(1056, 0xc5).toString('base64url'), e: 'AQAB' };
    const other = nodeCrypto
      .generateKeyPairSync('x25519')
      .privateKey.export({ format: 'pem', type: 'pkcs8' });
    const messages = (await value(`const c = require('crypto'); const failed = [];
      const attempt = (run) => { try { run(); failed.push('done') } catch (e) { failed.push(e.message) } };
      attempt(() => c.createPublicKey({ key: ${literal(large)}, format: 'jwk' }));
      for (const key of ${literal([other, 'no key', '', { a: 1 }, 'x'.repeat(40_000), pem('rsa').public])}) attempt(() => c.sign('sha256', Buffer.from('a'), key));
      for (const hash of ['sha3', '__proto__', 'constructor']) attempt(() => c.createHash(hash));
      return failed`)) as string[];
    expect(messages.slice(0, 2)).toEqual(Array(2).fill(expect.stringContaining('at most 8192 bits')));
    expect(messages).toHaveLength(10);
    expect(messages).not.toContain('done');
    expect(messages.join()).not.toMatch(/node:|\.ts\b/);
  });

  test('with a key that takes for ever to open end with the time of the run', async () => {
    const body = `return require('crypto').createPrivateKey({ key: Buffer.from('${lockedFor(2 ** 31 - 1)}', 'base64'), format: 'der', type: 'pkcs8', passphrase: 'x' }).type`;
    const { outcome } = await sandbox.run(runOf(bot(body), { limits: { timeoutMs: 700 } }));
    expect(outcome).toMatchObject({ kind: 'limit', limit: 'time' });
    expect(await value('return 1')).toBe(1);
  });
});

describe('FormData', () => {
  test('is a form as the web has it', async () => {
    expect(
      await value(`const f = new FormData(); f.append('a', 1); f.append('a', 'two'); f.set('b', new Blob(['x'], { type: 'text/plain' }), 'n.txt'); f.append('c', 'gone'); f.delete('c'); f.set('a', 'only');
        const file = f.get('b');
        return [[...f.keys()], f.getAll('a'), f.has('c'), file.name, file.type, await file.text(), file instanceof File, file instanceof Blob, FormData.name]`),
    ).toEqual([['a', 'b'], ['only'], false, 'n.txt', 'text/plain', 'x', true, true, 'FormData']);
  });

  test('becomes a body that a server reads, whatever its names hold', async () => {
    const parts = (await value(`const f = new FormData();
      f.append('plain', 'gr\u00fc\u00df'); f.append('a"b\\r\\nc', '1\\n2');
      f.append('file', new File([new Uint8Array([0, 255, 13, 10])], 'x"y.bin', { type: 'application/x\\r\\nEvil: 1' }));
      const request = new Request('https://a.example/', { method: 'POST', body: f });
      return [request.headers.get('content-type'), Buffer.from(await request.bytes()).toString('base64')]`)) as [
      string,
      string,
    ];
    const [type, body] = parts;
    const read = await new Response(Buffer.from(body, 'base64'), {
      headers: { 'content-type': type },
    }).formData();
    const file = read.get('file') as File;
    expect([...read.keys()]).toEqual(['plain', 'a"b\r\nc', 'file']);
    expect([read.get('plain'), read.get('a"b\r\nc')]).toEqual(['gr\u00fc\u00df', '1\r\n2']);
    expect([file.name, [...new Uint8Array(await file.arrayBuffer())]]).toEqual(['x"y.bin', [0, 255, 13, 10]]);
    expect(Buffer.from(body, 'base64').toString()).not.toMatch(/^Evil/m);
  });
});

test('self and global are the global scope', async () => {
  expect(
    await value(
      'return [self === globalThis, global === globalThis, typeof performance.now(), AbortSignal.timeout(1) instanceof AbortSignal]',
    ),
  ).toEqual([true, true, 'number', true]);
});

test('encodings are those of Node', async () => {
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);
  for (const label of [
    'windows-1252',
    'latin1',
    'ascii',
    'iso-8859-2',
    'ISO-8859-15',
    'koi8-r',
    'shift_jis',
    'utf-16be',
    'macintosh',
  ]) {
    const body = `const d = new TextDecoder('${label}'); return [d.encoding, d.decode(new Uint8Array(${JSON.stringify(bytes)}))]`;
    expect(await value(body)).toEqual(await inNode(body));
  }
  const streamed = `const d = new TextDecoder('shift_jis'); return d.decode(new Uint8Array([0x83]), { stream: true }) + d.decode(new Uint8Array([0x41]))`;
  expect(await value(streamed)).toBe(await inNode(streamed));
  expect(await value(`try { new TextDecoder('x-none') } catch (e) { return e.name }`)).toBe('RangeError');
  expect(
    await value(
      `try { new TextDecoder('shift_jis', { fatal: true }).decode(new Uint8Array([0x83])) } catch (e) { return e.name }`,
    ),
  ).toBe('TypeError');
});

test('the documentation lists them all', async () => {
  const docs = await readFile(join(import.meta.dirname, '../../docs/bots.md'), 'utf8');
  const rows = [...docs.matchAll(/^\| `([\w@/-]+)`(?:, `node:\w+`)? \|/gm)].map(([, name]) => name);
  for (const name of [...nodeModules, ...fetchPackages]) expect(rows).toContain(name);
});

/** A private key under PBES2 (RFC 8018) that takes so many rounds of PBKDF2 to open, as base64. */
function lockedFor(rounds: number): string {
  const tlv = (tag: number, ...parts: Buffer[]) => {
    const content = Buffer.concat(parts);
    return Buffer.concat([Buffer.from([tag, content.length]), content]);
  };
  const oid = (hex: string) => tlv(0x06, Buffer.from(hex, 'hex'));
  const count = Buffer.alloc(4);
  count.writeInt32BE(rounds);
  const prf = tlv(0x30, oid('2a864886f70d0209'), tlv(0x05));
  const pbkdf2 = tlv(
    0x30,
    oid('2a864886f70d01050c'),
    tlv(0x30, tlv(0x04, Buffer.alloc(8)), tlv(0x02, count), prf),
  );
  const cipher = tlv(0x30, oid('60864801650304012a'), tlv(0x04, Buffer.alloc(16)));
  const pbes2 = tlv(0x30, oid('2a864886f70d01050d'), tlv(0x30, pbkdf2, cipher));
  return tlv(0x30, pbes2, tlv(0x04, Buffer.alloc(32))).toString('base64');
}
