import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Resource } from '../../shared/base/resource.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { inviteUser } from '../../shared/identity/invitations/invite-user.ts';
import { type Invitation, type Standing, standingOf } from '../../shared/identity/invitations/state.ts';
import { readMember } from '../../shared/identity/memberships/member.ts';
import { getItem, newProject, newResource, person, type Stage, startStage } from './stage.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
let stage: Stage;
let caller: Caller<'administrator'>;
const startMs = Date.UTC(2026, 0, 31, 12);

beforeAll(async () => {
  stage = await startStage();
  caller = await newProject(stage);
});
beforeEach(() => {
  stage.clock.nowMs = startMs;
});
afterAll(() => stage.stop());

function invite(body: unknown, as = caller): Promise<Resource> {
  return inviteUser(stage.services, as, body);
}

async function standing(id: string): Promise<Standing> {
  const found = standingOf(
    await getItem(stage.services, keys.resource(caller.project, 'ProjectMembership', id)),
  );
  if (!found) throw new Error('No such membership');
  return found;
}

function outbox(id: string) {
  return getItem(stage.services, keys.outbox(caller.project, id));
}

/** What accepting, revoking and expiry leave on the head of a membership. */
async function set(id: string, change: Partial<Invitation>, active = false): Promise<void> {
  const { invitation, membership } = await standing(id);
  await stage.services.table.update({
    Key: keys.resource(caller.project, 'ProjectMembership', id),
    UpdateExpression: 'SET invitation = :invitation, content = :content',
    ExpressionAttributeValues: {
      ':invitation': { ...invitation, ...change },
      ':content': JSON.stringify({ ...membership, active }),
    },
  });
}

function partOf(membership: Resource, name: 'state' | 'outcome'): unknown {
  const [{ extension }] = membership.extension as [{ extension: { url: string; valueCode?: string }[] }];
  return extension.find(({ url }) => url === name)?.valueCode;
}

const stateOf = (membership: Resource) => partOf(membership, 'state');
const outcomeOf = (membership: Resource) => partOf(membership, 'outcome');

describe('a pending person, invited again with the same rights', () => {
  test('within 60 s keeps the link and gets no second mail', async () => {
    const body = person();
    const first = await invite(body);
    const mail = await outbox(first.id);
    stage.clock.nowMs += minuteMs - 1;
    const again = await invite(body);
    expect([outcomeOf(first), outcomeOf(again)]).toEqual(['created', 'kept']);
    expect({ ...again, extension: [] }).toEqual({ ...first, extension: [] });
    expect((await standing(first.id)).invitation.generation).toBe(1);
    expect(await outbox(first.id)).toEqual(mail);
  });

  test('after 60 s gets a new link and mail that end the old ones', async () => {
    const body = person();
    const first = await invite(body);
    stage.clock.nowMs += minuteMs;
    const again = await invite(body);
    expect([again.id, outcomeOf(again)]).toEqual([first.id, 'renewed']);
    const { invitation } = await standing(first.id);
    expect(invitation).toMatchObject({ generation: 2, expiresAtMs: stage.clock.nowMs + 7 * dayMs });
    expect(await outbox(first.id)).toMatchObject({ generation: 2 });
  });

  test('after 60 s without a mail gets a new link and none', async () => {
    const body = person();
    const first = await invite(body);
    const mail = await outbox(first.id);
    stage.clock.nowMs += minuteMs;
    const again = await invite({ ...body, sendEmail: false });
    expect([again.id, outcomeOf(again)]).toEqual([first.id, 'renewed']);
    expect((await standing(first.id)).invitation).toMatchObject({ generation: 2, mail: false });
    expect(await outbox(first.id)).toEqual(mail);
  });

  test('in parallel after 60 s: one new link', async () => {
    const body = person();
    const first = await invite(body);
    stage.clock.nowMs += minuteMs;
    const all = await Promise.all(Array.from({ length: 20 }, () => invite(body)));
    expect(all.map(outcomeOf).sort()).toEqual([...Array(19).fill('kept'), 'renewed']);
    expect((await standing(first.id)).invitation.generation).toBe(2);
  });
});

