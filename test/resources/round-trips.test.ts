import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Resource } from '../../shared/base/resource.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import { type Caller, callerOf } from '../../shared/identity/gate/access-token.ts';
import { readEverything } from '../../shared/records/read/everything.ts';
import { readResource } from '../../shared/records/read/read-resource.ts';
import { searchResources } from '../../shared/records/read/search.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import { createChange } from '../../shared/store/items/change.ts';
import { callsOf, newProject, newResource, type Stage, startStage } from '../storage/stage.ts';

/** More than one page may read; the bench does the same with 100,000: bench/resources.ts. */
const many = 2500;

let stage: Stage;
let caller: Caller<'administrator'>;

beforeAll(async () => {
  stage = await startStage({ onDisk: true });
  caller = await newProject(stage);
});

afterAll(() => stage.stop());

function patient(n: number): Resource {
  return {
    resourceType: 'Patient',
    id: `p${n}`,
    meta: { versionId: `v${n}`, lastUpdated: new Date(Date.UTC(2025, 0, 1) + n * 1000).toISOString() },
    identifier: [{ system: 'urn:mrn', value: `mrn-${n}` }],
    name: [{ family: `Family${n}`, given: ['Ann'] }],
    gender: 'female',
    birthDate: new Date(Date.UTC(1940, 0, 1) + n * 86_400_000).toISOString().slice(0, 10),
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
  const asPatient = await patientCaller();
  const body = { resourceType: 'Patient', identifier: [{ value: 'x' }] };
  const { meta: _, ...before } = patient(7);
  return {
    read: await callsOf(client, () => readResource(services, caller, { type: 'Patient', id: 'p7' })),
    'by identifier': await query('identifier=urn:mrn|mrn-7'),
    'by family': await query('family=Family7&_count=1'),
    'newest first': await query('_sort=-_lastUpdated&_count=10'),
    'by birth date': await query('birthdate=1940-01-08'),
    'oldest birth dates first': await query('_sort=birthdate&_count=5'),
    'by two parameters': await query('gender=female&birthdate=1940-01-08'),
    'over a reference': await query('_has:Observation:patient:code=nothing'),
    everything: await callsOf(client, () =>
      readEverything(services, caller, { id: 'p7', query: new URLSearchParams() }),
    ),
    'all that a patient may see': await callsOf(client, () =>
      searchResources(services, asPatient, { type: 'Patient', query: new URLSearchParams() }),
    ),
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
      carryOut(services, caller, [{ kind: 'update', type: 'Patient', id: 'p7', body: before }]),
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
      'by birth date': list,
      'oldest birth dates first': list,
      'by two parameters': ['BatchGetItem', ...Array(5).fill('Query'), 'BatchGetItem'],
      'over a reference': ['BatchGetItem', 'Query'],
      everything: ['BatchGetItem', 'BatchGetItem', 'Query'],
      'all that a patient may see': ['BatchGetItem', 'Query', 'BatchGetItem'],
      create: ['BatchGetItem', 'TransactWriteItems'],
      update: ['BatchGetItem', 'TransactWriteItems'],
      'create if none exists': ['BatchGetItem', 'Query', 'TransactWriteItems'],
      undo: ['BatchGetItem', 'TransactWriteItems'],
    });

    const own = await searchResources(stage.services, await patientCaller(), {
      type: 'Patient',
      query: new URLSearchParams(),
    });
    expect(own.entry?.map(({ resource }) => resource)).toEqual([expect.objectContaining({ id: 'p7' })]);

    // What no index helps is told before it costs more.
    for (const [query, advice] of [
      ['active:missing=false', 'identifier or name or birthdate'],
      ['_sort=family', 'identifier or name or birthdate'],
      ['gender=female&identifier:not=x&name:contains=nobody', 'birthdate'],
    ] as const) {
      await expect(find(query)).rejects.toMatchObject({
        kind: 'too-costly',
        message: expect.stringContaining(advice),
      });
    }
    expect((await find('gender=female&_total=accurate&_count=1')).total).toBe(many);
    expect((await find('gender=female&_total=estimate&_count=1')).total).toBe(many);
  }, 400_000);
});

function find(query: string) {
  return searchResources(stage.services, caller, { type: 'Patient', query: new URLSearchParams(query) });
}

/** The person whose record p7 is, without any policy. */
async function patientCaller(): Promise<Caller> {
  const profile = 'Patient/p7';
  const membership = await newResource(stage, caller.project, {
    resourceType: 'ProjectMembership',
    project: { reference: `Project/${caller.project}` },
    user: { reference: 'User/x' },
    profile: { reference: profile },
    active: true,
  });
  const membershipId = membership.slice('ProjectMembership/'.length);
  const loginId = stage.services.newId();
  await stage.services.table.put({ ...keys.login(loginId), membershipId });
  return callerOf({ ...caller, loginId, membershipId, profile, subject: 'x' }, 'member');
}
