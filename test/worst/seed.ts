import type { Resource } from '../../shared/base/resource.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import type { Table } from '../../shared/carry/table/table.ts';
import { createChange, type ResourceChange, updateChange } from '../../shared/store/items/change.ts';

/** What the worst requests meet: 10,000 resources, 3,000 of them Observations of one Patient; 1,000 versions of another. */
const seeded = { patients: 7000, observations: 3000, versions: 1000 };

/** Straight into the table, as the API leaves it: heads, versions, entries of histories, index items. */
export async function seed(table: Table, project: string): Promise<void> {
  await writeAll(table, project, seeded.patients, patient);
  await writeAll(table, project, seeded.observations, observation);
  await writeVersions(table, project);
}

async function writeAll(
  table: Table,
  project: string,
  count: number,
  resource: (n: number) => Resource,
): Promise<void> {
  for (let at = 0; at < count; at += 500) {
    const some = Array.from({ length: Math.min(500, count - at) }, (_, i) => resource(at + i));
    await table.write(some.flatMap((each) => itemsOf(createChange(project, each))));
  }
}

/** `Patient/often`, whose state is the last of its versions. */
async function writeVersions(table: Table, project: string): Promise<void> {
  const version = (n: number): Resource => ({
    ...patient(0),
    meta: meta(n),
    id: 'often',
    active: n % 2 === 0,
  });
  const items: Item[] = itemsOf(createChange(project, version(0)));
  for (let n = 1; n < seeded.versions; n++) {
    const { state, index } = updateChange(project, version(n), {
      ...{ versionId: `v${n - 1}`, resource: undefined },
    });
    items.push(...state, ...index);
  }
  // States that differ in one value share the index items of the others.
  await table.write([...new Map(items.map((item) => [`${item.pk} ${item.sk}`, item])).values()]);
  await table.write(itemsOf(createChange(project, version(seeded.versions - 1))).slice(0, 1));
}

function itemsOf(change: ResourceChange): Item[] {
  const head = change.head(false);
  return [...('put' in head ? [head.put] : []), ...change.state, ...change.index];
}

function meta(n: number) {
  return { versionId: `v${n}`, lastUpdated: new Date(Date.UTC(2025, 0, 1) + n * 1000).toISOString() };
}

function patient(n: number): Resource {
  return {
    resourceType: 'Patient',
    id: `p${n}`,
    meta: meta(n),
    identifier: [{ system: 'urn:mrn', value: `mrn-${n}` }],
    name: [{ family: `Family${n}`, given: ['Ann'] }],
    gender: 'female',
    birthDate: new Date(Date.UTC(1940, 0, 1) + n * 86_400_000).toISOString().slice(0, 10),
  };
}

function observation(n: number): Resource {
  return {
    resourceType: 'Observation',
    id: `o${n}`,
    meta: meta(n),
    status: 'final',
    code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }] },
    subject: { reference: 'Patient/p1' },
    effectiveDateTime: '2025-01-01',
    valueQuantity: { value: n, unit: '/min', system: 'http://unitsofmeasure.org', code: '/min' },
  };
}
