/**
 * An execute over the local gateway, one at a time, against the parts that it cannot do without,
 * measured in the same run: an HTTP echo, one batch read, one put, one fresh sandbox run; and how even it is.
 */

import { randomUUID } from 'node:crypto';
import { cachedGuest } from '../infra/guest/build.ts';
import type { RunRequest } from '../shared/bot/contract.ts';
import { createSandbox } from '../shared/sandbox/supervisor.ts';
import type { Key } from '../shared/table/keys.ts';
import { generate, percentile } from './load/generate.ts';
import { against } from './measure.ts';
import type { Row } from './rows.ts';
import { startBench } from './stack.ts';

const code = 'exports.handler = async (medplum, event) => ({ sum: event.input.a + 1 });';
const json = 'application/json';
const body = '{"a":1}';

export async function executeRows(): Promise<Row[]> {
  const bench = await startBench();
  const sandbox = createSandbox({ guestDir: await cachedGuest() });
  try {
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
    const read: Key[] = Array.from({ length: 7 }, () => ({ pk: `BENCH#${randomUUID()}`, sk: 'HEAD' }));
    for (const key of read) await bench.table.put({ ...key, content: filler });
    const put = () => bench.table.put({ pk: `BENCH#${randomUUID()}`, sk: 'HEAD', content: filler.repeat(3) });
    const parts = [
      { name: 'echo', step: () => bench.echo(body, json) },
      { name: 'batch read', step: () => bench.table.read(read) },
      { name: 'put', step: put },
      { name: 'sandbox', step: () => sandbox.run(run) },
    ];
    const query = new URLSearchParams({ identifier: `${identifier.system}|${identifier.value}` });
    const asked = (path: string) => () => bench.post(path, body, json, 200);
    const byId = asked(`fhir/R4/Bot/${id}/$execute`);
    const rows = [
      await against({ name: 'execute by id', step: byId }, parts, 1.3),
      await against(
        { name: 'execute by identifier', step: asked(`fhir/R4/Bot/$execute?${query}`) },
        parts,
        1.3,
      ),
    ];
    await generate(byId, { atOnce: 8, requests: 100 });
    const { latencies, elapsedMs } = await generate(byId, { atOnce: 8, requests: 800 });
    const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)];
    const detail = `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${(800_000 / elapsedMs).toFixed(0)} a second`;
    return [
      ...rows,
      { name: 'execute, 8 at once: p99 against p50', value: p99 / p50, unit: 'times', most: 3, detail },
    ];
  } finally {
    await sandbox.close();
    await bench.stop();
  }
}

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
