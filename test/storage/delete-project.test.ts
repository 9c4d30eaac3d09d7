import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Reference } from '../../shared/base/resource.ts';
import { newDisclosure } from '../../shared/carry/disclosure.ts';
import type { Services } from '../../shared/carry/services.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import { dueKey, keys, startKey } from '../../shared/carry/table/keys.ts';
import type { Table } from '../../shared/carry/table/table.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { once } from '../../shared/identity/gate/once.ts';
import { inviteUser } from '../../shared/identity/invitations/invite-user.ts';
import { noteMailEvent } from '../../shared/identity/mail/mail-event.ts';
import { removeMember } from '../../shared/identity/memberships/change-member.ts';
import { addAdministrator } from '../../shared/identity/projects/administrators.ts';
import { changeProject } from '../../shared/identity/projects/change-settings.ts';
import { deleteProject } from '../../shared/identity/projects/delete-project.ts';
import { endUser, forgetUser } from '../../shared/identity/projects/forget-user.ts';
import { provision } from '../../shared/identity/projects/provision.ts';
import { beginLogin } from '../../shared/identity/sign-in/person-login.ts';
import { reindex } from '../../shared/store/items/reindex.ts';
import { overtaken } from '../faults/inject.ts';
import { streamUnread, violationsIn } from '../setup/violations.ts';
import { putItems, readKept } from '../upgrade/kept-table.ts';
import { scanAll } from './scan-all.ts';
import { getItem, newProject, person, type Stage, startStage } from './stage.ts';

/** A table in which everything was used. */
const folder = join(import.meta.dirname, '..', 'upgrade');
const [file = ''] = readdirSync(folder).filter((name) => name.endsWith('.json.gz'));
const kept = readKept(join(folder, file));

let stage: Stage;
let services: Services;
beforeEach(async () => {
  stage = await startStage();
  stage.clock.nowMs = Date.now();
  services = stage.services;
});
afterEach(() => stage.stop());

const queues = { 'subscription-status': { send: async () => [] } };
const items = () => scanAll(stage.client, stage.tableName);
const nameOf = ({ pk, sk }: Item) => `${pk} ${sk}`;

async function disable(project: string): Promise<void> {
  await changeProject({ ...services, queues }, { project, disabled: true });
  stage.clock.nowMs += 21 * 60_000;
}

function finish(project: string, using = services) {
  return deleteProject(using, { project, delete: true }, services.now() + 3_600_000);
}

/** @returns the reference of the User */
async function invite(caller: Caller<'administrator'>, email: string): Promise<string> {
  const { user } = await inviteUser(services, caller, { ...person({ email }), sendEmail: false });
  return (user as Reference).reference;
}

async function userOf(email: string): Promise<string | undefined> {
  const found = await getItem(services, keys.address(email));
  return found && String(found.userId);
}

/** The Project's id stands nowhere but in the note of its deletion. */
async function expectGone(project: string): Promise<void> {
  const left = (await items()).filter((item) => JSON.stringify(item).includes(project));
  expect(left.map(nameOf)).toEqual([`DELETION#${project} HEAD`]);
}

/** Breaks off at the first call, later at the second, and so on: before or after it was carried out. */
function breakingOff(
  table: Table,
  when: 'before' | 'after',
): { table: Table; rest(): void; skip(calls: number): void } {
  let calls = 0;
  let last = 1;
  const wrapped = new Proxy(table, {
    get(target, name: keyof Table) {
      const own = target[name];
      if (typeof own !== 'function') return own;
      return async (...all: never[]) => {
        calls++;
        if (calls >= last && when === 'before') throw new Error('broken off');
        const answer = await (own as (...given: never[]) => unknown)(...all);
        if (calls >= last) throw new Error('broken off');
        return answer;
      };
    },
  });
  return {
    table: wrapped,
    rest() {
      calls = 0;
      last++;
    },
    skip(some) {
      last += some;
    },
  };
}

