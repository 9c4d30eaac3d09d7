import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Answer, type Portico, startPortico } from './portico.ts';
import { botThat, change, createBot, deploy, execute, projectOf } from './running.ts';

/** Of a Bot that comes to no end: in seconds. */
const endlessTimeout = 0.2;
const timeout = 0.5;
/** Its own time, a child started anew, and a busy machine; without a limit of its own it would have ten seconds. */
const patienceMs = 9000;

type Row = [name: string, code: string, issue?: string];
const refused: Row[] = [
  ['returns a cyclic object', 'const a = {}; a.a = a; return a', 'invalid'],
  ['returns a BigInt', 'return 1n', 'invalid'],
  ['returns a function', 'return () => 1', 'invalid'],
  [
    'returns a Proxy that throws',
    'return new Proxy({}, { get(t, k) { if (k !== "then") throw new Error("trap") } })',
    'invalid',
  ],
  ['returns a thenable that throws', 'return { then() { throw new Error("t") } }', 'exception'],
  ['returns thenables without end', 'const t = { then(f) { f(t) } }; return t', 'timeout'],
  ['returns a getter that throws', 'return { get a() { throw new Error("boo") } }', 'invalid'],
  ['returns a getter that loops', 'return { get a() { for (;;); } }', 'timeout'],
  ['returns 20 MB', 'return "x".repeat(20e6)', 'too-long'],
  ['returns a promise that never settles', 'return new Promise(() => {})', 'timeout'],
  [
    'returns 200 arrays inside each other',
    'let a = []; for (let i = 0; i < 200; i++) a = [a]; return a',
    'invalid',
  ],
  ['throws a string', 'throw "text"', 'exception'],
  ['throws null', 'throw null', 'exception'],
  [
    'throws a Proxy that throws',
    'throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } })',
    'exception',
  ],
  ['loops for ever', 'for (;;);', 'timeout'],
  ['loops in microtasks', 'for (;;) await 0', 'timeout'],
  ['loops in a regular expression', 'return /^(a+)+$/.test("a".repeat(40) + "b")', 'timeout'],
  [
    'loops in a finally that catches the end',
    'for (;;) { try { for (;;); } finally { continue } }',
    'timeout',
  ],
  ['recurses without end', 'const f = () => f(); f()', 'exception'],
  ['floods the console', 'for (;;) console.log("flood".repeat(100))', 'timeout'],
  ['requires a host module', 'return require("node:fs")', 'exception'],
  ['imports a host module', 'return import("node:" + "fs")', 'exception'],
  [
    'patches Error.prepareStackTrace',
    'Error.prepareStackTrace = (e, f) => f.map((s) => s.getThis()); throw new Error("e")',
    'exception',
  ],
];
const costly: Row[] = [
  ['allocates arrays without end', 'const a = []; for (;;) a.push(new Array(1000).fill(1.5))'],
  ['allocates buffers without end', 'const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))'],
  ['allocates one huge array', 'return new Array(2 ** 28).fill(0).length'],
  ['fills a Map', 'const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })'],
];
const harmless: Row[] = [
  [
    'rejects after it returned',
    'Promise.reject(new Error("now")); setTimeout(() => { throw new Error("late") }); return 1',
  ],
  [
    'sets timers after it returned',
    'const again = () => setTimeout(again, 0); again(); setInterval(() => { for (;;); }, 1); return 1',
  ],
  [
    'goes on looping after it returned',
    'Promise.resolve().then(async () => { await 0; await 0; await 0; for (;;); }); return 1',
  ],
  ['patches Promise.prototype.then', 'Promise.prototype.then = () => {}; return 1'],
  ['patches JSON', 'JSON.stringify = () => "fake"; JSON.parse = () => { throw 1 }; return 1'],
  [
    'patches every prototype',
    'for (const C of [Object, Array, String, Map]) for (const k of Object.getOwnPropertyNames(C.prototype)) { try { if (k !== "constructor") C.prototype[k] = () => { throw 1 } } catch {} } return 1',
  ],
  ['pollutes Object.prototype', 'Object.prototype.text = "no"; Object.prototype.kind = "no"; return 1'],
];
const outcomes: [name: string, outcome: string][] = [
  ['an id that is no text', '{ id: { toString: null, valueOf: null }, issue: [] }'],
  ['a code that is no text', '{ issue: [{ code: { toString: null, valueOf: null } }] }'],
  ['issues that are none', '{ id: ["not-found"], issue: [null] }'],
  ['no issues', '{ issue: null }'],
];
const long: Row[] = [
  ['a text that is longer as JSON', `return '"'.repeat(4e6)`],
  ['control characters that are longer as JSON', 'return "\\u0001".repeat(4e6)'],
  [
    'Binary data as long as it may be, and no base64',
    'return { resourceType: "Binary", data: "é".repeat(2e6) }',
  ],
  [
    'an outcome of 20 MB, thrown',
    `const error = new (require("@medplum/core").OperationOutcomeError)({ resourceType: "OperationOutcome", issue: [{ severity: "error", code: "not-found", diagnostics: "x".repeat(20e6) }] }); throw error`,
  ],
];
const throwing = (outcome: string) => `const { OperationOutcomeError } = require("@medplum/core");
  const error = new OperationOutcomeError({ resourceType: "OperationOutcome", issue: [] });
  error.outcome = { resourceType: "OperationOutcome", ...${outcome} }; throw error`;

