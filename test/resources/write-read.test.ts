import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { readHistory, readTypeHistory } from '../../shared/records/read/history.ts';
import { readResource } from '../../shared/records/read/read-resource.ts';
import { searchResources } from '../../shared/records/read/search.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import { newProject, type Stage, startStage } from '../storage/stage.ts';

let stage: Stage;
let caller: Caller<'administrator'>;

beforeAll(async () => {
  stage = await startStage();
  caller = await newProject(stage);
});

afterAll(() => stage.stop());

const patient = {
  resourceType: 'Patient',
  name: [{ family: 'Ärzte', given: ['Bela'] }],
  birthDate: '1970-02-28',
};

async function create(body: { resourceType: string } & Record<string, unknown>) {
  const [outcome] = await carryOut(stage.services, caller, [
    { kind: 'create', type: body.resourceType, body },
  ]);
  return outcome?.resource as NonNullable<typeof outcome>['resource'] & { id: string };
}

async function find(type: string, query: string): Promise<string[]> {
  const { entry = [] } = await searchResources(stage.services, caller, {
    type,
    query: new URLSearchParams(query),
  });
  return entry.map(({ resource }) => (resource as { id: string }).id);
}

describe('a resource', () => {
  test('is read back and found by what is in it', async () => {
    const { id } = await create(patient);
    const { resource } = await readResource(stage.services, caller, { type: 'Patient', id });
    expect(resource).toMatchObject({ ...patient, id, meta: { project: caller.project } });
    for (const query of [
      'family=arzt',
      'family:exact=Ärzte',
      'name=bela ärz',
      'birthdate=1970-02',
      `_id=${id}`,
    ]) {
      expect(await find('Patient', query)).toEqual([id]);
    }
    expect(await find('Patient', 'family:exact=ärzte')).toEqual([]);
  });

  test('that is new has nothing to do with one whose id is a word for none', async () => {
    const body = { ...patient, id: 'undefined' };
    await carryOut(stage.services, caller, [{ kind: 'update', type: 'Patient', id: body.id, body }]);
    const [made] = await carryOut(stage.services, caller, [
      { kind: 'create', type: 'Patient', body: patient },
    ]);
    expect(made).toMatchObject({ kind: 'created', id: expect.not.stringMatching('undefined') });
    const { resource } = await readResource(stage.services, caller, {
      type: 'Patient',
      id: String(made?.id),
    });
    expect(resource).toMatchObject({ ...patient, id: made?.id });
  });

  test('has an entry in the audit log with others, however long all of their names are', async () => {
    const policy = {
      resourceType: 'AccessPolicy',
      name: 'n'.repeat(30_000),
      resource: [{ resourceType: 'Task' }],
    };
    const write = { kind: 'create', type: policy.resourceType, body: policy } as const;
    const made = await carryOut(stage.services, caller, [write, write, write]);
    expect(made.map(({ kind }) => kind)).toEqual(['created', 'created', 'created']);
  });

  test('is found by a part of its name without a look at those who have it in another part', async () => {
    await Promise.all(
      Array.from({ length: 30 }, () => create({ ...patient, name: [{ family: 'Odd', given: ['Zoe'] }] })),
    );
    const { id } = await create({ ...patient, name: [{ family: 'Zoe van Dyk', given: ['Odd'] }] });
    for (const [query, readers] of [
      ['family=zo', 1],
      ['family=zoe van', 1],
      ['given=odd', 1],
      ['name=zoe&_count=100', 31],
    ] as const) {
      let read = 0;
      stage.client.middlewareStack.add(
        (next) => (args) => {
          const asked = Object.values((args.input as { RequestItems?: object }).RequestItems ?? {});
          read += asked.flatMap(({ Keys }) => Keys).filter(({ pk }) => pk.includes('#Patient#')).length;
          return next(args);
        },
        { step: 'initialize', name: 'heads' },
      );
      const found = await find('Patient', query).finally(() => stage.client.middlewareStack.remove('heads'));
      expect([query, found.includes(id), found.length, read]).toEqual([query, true, readers, readers]);
    }
    expect(await find('Patient', 'family=van')).toEqual([]);
  });

  test('is found by its new values alone after an update, and not at all after its end', async () => {
    stage.clock.nowMs += 1000;
    const { id } = await create(patient);
    const body = { ...patient, id, name: [{ family: 'Later' }] };
    await carryOut(stage.services, caller, [{ kind: 'update', type: 'Patient', id, body }]);
    expect(await find('Patient', 'family=later')).toEqual([id]);
    await carryOut(stage.services, caller, [{ kind: 'delete', type: 'Patient', id }]);
    expect(await find('Patient', 'family=later')).toEqual([]);
    await expect(readResource(stage.services, caller, { type: 'Patient', id })).rejects.toMatchObject({
      kind: 'gone',
    });
    const { entry = [] } = await readHistory(stage.services, caller, {
      type: 'Patient',
      id,
      query: new URLSearchParams(),
    });
    expect(entry.map(({ request }) => request?.method)).toEqual(['DELETE', 'PUT', 'POST']);
    const all = await readTypeHistory(stage.services, caller, {
      type: 'Patient',
      query: new URLSearchParams('_count=3'),
    });
    expect(all.entry?.map(({ request }) => request?.url)).toEqual([
      `Patient/${id}`,
      `Patient/${id}`,
      'Patient',
    ]);
  });
});