describe.each([
  ['expired', (_: string) => (stage.clock.nowMs += 7 * dayMs)],
  ['revoked', (id: string) => set(id, { state: 'revoked' })],
] as const)('an invitation that is %s', (state, end) => {
  test('is pending again, the same membership, with a new link', async () => {
    const body = person();
    const first = await invite(body);
    await end(first.id);
    const seen = await readMember(stage.services, caller, { membershipId: first.id });
    expect(stateOf(seen)).toBe(state);
    const again = await invite(body);
    expect([again.id, stateOf(again), outcomeOf(again)]).toEqual([first.id, 'pending', 'renewed']);
    expect((await standing(first.id)).invitation).toMatchObject({ state: 'pending', generation: 2 });
  });

  test('is renewed with the rights of the new invite, and no others', async () => {
    const reference = await newResource(stage, caller.project, { resourceType: 'AccessPolicy' });
    const body = person();
    const first = await invite({ ...body, admin: true, accessPolicy: { reference } });
    await end(first.id);
    const again = await invite({ ...body, accessPolicy: { reference } });
    expect(again.admin).toBeUndefined();
    expect(again.accessPolicy).toEqual({ reference });
  });

  test('makes way for one of another type, whose profile is another', async () => {
    const body = person();
    const first = await invite(body);
    await end(first.id);
    const again = await invite({ ...body, resourceType: 'Patient' });
    expect(again.id).not.toBe(first.id);
    await expect(standing(first.id)).rejects.toThrow();
  });
});

describe('an active member, invited again', () => {
  async function member(change: Record<string, unknown> = {}) {
    const body = person(change);
    const first = await invite(body);
    await set(first.id, { state: 'accepted' }, true);
    return { body, first };
  }

  test('is refused', async () => {
    const { body } = await member();
    await expect(invite(body)).rejects.toMatchObject({
      kind: 'conflict',
      message: 'User is already a member of this project',
    });
  });

  test('with upsert gets the policy that is named and keeps the rest, link and state', async () => {
    const { body, first } = await member({ mfaRequired: true });
    const before = (await standing(first.id)).invitation;
    const reference = await newResource(stage, caller.project, { resourceType: 'AccessPolicy' });
    const again = await invite({
      ...body,
      mfaRequired: undefined,
      accessPolicy: { reference },
      upsert: true,
    });
    expect(again).toMatchObject({
      id: first.id,
      active: true,
      mfaRequired: true,
      accessPolicy: { reference },
    });
    expect(outcomeOf(again)).toBe('updated');
    expect((await standing(first.id)).invitation).toEqual(before);
  });

  test('as another type is refused, and with forceNewMembership is a second membership', async () => {
    const { body, first } = await member();
    const other = { ...body, resourceType: 'Patient' };
    await expect(invite(other)).rejects.toMatchObject({ kind: 'conflict' });
    const second = await invite({ ...other, forceNewMembership: true });
    expect(second.user).toEqual(first.user);
    expect((await standing(first.id)).membership.active).toBe(true);
  });

  test('as the last administrator cannot be demoted, with another one can', async () => {
    const project = await newProject(stage);
    const address = await adminAddress(project);
    const demotion = person({ email: address, admin: false, upsert: true });
    await expect(invite(demotion, project)).rejects.toMatchObject({
      kind: 'invalid',
      message: 'The last administrator of a project cannot be removed or demoted',
    });
    await stage.services.table.update({
      Key: keys.administrators(project.project),
      UpdateExpression: 'ADD #count :one',
      ExpressionAttributeNames: { '#count': 'count' },
      ExpressionAttributeValues: { ':one': 1 },
    });
    expect((await invite(demotion, project)).admin).toBe(false);
    expect(await getItem(stage.services, keys.administrators(project.project))).toMatchObject({ count: 1 });
  });
});

describe('a Project', () => {
  test.each([
    [1, 1],
    [30, 30],
    [90, 30],
  ])('whose invitations live %i days gets %i', async (invitationDays, days) => {
    const project = await newProject(stage);
    await stage.services.table.update({
      Key: keys.resource(project.project, 'Project', project.project),
      UpdateExpression: 'SET invitationDays = :days',
      ExpressionAttributeValues: { ':days': invitationDays },
    });
    const { id } = await invite(person(), project);
    const key = keys.resource(project.project, 'ProjectMembership', id);
    const invitation = (await getItem(stage.services, key))?.invitation;
    expect(invitation).toMatchObject({ expiresAtMs: startMs + days * dayMs });
  });

  test('with a rate limit refuses more with 429 and says when to come again', async () => {
    const project = await newProject(stage);
    await stage.services.table.update({
      Key: keys.resource(project.project, 'Project', project.project),
      UpdateExpression: 'SET invitesPerHour = :few',
      ExpressionAttributeValues: { ':few': 10 },
    });
    const outcomes = await Promise.allSettled(Array.from({ length: 14 }, () => invite(person(), project)));
    const refused = outcomes.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    expect(refused).toHaveLength(4);
    for (const { reason } of refused) {
      expect(reason).toMatchObject({ kind: 'throttled', retryAfterSeconds: 3600 });
    }
    stage.clock.nowMs += 60 * minuteMs;
    await invite(person(), project);
  });
});

async function adminAddress({ project }: Caller): Promise<string> {
  const { scanAll } = await import('./scan-all.ts');
  const items = await scanAll(stage.client, stage.tableName);
  const found = items.find(({ pk }) => pk.startsWith(`P#${project}#PERSON#E:admin-`));
  return String(found?.login).slice(2);
}