let portico: Portico;
let honest = '';
/** Bots that do what they are told by the name of a row: with the time of an endless one, some time, and all there is. */
let [endless, brief, patient] = ['', '', ''];

/** A Bot that does as its input says. */
async function botOf(rows: Row[], fields: Record<string, unknown>): Promise<string> {
  const bot = await createBot(portico);
  const deeds = rows.map(([name, code]) => `${JSON.stringify(name)}: async (medplum, event) => { ${code} },`);
  // No await, which would give a deed some turns more.
  const code = `const deeds = {${deeds.join('\n')}}; export const handler = (m, e) => deeds[e.input](m, e);`;
  await deploy(portico, bot, code);
  await change(portico, 'Bot', bot, fields);
  return bot;
}

beforeAll(async () => {
  portico = await startPortico();
  honest = await botThat(
    portico,
    'return { sum: [1, 2].map((n) => n + 1), json: JSON.stringify({ a: event.input }) }',
  );
  const thrown = outcomes.map(([name, outcome]): Row => [name, throwing(outcome)]);
  endless = await botOf(refused, { timeout: endlessTimeout });
  brief = await botOf([...refused, ...costly, ...harmless, ...thrown], { timeout });
  patient = await botOf(long, {});
});
afterAll(() => portico.stop());

/** Runs a Bot with a short time limit, then the honest one, which must be as if nothing had been. */
async function holds(bot: string, input = 'x'): Promise<Answer> {
  const beganAt = performance.now();
  const answer = await execute(portico, bot, input);
  expect(performance.now() - beganAt).toBeLessThan(patienceMs);
  const next = await execute(portico, honest, 'next');
  expect([next.status, next.json]).toEqual([200, { sum: [2, 3], json: '{"a":"next"}' }]);
  return answer;
}

/** The same of a Bot of its own. */
async function holdsOf(code: string): Promise<Answer> {
  const bot = await botThat(portico, code);
  await change(portico, 'Bot', bot, { timeout });
  return holds(bot);
}

const outcomeOf = ({ status, json }: Answer) => [status, json?.issue?.[0]?.code];

describe('a Bot is answered in time, and the next one is right, when it', () => {
  test.each(refused)('%s', async (name, _code, issue) => {
    expect(outcomeOf(await holds(issue === 'timeout' ? endless : brief, name))).toEqual([400, issue]);
  });

  test.each(costly)('%s', async (name) => {
    const [status, issue] = outcomeOf(await holds(brief, name));
    expect([status, ['too-costly', 'timeout'].includes(issue)]).toEqual([400, true]);
  });

  test.each(harmless)('%s', async (name) => {
    const answer = await holds(brief, name);
    expect([answer.status, answer.text]).toEqual([200, '1']);
  });

  test('throws outcomes of every status', async () => {
    const bot = await botThat(
      portico,
      'const { OperationOutcomeError } = require("@medplum/core"); throw new OperationOutcomeError({ resourceType: "OperationOutcome", id: event.input, issue: [] })',
    );
    for (const [id, status] of [
      ['not-found', 404],
      ['conflict', 409],
      ['internal-error', 400],
      ['unauthorized', 400],
      ['too-many-requests', 400],
    ] as const) {
      expect([id, (await execute(portico, bot, id)).status]).toEqual([id, status]);
    }
  });

  test.each(outcomes)('throws an outcome with %s', async (name) => {
    const { status, json } = await holds(brief, name);
    expect([status, json.resourceType]).toEqual([400, 'OperationOutcome']);
  });

  test.each(long)('answers with %s: nothing that API Gateway would make a 5xx of', async (name) => {
    const answer = await execute(portico, patient, JSON.stringify(name), 'application/json');
    expect([answer.status, answer.json?.resourceType]).toEqual([400, 'OperationOutcome']);
  });
});

