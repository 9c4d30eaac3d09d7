/**
 * What the sandbox costs against plain node:vm, which is no boundary. Each is measured in turn with the other, so
 * that a busy machine slows both; times depend on the machine, the ratios are what to look at.
 */

import { readFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import vm from 'node:vm';
import { cachedGuest } from '../infra/guest/build.ts';
import type { RunInput, RunRequest } from '../shared/bots/run/contract.ts';
import { createSandbox, type Sandbox } from '../shared/bots/sandbox/supervisor.ts';
import type { Row } from './rows.ts';

const PAUSE_MS = 30;
const TRIVIAL = 'exports.handler = async (medplum, event) => ({ sum: event.input.a + 1 });';
const ECHO = 'exports.handler = async (medplum, event) => event.input;';
const CLIENT = "exports.handler = async (medplum) => (await medplum.readResource('Patient', '1')).id;";
const FETCH = `exports.handler = async () => (await (await fetch(baseUrl + 'fhir/R4/Patient/1')).json()).id;`;
const CONSTRUCT = 'exports.handler = async (medplum) => medplum.getBaseUrl();';
const LIBRARY = `const { getReferenceString } = require('@medplum/core'); ${CONSTRUCT}`;
const NOTHING = 'exports.handler = async () => undefined;';
const WAIT = 'exports.handler = async () => { await new Promise((done) => setTimeout(done, 3000)); };';
const BUSY = `exports.handler = async () => {
  let seed = 1; const counts = new Map();
  for (let i = 0; i < 3e6; i++) { seed = (seed * 1103515245 + 12345) % 2147483648; if (i % 8 === 0) counts.set(seed % 997, (counts.get(seed % 997) ?? 0) + 1) }
  return { size: counts.size, text: JSON.stringify([...counts]).length };
};`;
const SMALL = JSON.stringify({ a: 1 });
const record = JSON.stringify({
  code: 'abc',
  text: 'some words of text',
  value: 12.5,
  flags: [true, false, null],
});
const listOf = (bytes: number) =>
  `[${Array(Math.floor(bytes / (record.length + 1)))
    .fill(record)
    .join(',')}]`;

const api = http.createServer((_request, response) => {
  response
    .writeHead(200, { 'content-type': 'application/fhir+json' })
    .end('{"resourceType":"Patient","id":"1"}');
});
let baseUrl = '';
let guestDir = '';
let sandbox: Sandbox;

const plain =
  (code: string, input = SMALL) =>
  async () => {
    const exports: { handler?: (medplum: object, event: object) => Promise<unknown> } = {};
    const context = vm.createContext({ console, exports, setTimeout, URL, fetch, baseUrl });
    new vm.Script(`(function (exports) {\n${code}\n})(exports)`).runInContext(context);
    return JSON.stringify(await exports.handler?.({}, { input: JSON.parse(input) }));
  };
const boxed =
  (code: string, input = SMALL, box?: Sandbox) =>
  async () => {
    const { outcome } = await (box ?? sandbox).run(request(code, { kind: 'json', text: input }));
    if (outcome.kind !== 'returned') {
      throw new Error(JSON.stringify(outcome));
    }
  };

export async function sandboxRows(): Promise<Row[]> {
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}/`;
  guestDir = await cachedGuest();
  sandbox = createSandbox({ guestDir });
  const rows = [
    await compare('a trivial Bot', boxed(TRIVIAL), plain(TRIVIAL), 100, 4),
    await compare('a Bot with the client', boxed(CONSTRUCT), plain(TRIVIAL), 60, 7),
    await compare('a Bot with the whole library', boxed(LIBRARY), plain(TRIVIAL), 60, 7),
    // There is no client to load into node:vm: it makes the bare request.
    await compare('a Bot that reads by its client', boxed(CLIENT), plain(FETCH), 60),
    await compare('a Bot that computes', boxed(BUSY), plain(BUSY), 9, 1.25),
    await compare('100 KB of JSON and back', boxed(ECHO, listOf(1e5)), plain(ECHO, listOf(1e5)), 40),
    await compare('4 MB of JSON and back', boxed(ECHO, listOf(4e6)), plain(ECHO, listOf(4e6)), 12),
  ];
  // A run of a Bot without libraries in between leaves an isolate without them.
  const [nothing, ready, late] = await inTurn(
    [boxed(NOTHING), boxed(CONSTRUCT), boxed(CONSTRUCT)],
    60,
    async (position) => {
      if (position === 2) await boxed(NOTHING)();
      if (position === 1) await boxed(CONSTRUCT)();
    },
  );
  rows.push(
    { name: 'the client, made in an isolate that has it loaded', ...difference(ready, nothing) },
    { name: 'the client, loaded and made', ...difference(late, nothing) },
  );
  await sandbox.close();
  rows.push(await memory(4));
  api.close();
  api.closeAllConnections();
  return rows;
}

function request(text: string, input: RunInput): RunRequest {
  return {
    kind: 'run',
    runId: 'bench',
    project: 'bench',
    code: { version: '0', format: 'cjs', filename: 'bot.js', text },
    input,
    event: {
      bot: { reference: 'Bot/1' },
      requester: { reference: 'Practitioner/1' },
      headers: {},
      secrets: {},
      traceId: 'bench',
    },
    limits: { timeoutMs: 20_000, memoryMb: 128, resultBytes: 5_000_000, logBytes: 10_000, calls: 1000 },
    deadlineAtMs: Date.now() + 60_000,
    api: { baseUrl, token: 'bench' },
  };
}

interface Times {
  /** ms */
  median: number;
  /** A quarter of the rounds took no longer: what it is when nothing else wants the processor. */
  quartile: number;
}

/** After a tenth of the rounds to warm up. Requests come with pauses between them. */
async function inTurn(
  steps: readonly (() => Promise<unknown>)[],
  rounds: number,
  before?: (position: number) => Promise<void>,
): Promise<Times[]> {
  const times = steps.map((): number[] => []);
  for (let round = -Math.ceil(rounds / 10); round < rounds; round++) {
    for (const [position, step] of steps.entries()) {
      await before?.(position);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      const beganAt = performance.now();
      await step();
      if (round >= 0) times[position]?.push(performance.now() - beganAt);
    }
  }
  return times.map((list) => {
    const sorted = list.sort((a, b) => a - b);
    return { median: sorted[rounds >> 1] ?? Number.NaN, quartile: sorted[rounds >> 2] ?? Number.NaN };
  });
}

async function compare(
  what: string,
  box: () => Promise<unknown>,
  own: () => Promise<unknown>,
  rounds: number,
  aim?: number,
): Promise<Row> {
  const [boxTimes, ownTimes] = (await inTurn([box, own], rounds)) as [Times, Times];
  const [median, quartile] = (['median', 'quartile'] as const).map((name) =>
    (boxTimes[name] / ownTimes[name]).toFixed(2),
  );
  const detail = `${boxTimes.median.toFixed(1)} ms against node:vm ${ownTimes.median.toFixed(1)} ms, ratio of medians ${median}`;
  return {
    name: what,
    value: Number(quartile),
    unit: 'times',
    ...(aim === undefined ? {} : { most: aim }),
    detail,
  };
}

/** Of quartiles: what it is when nothing else wants the processor. */
function difference(more: Times | undefined, less: Times | undefined): Pick<Row, 'value' | 'unit'> {
  return { value: (more?.quartile ?? Number.NaN) - (less?.quartile ?? 0), unit: 'ms' };
}

/** What `runs` at once hold: each has a child of its own. */
async function memory(runs: number): Promise<Row> {
  const ownBefore = process.memoryUsage.rss();
  const boxes = Array.from({ length: runs }, (): Sandbox => createSandbox({ guestDir }));
  await Promise.all(boxes.map((box) => boxed(NOTHING, SMALL, box)()));
  const idle = childrenMb();
  const running = boxes.map((box) => boxed(WAIT, SMALL, box)());
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const busy = childrenMb();
  const own = (process.memoryUsage.rss() - ownBefore) / 2 ** 20 / runs;
  const shared = `${(idle.proportional / runs).toFixed(0)} with what they share divided; while it runs ${(busy.resident / runs).toFixed(0)} (${(busy.proportional / runs).toFixed(0)}); supervisor ${Math.max(0, own).toFixed(1)}`;
  await Promise.all(running);
  await Promise.all(boxes.map((box) => box.close()));
  const detail = `of ${runs} runs at once; ${shared}`;
  return { name: 'memory of a child', value: Math.round(idle.resident / runs), unit: 'MiB', detail };
}

/** Of all our children, by Linux's accounts. */
function childrenMb(): { resident: number; proportional: number } {
  const pids = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ');
  const rollups = pids.map((pid) => readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
  const sum = (name: string) =>
    rollups.reduce(
      (total, text) => total + Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0),
      0,
    ) / 1024;
  return { resident: sum('Rss'), proportional: sum('Pss') };
}