describe.each(['before', 'after'] as const)('a deletion that breaks off %s each of its calls', (when) => {
  test('goes on where it was, leaves nothing of the Project, and all of the others', async () => {
    await putItems(stage, kept.items);
    while (!(await reindex(services, { again: false, untilMs: services.now() + 60_000 })).done);
    const [first, second] = kept.projects;
    const other = await newProject(stage, 'Other');
    const gone = first?.id ?? '';
    const own = (await items()).filter((item) => JSON.stringify(item).includes(gone));
    expect(own.length).toBeGreaterThan(300);
    await disable(gone);
    const before = await items();

    const broken = breakingOff(services.table, when);
    let tries = 0;
    for (let done = false; !done; tries++) {
      done = await finish(gone, { ...services, table: broken.table }).then(
        (answer) => answer.deletion.done,
        (error: Error) => {
          expect(error.message).toBe('broken off');
          broken.rest();
          return false;
        },
      );
    }
    expect(tries).toBeGreaterThan(10);

    await expectGone(gone);
    const after = new Map((await items()).map((item) => [nameOf(item), item]));
    const others = before.filter(({ pk }) =>
      [second?.id, other.project].some((id) => id !== undefined && pk.startsWith(`P#${id}#`)),
    );
    expect(others.length).toBeGreaterThan(10);
    for (const item of others) expect(after.get(nameOf(item))).toEqual(item);
    expect(await violationsIn(stage, streamUnread)).toEqual([]);
    const again = await finish(gone);
    expect(again.deletion).toMatchObject({ done: true, ended: expect.any(String) });
    expect((await items()).map(nameOf).sort()).toEqual([...after.keys()].sort());
  });
});

describe('people of a deleted Project', () => {
  test('go with it when they are in no other, with all that opens a sign-in; the others stay', async () => {
    const [gone, stays] = [await newProject(stage, 'Gone'), await newProject(stage, 'Stays')];
    const [only, both, left] = ['only@example.com', 'both@example.com', 'left@example.com'];
    for (const email of [only, both, left]) await invite(gone, email);
    await invite(stays, both);
    const userId = (await userOf(only)) ?? '';
    const login = { id: 'login-1', userId, clientId: '', scope: 'openid' };
    await beginLogin(services, login);
    await services.table.write([
      { ...keys.password(userId), hash: 'x' },
      { ...keys.mfa(userId), seed: 'x', lastStep: 1 },
      { ...keys.noticeMail(userId, 'password-changed', only), email: only, generation: 1 },
      { ...keys.userSubject(userId, undefined, 'https://i.example'), subjectKey: 'SUBJECT#x' },
      { ...keys.subject(undefined, 'x', 'x'), pk: 'SUBJECT#x', userId },
    ]);
    await disable(gone.project);
    const { deletion } = await finish(gone.project);
    // The administrator, and the two who were invited here alone.
    expect(deletion.users).toBe(3);
    await expectGone(gone.project);
    const all = JSON.stringify(await items());
    for (const trace of [only, left, userId, 'login-1', 'SUBJECT#x']) expect(all).not.toContain(trace);
    expect(await userOf(both)).toBeDefined();
    expect(await violationsIn(stage, streamUnread)).toEqual([]);
    // Who has ended is somebody new, also where a Project remembers them.
    expect(await invite(stays, only)).not.toContain(userId);
  });

  test('who are invited elsewhere at that moment are there, whoever was first', async () => {
    const stays = await newProject(stage, 'Stays');
    for (let round = 0; round < 8; round++) {
      const gone = await newProject(stage, 'Gone');
      const email = `round-${round}@example.com`;
      await invite(gone, email);
      await disable(gone.project);
      const invited = new Promise((resolve) => setTimeout(resolve, round)).then(() => invite(stays, email));
      const [user] = await Promise.all([invited, finish(gone.project)]);
      expect(`User/${await userOf(email)}`).toBe(user);
      await expectGone(gone.project);
    }
    expect(await violationsIn(stage, streamUnread)).toEqual([]);
  });

  test('and what else lies above Projects goes when it is about this one alone', async () => {
    const { project } = await newProject(stage, 'Gone');
    const lasting = await newProject(stage, 'Stays');
    const member = (await invite(lasting, 'member@example.com')).replace('User/', '');
    /** @param id of a Project @param name of what is about it */
    const about = (id: string, name: string): Item[] => [
      { ...keys.pending(id, 'Patient', name, '1') },
      { ...keys.outbox(id, name), generation: 1 },
      { ...keys.failureMail(id, 's', name) },
      { ...keys.emergencyMail(id, { membershipId: 'm', startedAtMs: 1 }, name) },
      { ...dueKey(id, name, '2026-01-01T00:00:00.000Z') },
      { ...startKey(id, name, '2026-01-01T00:00:00.000Z') },
      { ...keys.resetMail(`${name}@example.com`, id), project: id },
      { ...keys.client(name), project: id },
      { ...keys.login(`of ${name}`), project: id },
      { ...keys.login(`for ${name}`), onlyProject: id },
      { ...keys.userSubject(member, id, name), subjectKey: keys.subject(id, name, 's').pk },
    ];
    const own = about(project, 'own');
    // Ids that begin or end alike, and what only tells of the Project beside something else.
    const others = [
      ...[`${project}x`, `x${project}`, lasting.project].flatMap((id) => about(id, `of-${id.slice(-5)}`)),
      {
        ...keys.userSubject(member, undefined, 'stage'),
        subjectKey: keys.subject(undefined, 'stage', 's').pk,
      },
      { ...keys.userLogin(member, 'mirror'), project, loginId: 'mirror' },
      { ...keys.resource(lasting.project, 'Basic', project) },
      { ...keys.issuer(lasting.project, project), project },
    ];
    await services.table.write([...own, ...others]);
    await disable(project);
    await finish(project);
    const left = new Set((await items()).map(nameOf));
    expect(own.map(nameOf).filter((name) => left.has(name))).toEqual([]);
    expect(others.map(nameOf).filter((name) => !left.has(name))).toEqual([]);
  });

  test.each(['for the first time', 'again'])(
    'who are invited elsewhere at any of the calls of their end are there, %s',
    async (when) => {
      const [gone, stays, left] = [
        await newProject(stage, 'Gone'),
        await newProject(stage, 'Stays'),
        await newProject(stage, 'Left'),
      ];
      for (let n = 1; ; n++) {
        const email = `call-${n}@example.com`;
        const user = await invite(gone, email);
        if (when === 'again') {
          const { id: membershipId } = await inviteUser(services, left, person({ email }));
          await removeMember(services, left, { membershipId });
        }
        let invited = '';
        const ends = await overtaken(
          stage.client,
          n,
          () => endUser(services, gone.project, user.replace('User/', '')),
          async () => {
            invited = await invite(stays, email);
          },
        );
        if (ends.length < 2) break;
        expect([n, `User/${await userOf(email)}`]).toEqual([n, invited]);
        expect(await getItem(services, keys.user(invited.replace('User/', '')))).toBeDefined();
      }
    },
  );
});