test('a log of a megabyte in lines, colours and patterns stays one entry, cut with a mark', async () => {
  const answer = await holdsOf(
    'console.log("a\\nb\\u001b[31m %s", "\\r\\n{\\"level\\":\\"ERROR\\"}"); console.log("x".repeat(1e6)); throw new Error("e")',
  );
  const { diagnostics } = answer.json.issue[0];
  const [first] = diagnostics.split('\n');
  expect(first).toContain('\\nb');
  expect(/[^\n -~…]/.exec(diagnostics)).toBeNull();
  expect(diagnostics.length).toBeLessThan(300_000);
});

describe('a Bot reaches nothing of the host', () => {
  test('by climbing, by names, by the runtime', async () => {
    const climbs = [
      'this.constructor.constructor("return process")()',
      'globalThis.constructor.constructor("return process")()',
      'console.log.constructor("return process")()',
      'setTimeout.constructor("return process")()',
      'fetch.constructor("return process")()',
      'medplum.constructor.constructor("return process")()',
      'require("@medplum/core").constructor.constructor("return process")()',
      'process',
      'global.process',
      'Deno',
      'require.cache',
      'require("fs")',
      'require("child_process")',
      'module.parent',
    ];
    const body = `const found = []; for (const climb of [${climbs.map((one) => `() => ${one}`).join(', ')}]) {
      try { if ((await climb()) !== undefined) found.push(String(climb)) } catch {} } return found`;
    const bot = await createBot(portico);
    await deploy(portico, bot, `exports.handler = async function (medplum, event) { ${body} }`, 'bot.cjs');
    expect((await execute(portico, bot, '1', 'application/json')).json).toEqual([]);
  });

  test('by fetching private addresses, however they are written', async () => {
    const { port } = new URL(portico.local.table.endpoint);
    const urls = [
      `http://127.0.0.1:${port}/`,
      `http://localhost:${port}/`,
      `http://2130706433:${port}/`,
      `http://0x7f.1:${port}/`,
      `http://[::1]:${port}/`,
      `http://[::ffff:127.0.0.1]:${port}/`,
      'http://0.0.0.0/',
      'http://169.254.169.254/latest/meta-data/',
      'http://10.0.0.1/',
      'http://192.168.0.1/',
      'file:///etc/passwd',
      'data:text/plain,x',
    ];
    const bot = await botThat(
      portico,
      `const said = []; for (const url of event.input) { try { await fetch(url); said.push(url) } catch {} } return said`,
    );
    const answer = await execute(portico, bot, JSON.stringify(urls), 'application/json');
    expect([answer.status, answer.json]).toEqual([200, []]);
  });

  test('by what an earlier run left', async () => {
    await holdsOf(
      'globalThis.kept = 1; Array.prototype.kept = 2; require("hl7-standard").kept = 3; return 1',
    );
    const answer = await holdsOf(
      'return [typeof kept, [].kept === undefined, require("hl7-standard").kept === undefined]',
    );
    expect(answer.json).toEqual(['undefined', true, true]);
  });
});

describe('another Project', () => {
  test('neither sees nor runs nor deploys a Bot, and its runs share nothing', async () => {
    const other = projectOf(portico, 1);
    const token = await portico.token(other);
    const identifier = [{ system: 'https://example.org', value: 'private' }];
    const bot = await botThat(portico, 'globalThis.left = "here"; return "ours"', { identifier });
    for (const path of [
      `fhir/R4/Bot/${bot}/$execute`,
      'fhir/R4/Bot/$execute?identifier=https://example.org|private',
      `fhir/R4/Bot/${bot}/$deploy`,
    ]) {
      const answer = await portico.api('POST', path, { token, body: { code: 'exports.handler = () => 1' } });
      expect([path, ...outcomeOf(answer)]).toEqual([path, 404, 'not-found']);
      expect(answer.text).not.toMatch(/ours|private/);
    }
    expect((await execute(portico, bot, 'x')).text).toBe('ours');
    const theirs = await botThat(portico, 'return typeof left', {}, other);
    expect((await execute(portico, theirs, 'x', 'text/plain', { token })).text).toBe('undefined');
  });

  test('is served while this one loops in every child it may have', async () => {
    const loop = await botThat(portico, 'for (;;);');
    await change(portico, 'Bot', loop, { timeout: 1 });
    const other = projectOf(portico, 1);
    const theirs = await botThat(portico, 'return "theirs"', {}, other);
    const looping = Promise.all(Array.from({ length: 12 }, () => execute(portico, loop, 'x')));
    const answer = await execute(portico, theirs, 'x', 'text/plain', { token: await portico.token(other) });
    expect([answer.status, answer.text]).toEqual([200, 'theirs']);
    for (const { status } of await looping) expect([400, 429]).toContain(status);
  });
});
