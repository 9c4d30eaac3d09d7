/**
 * What reads, searches and writes cost with 10 and with 100,000 Patients in the Project: calls to
 * DynamoDB, capacity units, and milliseconds against the local engine. `node bench/resources.ts [how many]`
 */

import type { Resource } from '../shared/base/resource.ts';
import type { Caller } from '../shared/identity/gate/access-token.ts';
import { readEverything } from '../shared/records/read/everything.ts';
import { readResource } from '../shared/records/read/read-resource.ts';
import { searchResources } from '../shared/records/read/search.ts';
import { carryOut } from '../shared/records/write/carry-out.ts';
import { createChange } from '../shared/store/items/change.ts';
import { newProject, type Stage, spentBy, startStage } from '../test/storage/stage.ts';

const many = Number(process.argv[2] ?? 100_000);
const rounds = 20;
const basic = { resourceType: 'Basic', code: { text: 'x' } };

const stage = await startStage({ onDisk: true });
const caller = await newProject(stage);

await seed(stage, caller, 0, 10);
const few = await measure(stage, caller);
const startedAt = performance.now();
await seed(stage, caller, 10, many);
const seededSeconds = Math.round((performance.now() - startedAt) / 1000);
const full = await measure(stage, caller);

process.stdout.write(
  `${many} Patients, ${itemsOf(patient(7))} index items each, seeded in ${seededSeconds} s\n`,
);
for (const [name, { calls, units, ms }] of Object.entries(few)) {
  const then = full[name];
  const same = then?.calls.join() === calls.join() ? 'same calls' : `then ${then?.calls.join(' ')}`;
  const cost = `${units} then ${then?.units} units, ${ms} then ${then?.ms} ms`;
  process.stdout.write(`${name}: ${calls.join(' ')} (${same}), ${cost}\n`);
}
for (const query of [
  'active:missing=false',
  'name:contains=nobody',
  '_sort=family',
  'gender=male&_total=accurate',
]) {
  const text = await search(stage, caller, query).then(
    () => 'answered',
    (error: Error) => error.message,
  );
  process.stdout.write(`${query}: ${text}\n`);
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
    birthDate: new Date(Date.UTC(1940, 0, 1) + (n % 25_000) * 86_400_000).toISOString().slice(0, 10),
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

function itemsOf(resource: Resource): number {
  return createChange('x', resource).index.length;
}

function search({ services }: Stage, caller: Caller, text: string) {
  return searchResources(services, caller, { type: 'Patient', query: new URLSearchParams(text) });
}

async function measure(stage: Stage, caller: Caller) {
  const { services, client } = stage;
  const find = (text: string) => () => search(stage, caller, text);
  const update = (name: object) => () => {
    const body = { ...patient(7), ...name, meta: {} };
    return carryOut(services, caller, [{ kind: 'update', type: 'Patient', id: 'p7', body }]);
  };
  let turn = 0;
  const create = () => carryOut(services, caller, [{ kind: 'create', type: 'Basic', body: basic }]);
  const steps: Record<string, () => Promise<unknown>> = {
    read: () => readResource(services, caller, { type: 'Patient', id: 'p7' }),
    'identifier=system|value': find('identifier=urn:mrn|mrn-7'),
    'family=Family7, first of many': find('family=Family7&_count=1'),
    'gender=male, first twenty': find('gender=male'),
    'birthdate=1940-01-08': find('birthdate=1940-01-08&_count=1'),
    'gender=female&family=Family7, first of many': find('gender=female&family=Family7&_count=1'),
    '_lastUpdated, newest ten': find('_sort=-_lastUpdated&_count=10'),
    'birthdate, oldest ten': find('_sort=birthdate&_count=10'),
    'Patient/$everything': () => readEverything(services, caller, { id: 'p7', query: new URLSearchParams() }),
    'create with 1 index item': create,
    'update, one name other': () => update({ name: [{ family: `Other${turn++}`, given: ['Ann'] }] })(),
    'update back': update({}),
  };
  const measured: Record<string, { calls: string[]; units: number; ms: number }> = {};
  for (const [name, step] of Object.entries(steps)) {
    await step();
    const { calls, readUnits, writeUnits } = await spentBy(client, step);
    const units = readUnits + writeUnits;
    const startedAt = performance.now();
    for (let round = 0; round < rounds; round++) await step();
    measured[name] = { calls, units, ms: Math.round(((performance.now() - startedAt) / rounds) * 10) / 10 };
  }
  return measured;
}