describe('the account of a person', () => {
  test('is erased when they are in no Project any more, and then knows nothing of them', async () => {
    const project = await newProject(stage);
    const [gone, stays] = ['gone@example.com', 'stays@example.com'];
    for (const email of [gone, stays]) await invite(project, email);
    const userId = (await userOf(gone)) ?? '';
    await services.table.write([
      { ...keys.password(userId), hash: 'x' },
      { ...keys.mfa(userId), seed: 'x', lastStep: 1 },
    ]);
    await expect(forgetUser(services, { forget: gone })).rejects.toThrow('member of a Project');
    expect(await getItem(services, keys.password(userId))).toBeDefined();
    const [mirror] = (await items()).filter(({ pk, sk }) => pk === `U#${userId}` && sk.startsWith('M#'));
    await removeMember(services, project, { membershipId: String(mirror?.membershipId) });
    const broken = breakingOff(services.table, 'after');
    broken.skip(3);
    await expect(forgetUser({ ...services, table: broken.table }, { forget: gone })).rejects.toThrow(
      'broken',
    );
    expect(await userOf(gone)).toBeUndefined();
    expect(await getItem(services, keys.password(userId))).toBeDefined();
    expect(await forgetUser(services, { forget: `User/${userId}` })).toEqual({
      forgotten: { user: userId },
    });
    const left = (await items()).filter(({ pk }) => pk === `U#${userId}` || pk === `E#${gone}`);
    expect(left).toEqual([]);
    expect(await userOf(stays)).toBeDefined();
    await expect(forgetUser(services, { forget: gone })).rejects.toThrow('Nobody');
    expect(await violationsIn(stage, streamUnread)).toEqual([]);
    // Invited again, they are somebody new; the Project has their earlier profile still.
    await expect(invite(project, gone)).rejects.toThrow('There is a profile');
    const again = { ...person({ email: gone }), newProfile: true, sendEmail: false };
    const { user } = await inviteUser(services, project, again);
    expect((user as Reference).reference).not.toContain(userId);
  });
});

