import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Reference, Resource } from '../../shared/base/resource.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { inviteUser } from '../../shared/identity/invitations/invite-user.ts';
import { revokeInvitation } from '../../shared/identity/memberships/change-invitation.ts';
import { removeMember } from '../../shared/identity/memberships/change-member.ts';
import { getItem, newProject, person, type Stage, startStage } from './stage.ts';

let stage: Stage;
let caller: Caller<'administrator'>;

beforeAll(async () => {
  stage = await startStage();
  caller = await newProject(stage);
});
afterAll(() => stage.stop());

function invite(body: unknown): Promise<Resource> {
  return inviteUser(stage.services, caller, body);
}

async function inviteAndRemove(body: unknown): Promise<Resource> {
  const membership = await invite(body);
  const which = { membershipId: membership.id };
  await removeMember(stage.services, caller, which);
  return membership;
}

const profileOf = ({ profile }: Resource) => (profile as Reference).reference;

test('an external id that two addresses had leads no link to the other one', async () => {
  const externalId = `ext-${randomUUID()}`;
  const [victim, stranger] = [person(), person()];
  await inviteAndRemove({ ...victim, scope: 'project', externalId });
  await inviteAndRemove({ ...stranger, scope: 'project', externalId });
  const { id } = await invite({ ...victim, newProfile: true });

  stage.clock.nowMs += 61_000;
  for (const upsert of [false, true]) {
    const stray = await invite({ ...stranger, newProfile: true, upsert });
    expect(stray.id).not.toBe(id);
  }
  const mail = await getItem(stage.services, keys.outbox(caller.project, id));
  expect([mail?.email, mail?.generation]).toEqual([victim.email, 1]);
  expect((await invite(victim)).id).toBe(id);
});

const nobody = { firstName: 'Ann', lastName: 'Lee', resourceType: 'Practitioner', sendEmail: false };

test('whoever had an external id before is not let in by it, at no address and by no other scope', async () => {
  for (const scope of ['project', 'server']) {
    const externalId = `ext-${randomUUID()}`;
    const before = await inviteAndRemove({ ...person(), scope, externalId });
    for (const next of [
      { ...person(), externalId },
      { ...nobody, externalId },
    ]) {
      const { id, user, profile } = await invite({ ...next, scope: 'project' });
      expect([user, profile]).not.toContainEqual(before.user);
      expect((profile as Reference).reference).not.toBe(profileOf(before));
      const head = await getItem(
        stage.services,
        keys.resource(caller.project, 'ProjectMembership', String(id)),
      );
      // A link that is sent again goes to the address of the login.
      expect(head?.login).toBe(`X:${externalId}`);
      await removeMember(stage.services, caller, { membershipId: String(id) });
    }
  }
});

test('nor where they had another membership, whichever ended first', async () => {
  for (const isReplaced of [false, true]) {
    const externalId = `ext-${randomUUID()}`;
    const before = person({ externalId });
    const first = await invite(before);
    const again = { ...before, externalId: undefined, resourceType: 'Patient', newProfile: true };
    const second = await invite({
      ...again,
      ...(isReplaced ? { upsert: true } : { forceNewMembership: true }),
    });
    if (!isReplaced) await removeMember(stage.services, caller, { membershipId: first.id });
    await removeMember(stage.services, caller, { membershipId: second.id });
    const { id } = await invite({ ...nobody, externalId, scope: 'project' });
    const head = await getItem(
      stage.services,
      keys.resource(caller.project, 'ProjectMembership', String(id)),
    );
    expect(head?.login).toBe(`X:${externalId}`);
  }
});

test('nor where what is left of them is an invitation that was revoked', async () => {
  const externalId = `ext-${randomUUID()}`;
  const before = { ...person(), scope: 'project', externalId };
  const { id, user } = await invite(before);
  await revokeInvitation(stage.services, caller, { membershipId: String(id) });
  for (const next of [
    { ...nobody, scope: 'project', externalId },
    { ...person(), scope: 'project', externalId },
  ]) {
    const made = await invite(next);
    expect([made.id, made.user]).not.toContainEqual(user);
    expect(made.id).not.toBe(id);
    await revokeInvitation(stage.services, caller, { membershipId: String(made.id) });
  }
  const alias = await getItem(stage.services, keys.person(caller.project, `E:${before.email}`));
  expect(alias).toBeUndefined();
  expect((await invite({ ...before, newProfile: true })).user).not.toEqual(user);
});

test('nor that of somebody who has moved to another address since', async () => {
  const externalId = `ext-${randomUUID()}`;
  const name = keys.person(caller.project, `X:${externalId}`);
  await stage.services.table.put({ ...name, primary: `E:${person().email}` });
  for (const next of [{ ...nobody, externalId, scope: 'project' }, person({ externalId })]) {
    await expect(invite(next)).rejects.toMatchObject({
      kind: 'conflict',
      message: 'A user with this external ID or e-mail address already exists in this project',
    });
  }
});

test('nobody is given the external id of somebody else who is here', async () => {
  const externalId = `ext-${randomUUID()}`;
  const first = person({ externalId });
  await invite(first);
  await expect(invite(person({ externalId }))).rejects.toMatchObject({
    kind: 'conflict',
    message: 'A user with this external ID or e-mail address already exists in this project',
  });
  expect((await invite(first)).id).toBeDefined();
});

test('one who is here by an external id is not invited by another address', async () => {
  const externalId = `ext-${randomUUID()}`;
  const first = { ...person(), scope: 'project', externalId };
  const { id } = await invite(first);
  for (const upsert of [false, true]) {
    await expect(invite({ ...first, ...person(), upsert })).rejects.toMatchObject({
      kind: 'conflict',
      message: 'A user with this external ID or e-mail address already exists in this project',
    });
  }
  expect((await invite(first)).id).toBe(id);
});

test('an address that has another User now gets none of the earlier one’s record', async () => {
  const body = person({ resourceType: 'Patient' });
  const before = await inviteAndRemove(body);
  expect(profileOf(await inviteAndRemove(body))).toBe(profileOf(before));

  // What a change of address leaves, and whoever takes the address after it.
  const userId = randomUUID();
  await stage.services.table.put({ ...keys.user(userId) });
  await stage.services.table.put({ ...keys.address(body.email), userId });
  await expect(invite(body)).rejects.toMatchObject({
    kind: 'conflict',
    issues: [{ diagnostics: profileOf(before) }],
  });
  const after = await invite({ ...body, newProfile: true });
  expect(after.user).toMatchObject({ reference: `User/${userId}` });
  expect(profileOf(after)).not.toBe(profileOf(before));
});

test('nor does a User of this Project get that of one above Projects', async () => {
  const body = person({ resourceType: 'Patient' });
  const before = await inviteAndRemove(body);
  await expect(invite({ ...body, scope: 'project' })).rejects.toMatchObject({ kind: 'conflict' });
  const made = await invite({ ...body, scope: 'project', newProfile: true });
  expect(profileOf(made)).not.toBe(profileOf(before));
});
