/**
 * An execute over the local gateway, one at a time, against the parts that it cannot do without: the same hops in
 * the same order (same-hops.ts), measured by turns with it; and how even it is.
 */

import type { RunRequest } from '../shared/bots/run/contract.ts';
import { generate, percentile } from './load/generate.ts';
import { against, byTurns } from './measure.ts';
import { lowerQuartile, type Row } from './rows.ts';
import { type SameHops, sameHops } from './same-hops.ts';
import { startBench } from './stack.ts';

const code = 'exports.handler = async (medplum, event) => ({ sum: event.input.a + 1 });';
const json = 'application/json';
const body = '{"a":1}';

export async function executeRows(): Promise<Row[]> {
  const bench = await startBench();
  const run = { ...trivial, project: bench.projectId };
  const hops = await sameHops(bench, run, body);
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

    const query = new URLSearchParams({ identifier: `${identifier.system}|${identifier.value}` });
    const asked = (path: string) => () => bench.post(path, body, json, 200);
    const byId = asked(`fhir/R4/Bot/${id}/$execute`);
    const byIdentifier = asked(`fhir/R4/Bot/$execute?${query}`);
    const rows = await againstParts({ byId, byIdentifier }, hops);
    await generate(byId, { atOnce: 8, requests: 100 });
    const { latencies, elapsedMs } = await generate(byId, { atOnce: 8, requests: 800 });
    const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)];
    const detail = `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${(800_000 / elapsedMs).toFixed(0)} a second`;
    return [
      ...rows,
      { name: 'execute, 8 at once: p99 against p50', value: p99 / p50, unit: 'times', most: 3, detail },
    ];
  } finally {
    await hops.stop();
    await bench.stop();
  }
}

type Step = () => Promise<unknown>;

/**
 * Against the same hops in the same order, of lower quartiles: a busy machine adds the same to both. And against the
 * sum of its parts, each by itself, which leaves out what it costs to go from one to the next.
 */
async function againstParts(executes: { byId: Step; byIdentifier: Step }, hops: SameHops): Promise<Row[]> {
  const turns = [executes.byId, executes.byIdentifier, hops.step].map((step) => ({ name: '', step }));
  const [byId = [], byIdentifier = [], inOrder = []] = await byTurns(turns, 150);
  const rowOf = (name: string, times: readonly number[]): Row => {
    const [whole, parts] = [lowerQuartile(times), lowerQuartile(inOrder)];
    return {
      ...{
        name: `${name}, against its hops alone`,
        value: whole / parts,
        unit: 'times',
        most: 1.5,
        wanted: '1.3',
      },
      detail: `${whole.toFixed(2)} ms against ${parts.toFixed(2)}`,
    };
  };
  return [
    rowOf('execute by id', byId),
    rowOf('execute by identifier', byIdentifier),
    await against({ name: 'execute by id', step: executes.byId }, hops.parts, { most: 2.5, wanted: '1.3' }),
  ];
}

const trivial: RunRequest = {
  kind: 'run',
  runId: 'bench',
  project: '',
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
