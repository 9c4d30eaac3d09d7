/**
 * What the sandbox costs against plain node:vm, which is no boundary: prints medians and ratios.
 * Times depend on the machine; the ratios are what to look at.
 */

import http from 'node:http';
import type { AddressInfo } from 'node:net';
import vm from 'node:vm';
import { cachedGuest } from '../infra/guest/build.ts';
import type { RunRequest } from '../shared/bot/contract.ts';
import { createSandbox } from '../shared/sandbox/supervisor.ts';

const PAUSE_MS = 30;
const TRIVIAL = 'exports.handler = async (medplum, event) => ({ sum: event.input.a + 1 });';
const CLIENT = "exports.handler = async (medplum) => (await medplum.readResource('Patient', '1')).id;";
const BUSY = `exports.handler = async () => {
  let seed = 1; const counts = new Map();
  for (let i = 0; i < 3e6; i++) { seed = (seed * 1103515245 + 12345) % 2147483648; if (i % 8 === 0) counts.set(seed % 997, (counts.get(seed % 997) ?? 0) + 1) }
  return { size: counts.size, text: JSON.stringify([...counts]).length };
};`;

const api = http.createServer((_request, response) => {
  response
    .writeHead(200, { 'content-type': 'application/fhir+json' })
    .end('{"resourceType":"Patient","id":"1"}');
});
await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
const baseUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}/`;
const sandbox = createSandbox({ guestDir: await cachedGuest() });

const plain = (text: string) => async () => {
  const exports: { handler?: (medplum: object, event: object) => Promise<unknown> } = {};
  const context = vm.createContext({ console, exports, setTimeout, URL });
  new vm.Script(`(function (exports) {\n${text}\n})(exports)`).runInContext(context);
  return JSON.stringify(await exports.handler?.({}, { input: { a: 1 } }));
};
const boxed = (text: string) => async () => {
  const { outcome } = await sandbox.run(request(text));
  if (outcome.kind !== 'returned') {
    throw new Error(JSON.stringify(outcome));
  }
};

const vmTrivial = await median(plain(TRIVIAL), 200);
const boxTrivial = await median(boxed(TRIVIAL), 200);
const boxClient = await median(boxed(CLIENT), 100);
const vmBusy = await median(plain(BUSY), 9);
const boxBusy = await median(boxed(BUSY), 9);
await sandbox.close();
api.close();
api.closeAllConnections();

report('a trivial Bot', boxTrivial, vmTrivial, 4);
report('a Bot that reads by its client', boxClient, vmTrivial, 7);
report('a Bot that computes', boxBusy, vmBusy, 1.25);

function request(text: string): RunRequest {
  return {
    kind: 'run',
    runId: 'bench',
    project: 'bench',
    code: { version: '0', format: 'cjs', filename: 'bot.js', text },
    input: { kind: 'json', text: '{"a":1}' },
    event: {
      bot: { reference: 'Bot/1' },
      requester: { reference: 'Practitioner/1' },
      headers: {},
      secrets: {},
      traceId: 'bench',
    },
    limits: { timeoutMs: 20_000, memoryMb: 128, resultBytes: 1_000_000, logBytes: 10_000 },
    deadlineAtMs: Date.now() + 60_000,
    api: { baseUrl, token: 'bench' },
  };
}

/** In ms, after a tenth of the rounds to warm up. Requests come with pauses between them. */
async function median(run: () => Promise<unknown>, rounds: number): Promise<number> {
  const times: number[] = [];
  for (let round = -Math.ceil(rounds / 10); round < rounds; round++) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    const beganAt = performance.now();
    await run();
    if (round >= 0) {
      times.push(performance.now() - beganAt);
    }
  }
  return times.sort((a, b) => a - b)[Math.floor(rounds / 2)] as number;
}

function report(what: string, boxMs: number, vmMs: number, aim: number): void {
  const ratio = boxMs / vmMs;
  console.log(
    `${what}: ${boxMs.toFixed(1)} ms, node:vm ${vmMs.toFixed(1)} ms, ratio ${ratio.toFixed(2)} (aim: at most ${aim})`,
  );
}
