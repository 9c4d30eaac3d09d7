import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { cachedGuest } from '../../infra/guest/build.ts';
import { createSandbox, type Sandbox } from '../../shared/bots/sandbox/supervisor.ts';
import { bot, returned, runOf, word } from './bot-runs.ts';

const TIMEOUT_MS = 400;
/** For what must not run into its time limit, on a busy machine. */
const AMPLE_MS = 18_000;
const HOST_GROWTH_MB = 64;

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = createSandbox({ guestDir: await cachedGuest() });
  await sandbox.run(runOf(bot('return 1')));
});
afterAll(() => sandbox.close());

const rssMb = () => process.memoryUsage.rss() / (1024 * 1024);

/** How each ends, and what its message says. */
const cases: [name: string, code: string, outcome: string, said?: RegExp][] = [
  ['returns a cyclic object', 'const a = {}; a.a = a; return a', 'unserialisable', /cyclic/],
  ['returns a BigInt', 'return 1n', 'unserialisable', /BigInt/],
  ['returns a BigInt inside', 'return { a: [1n] }', 'unserialisable', /BigInt/],
  ['returns a function', 'return () => 1', 'unserialisable', /function/],
  ['returns a symbol', 'return Symbol("s")', 'unserialisable', /symbol/],
  [
    'returns a Proxy that throws at everything',
    'return new Proxy({}, new Proxy({}, { get() { throw new Error("trap") } }))',
    'threw',
    /trap/,
  ],
  [
    'returns a Proxy that hides from await only',
    'return new Proxy({}, { get(t, k) { if (k === "then") return; throw null } })',
    'unserialisable',
    /cannot be read/,
  ],
  ['returns a getter that throws', 'return { get a() { throw new Error("boo") } }', 'unserialisable', /boo/],
  ['returns a getter that loops', 'return { get a() { for (;;); } }', 'limit time'],
  ['returns a toJSON that gives nothing', 'return { toJSON() {} }', 'unserialisable', /toJSON/],
  [
    'returns a revoked Proxy',
    'const p = Proxy.revocable({}, {}); p.revoke(); return { p: p.proxy }',
    'unserialisable',
  ],
  ['returns a thenable that throws', 'return { then() { throw new RangeError("t") } }', 'threw', /t/],
  ['returns a thenable that never calls', 'return { then() {} }', 'limit time'],
  ['returns thenables without end', 'const t = { then(f) { f(t) } }; return t', 'limit time'],
  ['returns 20 MB', 'return "x".repeat(20e6)', 'limit output', /1000000 bytes/],
  ['returns 20 MB of JSON', 'return Array(2e6).fill("12345")', 'limit output'],
  ['returns more bytes than characters', 'return "\u20ac".repeat(400_000)', 'limit output'],
  [
    'returns a deep array',
    'let a = []; for (let i = 0; i < 200; i++) a = [a]; return a',
    'unserialisable',
    /128/,
  ],
  [
    'returns an endlessly deep array',
    'let a = []; for (let i = 0; i < 1e4; i++) a = [a]; return a',
    'unserialisable',
  ],
  ['returns a promise that never settles', 'return new Promise(() => {})', 'limit time'],
  ['throws a string', 'throw "text"', 'threw', /^text$/],
  ['throws null', 'throw null', 'threw', /^null$/],
  ['throws undefined', 'throw undefined', 'threw', /^undefined$/],
  ['throws a number', 'throw 42', 'threw', /^42$/],
  ['throws a huge object', 'throw { a: "y".repeat(1e7), b: Array(1e6).fill(1) }', 'threw', /^\{ a: "y/],
  [
    'throws a Proxy that throws',
    'throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 }, ownKeys() { throw 3 } })',
    'threw',
    /unreadable/,
  ],
  [
    'throws an error with hostile getters',
    'const e = new Error("m"); for (const k of ["name", "message", "stack", "outcome"]) Object.defineProperty(e, k, { get() { throw e } }); throw e',
    'threw',
  ],
  ['throws an error whose message loops', 'throw { get message() { for (;;); } }', 'limit time'],
  ['throws a long message', 'throw new Error("m".repeat(1e6))', 'threw', /^m{4096}/],
  [
    'throws a false outcome',
    'throw Object.assign(new Error("f"), { outcome: { resourceType: "OperationOutcome", toJSON() { return 1 } } })',
    'threw',
    /^f$/,
  ],
  ['loops for ever', 'for (;;);', 'limit time', /400 ms/],
  ['loops in microtasks', 'for (;;) await 0', 'limit time'],
  ['loops in a regular expression', 'return /^(a+)+$/.test("a".repeat(40) + "b")', 'limit time'],
  ['loops in sort', '[3, 2, 1].sort(() => { for (;;); })', 'limit time'],
  ['loops in JSON.stringify', 'JSON.stringify({ toJSON() { for (;;); } })', 'limit time'],
  [
    'loops in a finally that catches the end',
    'for (;;) { try { for (;;); } finally { continue } }',
    'limit time',
  ],
  ['loops over host calls', 'for (;;) new URL("https://a.example")', 'limit time'],
  ['recurses without end', 'const f = () => f(); f()', 'threw', /call stack/],
  [
    'allocates arrays without end',
    'const a = []; for (;;) a.push(new Array(1000).fill(1.5))',
    'limit memory',
  ],
  [
    'allocates buffers without end',
    'const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))',
    'limit memory',
  ],
  [
    'allocates buffers and catches it',
    'const a = []; for (;;) { try { a.push(new Uint8Array(1e6).fill(1)) } catch {} }',
    'limit time',
  ],
  ['allocates one huge array', 'return new Array(3e7).fill(0).length', 'limit memory'],
  [
    'allocates strings without end',
    'const a = []; for (let i = 0; ; i++) a.push(("s" + i).repeat(1000).split("").join(","))',
    'limit memory',
  ],
  [
    'allocates closures in microtasks',
    'const a = []; for (;;) { a.push(Array(500).fill({})); await 0 }',
    'limit memory',
  ],
  ['fills a Map', 'const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })', 'limit memory'],
  [
    'compiles without end',
    'const a = []; for (let i = 0; ; i++) a.push(new Function("return " + "[1],".repeat(5000) + i))',
    'limit',
  ],
  ['floods the console', 'for (;;) console.log("flood".repeat(100))', 'limit time'],
  [
    'rejects after it returned',
    'setTimeout(() => { throw new Error("late") }); Promise.reject(new Error("now")); return 1',
    'returned',
  ],
  [
    'sets timers after it returned',
    'const again = () => setTimeout(again, 0); again(); setInterval(() => { for (;;); }, 1); return 1',
    'returned',
  ],
  [
    'goes on looping after it returned',
    'Promise.resolve().then(async () => { await 0; await 0; await 0; for (;;); }); return 1',
    'returned',
  ],
  ['sets a million timers', 'for (let i = 0; i < 1e6; i++) setTimeout(() => {}, 1e9); return 1', 'limit'],
  [
    'patches Promise.prototype.then',
    'Promise.prototype.then = () => {}; await new Promise((r) => setTimeout(r, 1)); return 1',
    'returned',
  ],
  [
    'patches JSON',
    'JSON.stringify = () => "fake"; JSON.parse = () => { throw 1 }; return { a: 1 }',
    'returned',
  ],
  [
    'patches Error.prepareStackTrace',
    'Error.prepareStackTrace = (e, frames) => frames.map((f) => [f.getFunction(), f.getThis()]); throw new Error("e")',
    'threw',
    /^e$/,
  ],
  [
    'patches every prototype',
    'for (const C of [Object, Array, String, Function, Map, Error]) for (const k of Object.getOwnPropertyNames(C.prototype)) { try { if (k !== "constructor") C.prototype[k] = () => { throw 1 } } catch {} } return 1',
    'returned',
  ],
  [
    'pollutes Object.prototype',
    'Object.defineProperty(Object.prototype, "kind", { get() { return "x" }, set() {} }); Object.prototype.text = "no"; return 1',
    'returned',
  ],
  [
    'deletes its own globals',
    'const [g, drop] = [globalThis, Reflect.deleteProperty]; for (const k of Object.getOwnPropertyNames(g)) drop(g, k); return 1',
    'returned',
  ],
  ['imports at run time', 'return import("fs")', 'threw'],
  ['requires a host module', 'return require("node:fs")', 'threw', /Cannot import 'node:fs'/],
  ['requires nonsense', 'return require({ toString() { throw new Error("odd") } })', 'threw', /odd/],
];

describe('a Bot that', () => {
  for (const [name, code, expected, said] of cases) {
    test(name, () => holds(code, expected, said));
  }
});

async function holds(code: string, expected: string, said?: RegExp): Promise<void> {
  const idleMb = rssMb();
  let peakMb = idleMb;
  const sampling = setInterval(() => {
    peakMb = Math.max(peakMb, rssMb());
  }, 10);
  const timeoutMs = expected === 'limit time' || expected === 'limit' ? TIMEOUT_MS : AMPLE_MS;
  const beganAt = performance.now();
  const result = await sandbox.run(runOf(bot(code), { limits: { timeoutMs } }));
  const tookMs = performance.now() - beganAt;
  clearInterval(sampling);

  const { outcome } = result;
  expect([word(outcome), outcome]).toEqual([expect.stringMatching(`^${expected}`), outcome]);
  if (said) {
    expect('message' in outcome ? outcome.message : '').toMatch(said);
  }
  expect(JSON.stringify(outcome).length).toBeLessThan(1_100_000);
  expect(result.durationMs).toBeLessThan(timeoutMs + 5000);
  // A child that was killed before this run is started within it.
  expect(tookMs).toBeLessThan(timeoutMs + 15_000);
  expect(Math.max(peakMb, rssMb()) - idleMb).toBeLessThan(HOST_GROWTH_MB);

  const next = await sandbox.run(
    runOf('exports.handler = async () => ({ ok: [1].map(String) })', { format: 'cjs' }),
  );
  expect(returned(next)).toEqual({ ok: ['1'] });
  expect(next.log).toEqual([]);
}

test('evaluating is bounded like the handler', async () => {
  const limits = { timeoutMs: TIMEOUT_MS };
  for (const [text, format] of [
    ['for (;;);', 'esm'],
    ['await new Promise(() => {})', 'esm'],
    ['for (;;);', 'cjs'],
  ] as const) {
    const { outcome } = await sandbox.run(runOf(text, { format, limits }));
    expect(word(outcome)).toBe('limit time');
  }
  const closing = '}); for (;;); (function () {';
  const { outcome } = await sandbox.run(runOf(closing, { format: 'cjs', limits }));
  expect(word(outcome)).toBe('no-handler');
});

test('a late top-level rejection is the outcome, not a time-out', async () => {
  const { outcome } = await sandbox.run(
    runOf('await new Promise((r) => setTimeout(r, 10)); throw new TypeError("late")'),
  );
  expect(outcome).toMatchObject({ kind: 'threw', name: 'TypeError', message: 'late' });
});

test('the deadline counts when it is nearer than the time-out, and a run after it never starts', async () => {
  const soon = await sandbox.run(runOf(bot('for (;;);'), { deadlineAtMs: Date.now() + 400 }));
  expect(word(soon.outcome)).toBe('limit time');
  expect(soon.durationMs).toBeLessThan(10_000);
  const past = await sandbox.run(runOf(bot('console.log("ran")'), { deadlineAtMs: Date.now() - 1 }));
  expect([word(past.outcome), past.log]).toEqual(['limit time', []]);
});

test('nothing survives a run', async () => {
  await sandbox.run(
    runOf(bot('globalThis.kept = 1; Array.prototype.kept = 2; require("hl7-standard").kept = 3')),
  );
  const body = 'return [typeof kept, [].kept === undefined, require("hl7-standard").kept === undefined]';
  expect(returned(await sandbox.run(runOf(bot(body))))).toEqual(['undefined', true, true]);
});
