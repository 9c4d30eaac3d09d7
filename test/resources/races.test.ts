import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Refusal } from '../../shared/base/refusal.ts';
import type { Resource } from '../../shared/base/resource.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { acceptActions } from '../../shared/identity/invitations/accept.ts';
import { inviteUser } from '../../shared/identity/invitations/invite-user.ts';
import { standingOf } from '../../shared/identity/invitations/state.ts';
import { changeMember, removeMember } from '../../shared/identity/memberships/change-member.ts';
import { readHistory } from '../../shared/records/read/history.ts';
import { searchResources } from '../../shared/records/read/search.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import type { Write } from '../../shared/records/write/write.ts';
import { overtaken } from '../faults/inject.ts';
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
function endsOf(settled: readonly PromiseSettledResult<unknown>[]): string[] {
  return settled.map((one) => {
    if (one.status === 'fulfilled') return 'done';
    if (one.reason instanceof Refusal) return one.reason.kind;
    throw one.reason;
  });
}

/** The same twice, the second time whole between the first one's read and its write. */
async function overtakenByItself(run: () => Promise<unknown>): Promise<string[]> {
  return endsOf(await overtaken(stage.client, 2, run, run));
}

describe('at once', () => {
  test('12 updates without If-Match are all made, one after the other', async () => {
    const { id } = await write({ kind: 'create', type: 'Patient', body: patient });
    const updates = Array.from({ length: 12 }, (_, n) =>
      write({ kind: 'update', type: 'Patient', id, body: { ...patient, multipleBirthInteger: n + 1 } }),
    );
    expect(new Set(endsOf(await Promise.allSettled(updates)))).toEqual(new Set(['done']));
    const { entry } = await readHistory(stage.services, caller, {
      type: 'Patient',
      id,
      query: new URLSearchParams(),
    });
    expect(entry).toHaveLength(13);
  });

  test.each([1, 2, 3, 4, 5])(
    'an upsert whose record is deleted and made anew before its call %i makes no second one',
    async (n) => {
      const value = `upsert-${n}`;
      const query = `identifier=urn:mrn|${value}`;
      const identifier = [{ system: 'urn:mrn', value }];
      const upsert = (day: string): Promise<Resource> =>
        write({
          kind: 'update',
          type: 'Patient',
          query,
          body: { ...patient, identifier, birthDate: `1970-01-0${day}` },
        });
      const { id } = await upsert('1');
      const ends = await overtaken<unknown>(
        stage.client,
        n,
        () => upsert('2'),
        async () => {
          await write({ kind: 'delete', type: 'Patient', id });
          await upsert('3');
        },
      );
      expect(endsOf(ends).every((end) => end === 'done')).toBe(true);
      const found = await searchResources(stage.services, caller, {
        type: 'Patient',
        query: new URLSearchParams(query),
      });
      expect(found.entry).toHaveLength(1);
    },
  );

  test('who demotes an administrator whom somebody else demotes meanwhile is not told that it is the last', async () => {
    const { id } = await inviteUser(stage.services, caller, person({ admin: true }));
    const key = keys.resource(caller.project, 'ProjectMembership', id);
    const standing = standingOf((await stage.services.table.read([key])).get(key));
    if (!standing) throw new Error('Nobody was invited');
    await stage.services.table.transact(acceptActions(stage.services, standing));
    const demote = () => changeMember(stage.services, caller, { membershipId: id, body: { admin: false } });
    expect(await overtakenByItself(demote)).toEqual(['done', 'done']);
  });

  test.each([1, 2, 3, 4, 5])(
    'whoever is removed before call %i of another invite is invited again, as who they were',
    async (n) => {
      const body = person();
      const before = await inviteUser(stage.services, caller, body);
      const again = () => inviteUser(stage.services, caller, body);
      const remove = () => removeMember(stage.services, caller, { membershipId: before.id });
      const [invited, removed] = await overtaken<unknown>(stage.client, n, again, remove);
      expect(invited).toMatchObject({ status: 'fulfilled', value: { profile: before.profile } });
      expect(removed?.status).not.toBe('rejected');
    },
  );

  test('who gives a Bot an identifier that somebody else gives it meanwhile is not told that it is taken', async () => {
    const bot = await newResource(stage, caller.project, { resourceType: 'Bot', name: 'Bot' });
    const body = { resourceType: 'Bot', name: 'Bot', identifier: [{ system: 'urn:bots', value: 'own' }] };
    const give = () => write({ kind: 'update', type: 'Bot', id: bot.split('/')[1] ?? '', body });
    expect(await overtakenByItself(give)).toEqual(['done', 'done']);
  });
});
