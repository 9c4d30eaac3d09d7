/**
 * An execute over the local gateway, one at a time, against the parts that it cannot do without,
 * measured in the same run: an HTTP echo, one batch read, one put, one fresh sandbox run.
 */

import { randomUUID } from 'node:crypto';
import { cachedGuest } from '../infra/guest/build.ts';
import type { RunRequest } from '../shared/bot/contract.ts';
import { createSandbox } from '../shared/sandbox/supervisor.ts';
import type { Key } from '../shared/table/keys.ts';
import { compare } from './measure.ts';
import { startBench } from './stack.ts';

const code = 'exports.handler = async (medplum, event) => ({ sum: event.input.a + 1 });';
const json = 'application/json';
const body = '{"a":1}';

const bench = await startBench();
const sandbox = createSandbox({ guestDir: await cachedGuest() });
const identifier = { system: 'https://example.org', value: 'bench' };
const bot = await bench.post(
  `admin/projects/${bench.projectId}/bot`,
  JSON.stringify({ name: 'Bench', identifier: [identifier] }),
  json,
  201,
);
const { id } = JSON.parse(bot) as { id: string };
await bench.post(`fhir/R4/Bot/${id}/$deploy`, JSON.stringify({ code, filename: 'bench.cjs' }), json, 200);

const filler = 'x'.repeat(400);
const read: Key[] = Array.from({ length: 5 }, () => ({ pk: `BENCH#${randomUUID()}`, sk: 'HEAD' }));
for (const key of read) await bench.table.put({ ...key, content: filler });
const run: RunRequest = {
  kind: 'run',
  runId: 'bench',
  project: 'bench',
  code: { version: '0'.repeat(64), format: 'cjs', filename: 'bench.cjs', text: code },
  input: { kind: 'json', text: body },
  event: {
    bot: { reference: 'Bot/bench' },
    requester: { reference: 'Practitioner/bench' },
    headers: {},
    secrets: {},
    traceId: 'bench',
  },
  limits: { timeoutMs: 10_000, memoryMb: 128, resultBytes: 4_194_304, logBytes: 262_144, calls: 1000 },
  deadlineAtMs: Date.now() + 3_600_000,
};
const parts = [
  { name: 'echo', step: () => bench.echo(body, json) },
  { name: 'batch read', step: () => bench.table.read(read) },
  {
    name: 'put',
    step: () => bench.table.put({ pk: `BENCH#${randomUUID()}`, sk: 'HEAD', content: filler.repeat(3) }),
  },
  { name: 'sandbox', step: () => sandbox.run(run) },
];
const query = new URLSearchParams({ identifier: `${identifier.system}|${identifier.value}` });
for (const [name, path] of [
  ['execute by id', `fhir/R4/Bot/${id}/$execute`],
  ['execute by identifier', `fhir/R4/Bot/$execute?${query}`],
] as const) {
  await compare({ name, step: () => bench.post(path, body, json, 200) }, parts, 1.5);
}

const beganAt = performance.now();
const rounds = 50;
await Promise.all(
  Array.from({ length: 8 }, async () => {
    for (let i = 0; i < rounds; i++) await bench.post(`fhir/R4/Bot/${id}/$execute`, body, json, 200);
  }),
);
const perSecond = (8 * rounds * 1000) / (performance.now() - beganAt);
process.stdout.write(`execute, eight at a time: ${perSecond.toFixed(0)} a second\n`);
await sandbox.close();
await bench.stop();
