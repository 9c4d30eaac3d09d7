import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { cachedGuest } from '../../infra/guest/build.ts';
import type { RunResult } from '../../shared/bots/run/contract.ts';
import { createSandbox, type Sandbox } from '../../shared/bots/sandbox/supervisor.ts';
import { isLong } from '../setup/long.ts';
import { bot, type RunChanges, returned, runOf, word } from './bot-runs.ts';

const RUNS = isLong ? 2000 : 160;
const HOSTILE_EVERY = 20;
const SAMPLE_EVERY = RUNS / 20;
/** No honest run may meet its limit, however busy the machine is. */
const AMPLE = { timeoutMs: 60_000 };
const SHORT = { timeoutMs: 60 };

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

let sandbox: Sandbox;
let api: http.Server;
let baseUrl = '';
beforeAll(async () => {
  api = http.createServer((request, response) => {
    const id = request.url?.split('/').at(-1);
    response
      .writeHead(200, { 'content-type': 'application/fhir+json' })
      .end(JSON.stringify({ resourceType: 'Patient', id }));
  });
  await new Promise<void>((done) => api.listen(0, '127.0.0.1', done));
  baseUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}/`;
  const guestDir = await cachedGuest();
  for (const pid of childrenOf(process.pid)) others.add(pid);
  sandbox = createSandbox({ guestDir });
});
afterAll(async () => {
  await sandbox.close();
  api.close();
  api.closeAllConnections();
});

interface Kind {
  code: string;
  /** Of the run number `n`. */
  changes: (n: number) => RunChanges;
  right: (n: number, result: RunResult) => boolean;
}

const json = (value: unknown) => ({ kind: 'json', text: JSON.stringify(value) }) as const;
const message = (n: number) =>
  `MSH|^~\\&|A|B|C|D|2026||ADT^A01|${n}|P|2.5.1\rPID|1||${n}^^^X||O\\T\\N${n}^Mia`;
const threw = (result: RunResult, text: string) =>
  result.outcome.kind === 'threw' && result.outcome.message === text;

const honest: Kind[] = [
  {
    code: bot('globalThis.left = (globalThis.left ?? 0) + 1; return event.input.n + globalThis.left'),
    changes: (n) => ({ input: json({ n }) }),
    right: (n, result) => returned(result) === n + 1,
  },
  {
    code: bot('console.log("saw", event.input.length); return event.input.toUpperCase()'),
    changes: (n) => ({ input: { kind: 'text', text: `text ${n} ${'é'.repeat(n % 5000)}` } }),
    right: (n, result) =>
      returned(result) === `TEXT ${n} ${'É'.repeat(n % 5000)}` && /^saw \d+$/.test(result.log[0]?.text ?? ''),
  },
  {
    code: bot('return event.input.buildAck({ text: event.input.get("PID.5.1") })'),
    changes: (n) => ({ input: { kind: 'hl7', text: message(n) } }),
    right: (n, result) => String(returned(result)).endsWith(`\rMSA|AA|${n}|O\\T\\N${n}`),
  },
  {
    code: bot('const p = await medplum.readResource("Patient", String(event.input.n)); return p.id'),
    changes: (n) => ({ input: json({ n }), api: { baseUrl, token: 'soak' } }),
    right: (n, result) => returned(result) === String(n),
  },
  {
    code: 'const HL7 = require("hl7-standard"); exports.handler = async (m, e) => { const h = new HL7(e.input); h.transform(); return h.get("PID.3.1") }',
    changes: (n) => ({ format: 'cjs', input: { kind: 'text', text: `${message(n)}\r` } }),
    right: (n, result) => returned(result) === String(n),
  },
  {
    code: bot(
      'await new Promise((done) => setTimeout(done, 2)); const d = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(event.input)); return Buffer.from(d).toString("hex")',
    ),
    changes: (n) => ({ input: { kind: 'text', text: `hash ${n}` } }),
    right: (n, result) => returned(result) === createHash('sha256').update(`hash ${n}`).digest('hex'),
  },
  {
    code: bot('throw new Error("no " + event.input.n)'),
    changes: (n) => ({ input: json({ n }) }),
    right: (n, result) => threw(result, `no ${n}`),
  },
];

const outcome = (expected: string) => (_: number, result: RunResult) => word(result.outcome) === expected;
const hostile: Kind[] = [
  { code: bot('for (;;);'), changes: () => ({ limits: SHORT }), right: outcome('limit time') },
  { code: bot('for (;;) await 0'), changes: () => ({ limits: SHORT }), right: outcome('limit time') },
  {
    code: bot('const a = []; for (;;) a.push(new Array(1e4).fill(1.5))'),
    changes: () => ({ limits: { ...AMPLE, memoryMb: 16 } }),
    right: outcome('limit memory'),
  },
  {
    code: bot('for (;;) console.log("flood ".repeat(1000))'),
    // On a busy machine too its log is full by then.
    changes: () => ({ limits: { timeoutMs: 500 } }),
    right: (n, result) => outcome('limit time')(n, result) && result.logTruncated,
  },
  { code: bot('throw { toString() { throw 1 } }'), changes: () => ({}), right: outcome('threw') },
  {
    code: bot('return new Promise(() => {})'),
    changes: () => ({ limits: SHORT }),
    right: outcome('limit time'),
  },
  { code: bot('return "x".repeat(4e6)'), changes: () => ({}), right: outcome('limit output') },
  {
    code: bot(
      'setInterval(() => { for (;;); }); Promise.prototype.then = () => 1; JSON.stringify = () => "owned"; return { a: 1 }',
    ),
    changes: () => ({}),
    right: (_, result) => (returned(result) as { a?: number }).a === 1,
  },
  {
    code: bot('for (;;) fetch("http://169.254.169.254/").catch(() => 0)'),
    changes: () => ({ limits: { timeoutMs: 200 } }),
    right: (_, result) => result.outcome.kind === 'limit',
  },
];

interface Sample {
  heapMb: number;
  ownMb: number;
  childMb: number;
  children: number;
  files: number;
}

/** Beside the one that runs and the next, one that was killed and has not ended yet. */
const mostChildren = 3;

async function sample(): Promise<Sample> {
  collectGarbage();
  let pids = childrenOf(process.pid);
  // A machine without rest takes its time to end those that were killed.
  for (let turn = 0; turn < 400 && pids.length > mostChildren; turn++) {
    await new Promise((later) => setTimeout(later, 50));
    pids = childrenOf(process.pid);
  }
  const { heapUsed, rss } = process.memoryUsage();
  return {
    heapMb: heapUsed / 2 ** 20,
    ownMb: rss / 2 ** 20,
    childMb: Math.max(0, ...pids.map(residentMb)),
    children: pids.length,
    files: readdirSync('/proc/self/fd').length,
  };
}

/** What an earlier file of this worker has left running is not of these runs. */
const others = new Set<number>();

/** Those that still run. */
function childrenOf(pid: number): number[] {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const pids = tasks.flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean),
  );
  return pids.map(Number).filter((child) => !others.has(child) && residentMb(child) > 0);
}

function residentMb(pid: number): number {
  try {
    return (Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096) / 2 ** 20;
  } catch {
    return 0;
  }
}

/** Middle of the last quarter less that of the second: the first one is for warming up. */
function growth(samples: readonly Sample[], name: keyof Sample): number {
  const values = samples.map((taken) => taken[name]);
  const quarter = Math.floor(values.length / 4);
  return middle(values.slice(-quarter)) - middle(values.slice(quarter, 2 * quarter));
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

test(`${RUNS} runs, one in ${HOSTILE_EVERY} hostile: every answer right, nothing grows`, async () => {
  const wrong: unknown[] = [];
  const samples: Sample[] = [];
  for (let n = 1; n <= RUNS; n += 1) {
    const kinds = n % HOSTILE_EVERY === 0 ? hostile : honest;
    const turn = kinds === hostile ? n / HOSTILE_EVERY : n;
    const kind = kinds[turn % kinds.length] as Kind;
    const { limits, ...changes } = kind.changes(n);
    const result = await sandbox.run(
      runOf(kind.code, { deadlineAtMs: Date.now() + 90_000, limits: { ...AMPLE, ...limits }, ...changes }),
    );
    if (!isRight(kind, n, result)) wrong.push({ n, code: kind.code, outcome: result.outcome });
    if (n % SAMPLE_EVERY === 0) samples.push(await sample());
  }
  expect(wrong).toEqual([]);
  expect(Math.max(...samples.map(({ children }) => children))).toBeLessThanOrEqual(mostChildren);
  expect(growth(samples, 'heapMb')).toBeLessThan(8);
  expect(growth(samples, 'ownMb')).toBeLessThan(32);
  expect(growth(samples, 'childMb')).toBeLessThan(48);
  expect(growth(samples, 'files')).toBeLessThan(8);
}, 600_000);

function isRight(kind: Kind, n: number, result: RunResult): boolean {
  try {
    return kind.right(n, result);
  } catch {
    return false;
  }
}