test('who was removed from a Project writes nothing into it, whatever a warm process remembers of them', async () => {
  const caller = await newProject(stage);
  const { project } = caller;
  const run = () => inviteUser(services, caller, { ...person(), sendEmail: false });
  const keyed = once(services, {
    windowMs: 1000,
    afterCrash: 'repeat',
    run,
    answer: () => ({ statusCode: 200 }),
  });
  const request = () => ({
    ...{ method: 'POST', rawPath: '/', route: 'POST /x', params: {}, query: new URLSearchParams() },
    ...{ cookie: () => undefined, bodyBytes: 0, bytes: () => undefined, source: '', receivedAtMs: 0 },
    ...{ traceId: '', disclosure: newDisclosure(), caller },
    headers: { 'idempotency-key': services.newId() },
  });
  await keyed(request());
  const left = async () =>
    (await items()).filter(({ pk }) => pk.startsWith(`P#${project}#RATE#`) || pk.includes('#IDEMPOTENCY#'));
  const invites = async () => (await left()).reduce((sum, { count = 0 }) => sum + Number(count), 0);
  expect([await invites(), (await left()).length]).toEqual([1, 2]);
  // One may be under way that was counted beside the read; then they are known for what they are.
  const loginKey = keys.login(caller.loginId);
  await services.table.put({ ...loginKey, membershipId: caller.membershipId, revoked: true });
  for (let invite = 0; invite < 5; invite++)
    await expect(run()).rejects.toMatchObject({ kind: 'unauthorized' });
  expect(await invites()).toBeLessThanOrEqual(2);
  await disable(project);
  await finish(project);
  for (const call of [run, () => keyed(request())])
    await expect(call()).rejects.toMatchObject({ kind: 'unauthorized' });
  await expectGone(project);
});

describe('a deletion', () => {
  test('wants a Project that is disabled, and has been for longer than a run takes', async () => {
    const { project } = await newProject(stage);
    await expect(finish(project)).rejects.toThrow('Disable the Project first');
    await changeProject({ ...services, queues }, { project, disabled: true });
    await expect(finish(project)).rejects.toThrow('can be deleted from');
    await expect(finish('none')).rejects.toThrow('no such Project');
    expect((await items()).filter(({ pk }) => pk.startsWith('DELETION#'))).toEqual([]);
  });

  test.each([
    ['enabled again', [false]],
    ['enabled and disabled again', [false, true]],
  ])('of a Project that is %s at any of its calls removes nothing', async (_, turns) => {
    for (let n = 1; ; n++) {
      const { project } = await newProject(stage);
      await disable(project);
      const before = (await items()).filter(
        ({ pk }) => pk.startsWith(`P#${project}#`) && !pk.includes('#LOG#'),
      );
      const [deletion, turned] = await overtaken(
        stage.client,
        n,
        () => deleteProject(services, { project, delete: true }, 0),
        async () => {
          for (const disabled of turns) await changeProject({ ...services, queues }, { project, disabled });
        },
      );
      if (!turned) break;
      if (turned.status !== 'fulfilled') continue;
      expect([n, deletion?.status]).toEqual([n, 'rejected']);
      const after = await items();
      expect(after.filter(({ pk }) => pk === `DELETION#${project}`)).toEqual([]);
      for (const { pk, sk } of before) expect(after).toContainEqual(expect.objectContaining({ pk, sk }));
    }
  });

  test('that has begun cannot be taken back, and of two that go on at once none removes what is not its own', async () => {
    const { project } = await newProject(stage);
    const stays = await newProject(stage, 'Stays');
    await disable(project);
    await deleteProject(services, { project, delete: true }, 0);
    await expect(changeProject({ ...services, queues }, { project, disabled: false })).rejects.toThrow(
      'or it is being deleted',
    );
    const admin = { email: 'a@example.com', firstName: 'A', lastName: 'B' };
    await expect(addAdministrator(services, { project, admin })).rejects.toThrow('being deleted');
    const both = await Promise.allSettled([finish(project), finish(project)]);
    expect(both.some(({ status }) => status === 'fulfilled')).toBe(true);
    expect((await finish(project)).deletion.done).toBe(true);
    await expectGone(project);
    // Weeks later somebody says that they did not want its mail.
    const tags = { project: [project], membership: ['m'], generation: ['1'] };
    const mail = { destination: ['who@example.com'], tags };
    await noteMailEvent(services, { eventType: 'Complaint', complaint: {}, mail });
    await expectGone(project);
    expect(await invite(stays, 'new@example.com')).toMatch(/^User/);
    expect((await provision(services, { name: 'Next', admin })).project.id).not.toBe(project);
  });
});
