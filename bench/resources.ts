/**
 * What a read and a search cost with 10 and with 100,000 Patients in the Project: calls to DynamoDB,
 * and milliseconds against the local engine. `node bench/resources.ts [how many]`
 */

import { readResource } from '../functions/resources/read-resource.ts';
import { searchResources } from '../functions/resources/search-resources.ts';
import type { Caller } from '../shared/auth/token.ts';
import type { Resource } from '../shared/fhir/resource.ts';
import { createChange } from '../shared/table/change.ts';
import { callsOf, newProject, type Stage, startStage } from '../test/storage/stage.ts';

const many = Number(process.argv[2] ?? 100_000);
const rounds = 30;

const stage = await startStage({ onDisk: true });
const caller = await newProject(stage);

await seed(stage, caller, 0, 10);
const few = await measure(stage, caller);
const startedAt = performance.now();
await seed(stage, caller, 10, many);
const seededSeconds = Math.round((performance.now() - startedAt) / 1000);
const full = await measure(stage, caller);

process.stdout.write(`${many} Patients, seeded in ${seededSeconds} s\n`);
for (const [name, { calls, ms }] of Object.entries(few)) {
  const then = full[name];
  const same = then?.calls.join() === calls.join() ? 'same calls' : `then ${then?.calls.join(' ')}`;
  process.stdout.write(`${name}: ${calls.join(' ')} (${same}), ${ms} ms then ${then?.ms} ms\n`);
}
await stage.stop();

function patient(n: number): Resource {
  return {
    resourceType: 'Patient',
    id: `p${n}`,
    meta: { versionId: `v${n}`, lastUpdated: new Date(Date.UTC(2025, 0, 1) + n * 1000).toISOString() },
    identifier: [{ system: 'urn:mrn', value: `mrn-${n}` }],
    name: [{ family: `Family${n}`, given: ['Ann'] }],
    gender: n % 2 ? 'female' : 'male',
  };
}

/** Heads and index items as the API writes them, without transactions and versions. */
async function seed({ services }: Stage, { project }: Caller, from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += 200) {
    const some = Array.from({ length: Math.min(200, to - at) }, (_, i) => patient(at + i));
    await services.table.write(
      some.flatMap((resource) => {
        const change = createChange(project, resource);
        const head = change.head(false);
        return [...('put' in head ? [head.put] : []), ...change.index];
      }),
    );
  }
}

async function measure({ services, client }: Stage, caller: Caller) {
  const find = (text: string) => () =>
    searchResources(services, caller, { type: 'Patient', query: new URLSearchParams(text) });
  const steps: Record<string, () => Promise<unknown>> = {
    read: () => readResource(services, caller, { type: 'Patient', id: 'p7' }),
    'identifier=system|value': find('identifier=urn:mrn|mrn-7'),
    'family=Family7, first of many': find('family=Family7&_count=1'),
    '_lastUpdated, newest ten': find('_sort=-_lastUpdated&_count=10'),
    'gender=male, first twenty': find('gender=male'),
  };
  const measured: Record<string, { calls: string[]; ms: number }> = {};
  for (const [name, step] of Object.entries(steps)) {
    await step();
    const calls = await callsOf(client, step);
    const startedAt = performance.now();
    for (let round = 0; round < rounds; round++) await step();
    measured[name] = { calls, ms: Math.round(((performance.now() - startedAt) / rounds) * 10) / 10 };
  }
  return measured;
}
