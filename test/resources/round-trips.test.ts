import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { carryOut } from '../../functions/resources/carry-out.ts';
import { readResource } from '../../functions/resources/read-resource.ts';
import { searchResources } from '../../functions/resources/search-resources.ts';
import type { Caller } from '../../shared/auth/token.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { createChange } from '../../shared/table/change.ts';
import { callsOf, newProject, type Stage, startStage } from '../storage/stage.ts';

/** The bench does the same with 100,000: bench/resources.ts. */
const many = 5000;

let stage: Stage;
let caller: Caller;

beforeAll(async () => {
  stage = await startStage({ onDisk: true });
  caller = await newProject(stage);
}, 60_000);

afterAll(() => stage.stop());

function patient(n: number): Resource {
  return {
    resourceType: 'Patient',
    id: `p${n}`,
    meta: { versionId: `v${n}`, lastUpdated: new Date(Date.UTC(2025, 0, 1) + n * 1000).toISOString() },
    identifier: [{ system: 'urn:mrn', value: `mrn-${n}` }],
    name: [{ family: `Family${n}`, given: ['Ann'] }],
  };
}

/** Heads and index items as the API writes them, without transactions and versions. */
async function seed(from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += 100) {
    const some = Array.from({ length: Math.min(100, to - at) }, (_, i) => patient(at + i));
    await stage.services.table.write(
      some.flatMap((resource) => {
        const change = createChange(caller.project, resource);
        const head = change.head(false);
        return [...('put' in head ? [head.put] : []), ...change.index];
      }),
    );
  }
}

async function counted(): Promise<Record<string, string[]>> {
  const { services, client } = stage;
  const query = (text: string) =>
    callsOf(client, () =>
      searchResources(services, caller, { type: 'Patient', query: new URLSearchParams(text) }),
    );
  const body = { resourceType: 'Patient', identifier: [{ value: 'x' }] };
  return {
    read: await callsOf(client, () => readResource(services, caller, { type: 'Patient', id: 'p7' })),
    'by identifier': await query('identifier=urn:mrn|mrn-7'),
    'by family': await query('family=Family7&_count=1'),
    'newest first': await query('_sort=-_lastUpdated&_count=10'),
    create: await callsOf(client, () =>
      carryOut(services, caller, [{ kind: 'create', type: 'Patient', body }]),
    ),
    update: await callsOf(client, () =>
      carryOut(services, caller, [
        { kind: 'update', type: 'Patient', id: 'p7', body: { ...body, id: 'p7' } },
      ]),
    ),
    'create if none exists': await callsOf(client, () =>
      carryOut(services, caller, [
        { kind: 'create', type: 'Patient', query: `identifier=${services.newId()}`, body },
      ]),
    ),
    undo: await callsOf(client, () =>
      carryOut(services, caller, [
        { kind: 'update', type: 'Patient', id: 'p7', body: { ...patient(7), meta: {} } },
      ]),
    ),
  };
}

describe('round trips', () => {
  test(`are the same with 10 Patients and with ${many}`, async () => {
    await seed(0, 10);
    await counted(); // the first call of a membership also reads its policies' keys
    const few = await counted();
    await seed(10, many);
    expect(await counted()).toEqual(few);
    const list = ['BatchGetItem', 'Query', 'Query', 'Query', 'Query', 'BatchGetItem'];
    expect(few).toEqual({
      read: ['BatchGetItem'],
      'by identifier': ['BatchGetItem', 'Query', 'BatchGetItem'],
      'by family': ['BatchGetItem', 'Query', 'BatchGetItem'],
      'newest first': list,
      create: ['BatchGetItem', 'TransactWriteItems'],
      update: ['BatchGetItem', 'TransactWriteItems'],
      'create if none exists': ['BatchGetItem', 'Query', 'TransactWriteItems'],
      undo: ['BatchGetItem', 'TransactWriteItems'],
    });
  }, 240_000);
});
