import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { inviteUser } from '../../functions/invite/invite-user.ts';
import { readHistory } from '../../functions/resources/read/read-history.ts';
import { carryOut } from '../../functions/resources/write/carry-out.ts';
import type { Write } from '../../functions/resources/write/write.ts';
import type { Caller } from '../../shared/access/access-token.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { Refusal } from '../../shared/refusal.ts';
import { newProject, newResource, person, type Stage, startStage } from '../storage/stage.ts';

let stage: Stage;
let caller: Caller<'administrator'>;

beforeAll(async () => {
  stage = await startStage({ onDisk: true });
  caller = await newProject(stage);
});

afterAll(() => stage.stop());

const patient = { resourceType: 'Patient', birthDate: '1970-01-01' };

async function write(one: Write): Promise<Resource> {
  const [outcome] = await carryOut(stage.services, caller, [one]);
  return outcome?.resource as Resource;
}

/** What each of the calls came to: `done`, or the kind of its refusal. */
async function all(calls: readonly Promise<unknown>[]): Promise<string[]> {
  const settled = await Promise.allSettled(calls);
  return settled.map((one) => {
    if (one.status === 'fulfilled') return 'done';
    if (one.reason instanceof Refusal) return one.reason.kind;
    throw one.reason;
  });
}

function count(results: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    Map.groupBy(results, (one) => one)
      .entries()
      .map(([kind, same]) => [kind, same.length]),
  );
}

describe('at once', () => {
  test('of 20 updates with If-Match one wins and 19 are told that theirs is stale', async () => {
    const { id, meta } = await write({ kind: 'create', type: 'Patient', body: patient });
    const results = await all(
      Array.from({ length: 20 }, (_, n) => {
        const body = { ...patient, multipleBirthInteger: n + 1 };
        return write({ kind: 'update', type: 'Patient', id, body, ifMatch: `W/"${meta.versionId}"` });
      }),
    );
    expect(count(results)).toEqual({ done: 1, 'precondition-failed': 19 });
  });

  test('12 updates without If-Match are all made, one after the other', async () => {
    const { id } = await write({ kind: 'create', type: 'Patient', body: patient });
    const results = await all(
      Array.from({ length: 12 }, (_, n) =>
        write({ kind: 'update', type: 'Patient', id, body: { ...patient, multipleBirthInteger: n + 1 } }),
      ),
    );
    expect(count(results)).toEqual({ done: 12 });
    const { entry } = await readHistory(stage.services, caller, {
      type: 'Patient',
      id,
      query: new URLSearchParams(),
    });
    expect(entry).toHaveLength(13);
  });

  test('20 creates under one If-None-Exist make one resource', async () => {
    const identifier = [{ system: 'urn:mrn', value: 'only-one' }];
    const made = await Promise.all(
      Array.from({ length: 20 }, () =>
        write({
          kind: 'create',
          type: 'Patient',
          query: 'identifier=urn:mrn|only-one',
          body: { ...patient, identifier },
        }),
      ),
    );
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
  });

  test('a profile is never deleted under the invite that binds it', async () => {
    for (let round = 0; round < 8; round++) {
      const profile = await newResource(stage, caller.project, { resourceType: 'Practitioner' });
      const id = profile.split('/')[1] ?? '';
      const body = person({ email: `p${round}@example.com`, profile: { reference: profile } });
      const [invited, deleted] = await all([
        inviteUser(stage.services, caller, body),
        write({ kind: 'delete', type: 'Practitioner', id }),
      ]);
      expect([
        ['done', 'conflict'],
        ['invalid', 'done'],
        ['unavailable', 'done'],
      ]).toContainEqual([invited, deleted]);
    }
  });

  test('of two Bots that take one identifier one does', async () => {
    const bots = await Promise.all(
      [1, 2].map(() => newResource(stage, caller.project, { resourceType: 'Bot', name: 'Bot' })),
    );
    const identifier = [{ system: 'urn:bots', value: 'one' }];
    const results = await all(
      bots.map((bot) => {
        const id = bot.split('/')[1] ?? '';
        return write({
          kind: 'update',
          type: 'Bot',
          id,
          body: { resourceType: 'Bot', name: 'Bot', identifier },
        });
      }),
    );
    expect(count(results)).toEqual({ done: 1, conflict: 1 });
  });
});
