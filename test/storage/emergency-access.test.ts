import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type TOTP, URI } from 'otpauth';
import type { Resource } from '../../shared/base/resource.ts';
import { createBot } from '../../shared/bots/bot/create-bot.ts';
import { newBudget } from '../../shared/carry/table/budget.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import { type Caller, callerOf } from '../../shared/identity/gate/access-token.ts';
import { type Actor, admit } from '../../shared/identity/gate/actor.ts';
import { acceptActions } from '../../shared/identity/invitations/accept.ts';
import { inviteUser } from '../../shared/identity/invitations/invite-user.ts';
import { standingOf } from '../../shared/identity/invitations/state.ts';
import { openIssuerWeb } from '../../shared/identity/issuers/issuer-web.ts';
import { openIssuers } from '../../shared/identity/issuers/issuers.ts';
import type { Mail } from '../../shared/identity/mail/letters.ts';
import { sweep } from '../../shared/identity/mail/send-mail.ts';
import { changeMember, removeMember } from '../../shared/identity/memberships/change-member.ts';
import { allows, hiddenFields, mayInteract } from '../../shared/identity/policies/access.ts';
import { changeProject as provisionChange } from '../../shared/identity/projects/change-settings.ts';
import { changeProject } from '../../shared/identity/projects/project.ts';
import { endEmergency, endOwnEmergency, takeEmergency } from '../../shared/identity/sign-in/emergency.ts';
import { hashPassword } from '../../shared/identity/sign-in/password.ts';
import type { AccountServices } from '../../shared/identity/sign-in/proof.ts';
import { enrolmentOf } from '../../shared/identity/sign-in/second-factor.ts';
import { beginExport } from '../../shared/records/export/begin-export.ts';
import { cancelExport } from '../../shared/records/export/read-export.ts';
import { explainMember } from '../../shared/records/read/explain.ts';
import { readResource } from '../../shared/records/read/read-resource.ts';
import type { ProjectMembership } from '../../shared/store/fhir/membership.ts';
import { inlineResource } from '../../shared/store/items/content.ts';
import { type OwnIssuer, startOwnIssuer } from '../issuer/own-issuer.ts';
import fc from '../setup/fast-check.ts';
import { keyRingsOf } from '../setup/key-rings.ts';
import { scanAll } from './scan-all.ts';
import { getItem, newProject, newResource, person, type Stage, startStage } from './stage.ts';
import { isAuditEvent } from './stored.ts';

let stage: Stage;
let services: AccountServices;
let issuer: OwnIssuer;
let admin: Caller<'administrator'>;
let nurse: Caller;
let policy = '';
let other = '';
let patient = '';
const minuteMs = 60_000;
const reason = 'Unconscious, brought in by ambulance';

beforeAll(async () => {
  stage = await startStage();
  issuer = await startOwnIssuer();
  services = {
    ...stage.services,
    keyRings: keyRingsOf(Buffer.alloc(32, 7)),
    issuers: openIssuers(openIssuerWeb({ baseUrl: 'http://127.0.0.1:8787' }), stage.services.now),
  };
});
afterAll(async () => {
  await issuer.stop();
  await stage.stop();
});

beforeEach(async () => {
  stage.clock.nowMs = Date.UTC(2026, 0, 31, 12);
  admin = await newProject(stage);
  const resource = (type: string) => ({ resourceType: 'AccessPolicy', resource: [{ resourceType: type }] });
  const own = await newResource(stage, admin.project, resource('Location'));
  policy = await newResource(stage, admin.project, resource('Patient'));
  other = await newResource(stage, admin.project, resource('Organization'));
  patient = await newResource(stage, admin.project, { resourceType: 'Patient', gender: 'other' });
  nurse = await newMember({
    accessPolicy: { reference: own },
    emergencyPolicy: { reference: policy },
  });
});

/** Somebody who has accepted and signed in. */
async function newMember(change: Record<string, unknown>): Promise<Caller> {
  const { services } = stage;
  const { id, profile, user } = (await inviteUser(services, admin, person(change))) as ProjectMembership;
  const standing = standingOf(await getItem(services, keys.resource(admin.project, 'ProjectMembership', id)));
  if (!standing) throw new Error('Not invited');
  await services.table.transact(acceptActions(services, standing));
  return newLogin({ project: admin.project, membershipId: id, profile, user });
}

type Member = Pick<ProjectMembership, 'profile' | 'user'> & { project: string; membershipId: string };

async function newLogin(
  { project, membershipId, profile, user }: Member,
  change: Record<string, unknown> = {},
): Promise<Caller> {
  const subject = user.reference.replace('User/', '');
  const loginId = randomUUID();
  await stage.services.table.put({
    ...keys.login(loginId),
    ...{ kind: 'person', subject, clientId: '', scope: 'openid', createdAtMs: stage.services.now() },
    ...{ project, membershipId },
    ...change,
  });
  return callerOf(
    { project, membershipId, loginId, subject, profile: profile.reference, clientId: '', scope: 'openid' },
    'member',
  );
}

function memberOf({ project, membershipId, profile, subject }: Caller): Member {
  return { project, membershipId, profile: { reference: profile }, user: { reference: `User/${subject}` } };
}

/** Of somebody who has just signed in; how long ago that was is asked in a test of its own. */
async function take(body: unknown = { reason }) {
  await stage.services.table.update({
    Key: keys.login(nurse.loginId),
    UpdateExpression: 'SET signedInAtMs = :now',
    ExpressionAttributeValues: { ':now': stage.clock.nowMs },
  });
  return takeAs(nurse, body);
}

const takeAs = (caller: Caller, body: unknown = { reason }) =>
  takeEmergency(services, caller, { body, source: 'here' });
const later = (ms: number) => {
  stage.clock.nowMs += ms;
};

async function sees(): Promise<boolean> {
  const [type = '', id = ''] = patient.split('/');
  try {
    await readResource(stage.services, nurse, { type, id });
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === 'Refusal') return false;
    throw error;
  }
}

/** The mails that come of what is done. */
async function mailsOf(act: () => Promise<unknown>): Promise<Mail[]> {
  const sent: Mail[] = [];
  const keyRings = keyRingsOf(Buffer.alloc(32, 7));
  const mailing = { ...services, keyRings, mailer: { send: async (mail: Mail) => void sent.push(mail) } };
  await sweep(mailing);
  sent.length = 0;
  await act();
  await sweep(mailing);
  await sweep(mailing);
  return sent;
}

async function entries(subtype: string): Promise<Resource[]> {
  const items = await scanAll(stage.client, stage.tableName);
  return items
    .filter((item) => isAuditEvent(item) && item.pk.startsWith(`P#${admin.project}#`))
    .map(({ content }): Resource => JSON.parse(String(content)))
    .filter((event) => JSON.stringify(event.subtype).includes(`"${subtype}"`));
}

describe('emergency access', () => {
  test('opens what its policy does until its time, and not a millisecond more', async () => {
    expect(await sees()).toBe(false);
    const { active } = await take();
    expect(active).toEqual({ since: '2026-01-31T12:00:00.000Z', until: '2026-01-31T13:00:00.000Z', reason });
    later(60 * minuteMs - 1);
    expect(await sees()).toBe(true);
    later(1);
    expect(await sees()).toBe(false);
  });

  test('is in the audit log as “break the glass”, when it begins and when it is ended', async () => {
    await take();
    later(minuteMs);
    await endOwnEmergency(stage.services, nurse);
    expect(await sees()).toBe(false);
    const [[begun], [ended]] = [await entries('emergency-access'), await entries('end-emergency-access')];
    for (const event of [begun, ended]) {
      expect(event).toMatchObject({
        purposeOfEvent: [{ coding: [{ code: 'BTG' }] }],
        agent: [{ who: { reference: nurse.profile } }],
      });
      expect(JSON.stringify(event?.entity)).toContain(reason);
      expect(JSON.stringify(event?.entity)).toContain('2026-01-31T13:00:00.000Z');
    }
    await endOwnEmergency(stage.services, nurse);
    expect(await entries('end-emergency-access')).toHaveLength(1);
  });

  test('marks what an administrator does meanwhile beyond records, too', async () => {
    const head = await newMember({ admin: true, emergencyPolicy: { reference: policy } });
    const chief = callerOf(head, 'administrator');
    await takeAs(chief);
    const { id: invited } = await inviteUser(services, chief, person({ sendEmail: false }));
    await createBot(services, chief, { name: 'Triage' });
    await changeMember(services, chief, {
      membershipId: invited,
      body: { accessPolicy: { reference: other } },
    });
    await changeProject(services, chief, { senderName: 'Night shift' });
    const asked = { query: new URLSearchParams('_type=Patient'), prefer: 'respond-async', url: 'of' };
    await cancelExport(services, chief, { id: await beginExport(services, chief, asked) });
    const deeds = [
      'invite',
      'create-bot',
      'change-member',
      'change-project',
      'begin-export',
      'cancel-export',
    ];
    for (const deed of deeds) {
      const own = (await entries(deed)).filter(({ agent }) => JSON.stringify(agent).includes(head.profile));
      expect([deed, own.map(({ purposeOfEvent }) => JSON.stringify(purposeOfEvent))]).toEqual([
        deed,
        [expect.stringContaining('BTG')],
      ]);
    }
  });

  test('binds no record that is seen in an emergency only to anybody, who would have it afterwards', async () => {
    const own = { resourceType: 'AccessPolicy', resource: [{ resourceType: 'Location' }] };
    const theirs = {
      ...{ resourceType: 'AccessPolicy', name: 'Theirs' },
      resource: [{ resourceType: 'Patient', criteria: 'Patient?_id=%patient.id' }],
    };
    const given = { reference: await newResource(stage, admin.project, theirs) };
    const head = await newMember({
      admin: true,
      accessPolicy: { reference: await newResource(stage, admin.project, own) },
      emergencyPolicy: { reference: policy },
      mayGrant: [given],
    });
    const chief = callerOf(head, 'administrator');
    await takeAs(chief);
    const invite = person({
      ...{ resourceType: 'Patient', accessPolicy: given, profile: { reference: patient }, sendEmail: false },
    });
    await expect(inviteUser(services, chief, invite)).rejects.toMatchObject({ kind: 'invalid' });
    await expect(inviteUser(services, admin, invite)).resolves.toMatchObject({
      profile: { reference: patient },
    });
  });

  test('is seen by an administrator who asks what the member sees', async () => {
    const body = { resource: patient };
    const explained = async () =>
      JSON.stringify(await explainMember(stage.services, admin, { membershipId: nurse.membershipId, body }));
    expect(await explained()).toContain('None of their rules');
    await take();
    expect(await explained()).toContain('"seen"');
  });

  test('gives nothing to a run, in whosever name it acts', async () => {
    await take();
    const { membershipId, profile, scope } = nurse;
    const run = { id: 'r', root: 'r', depth: 0, deadlineAtMs: stage.clock.nowMs + minuteMs };
    const bot = await newMember({});
    const inTheirName = callerOf(
      { ...bot, run: { ...run, within: [{ membershipId, profile, scope }] } },
      'member',
    );
    const { actor } = await admit(stage.services, inTheirName, []);
    const { actor: themselves } = await admit(stage.services, callerOf({ ...nurse, run }, 'member'), []);
    const seen = [actor, ...(actor.within ?? []), themselves].map(({ emergency }) => emergency);
    expect(seen).toEqual([undefined, undefined, undefined]);
    expect([mayInteract(actor, 'read', 'Patient'), mayInteract(themselves, 'read', 'Patient')]).toEqual([
      false,
      false,
    ]);
  });

  test('of a claim that is repeated is one, and is not made longer', async () => {
    const first = await take();
    later(minuteMs);
    expect(await take()).toEqual(first);
    await expect(take({ reason: 'Another reason altogether' })).rejects.toMatchObject({ kind: 'conflict' });
    expect(await entries('emergency-access')).toHaveLength(1);
  });

  test('of two claims at once is one', async () => {
    const claims = await Promise.allSettled([
      take({ reason: 'The first of two reasons' }),
      take({ reason: 'The second of two reasons' }),
    ]);
    expect(claims.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await entries('emergency-access')).toHaveLength(1);
  });

  test('is taken five times a day at most, and again on the next', async () => {
    for (let i = 0; i < 5; i++) {
      await take();
      later(minuteMs);
      await endOwnEmergency(stage.services, nurse);
      later(1);
    }
    await expect(take()).rejects.toMatchObject({ kind: 'throttled' });
    later(12 * 60 * minuteMs);
    expect((await take()).active).toBeDefined();
  });

  const nothing = async () => undefined;
  async function behind(deed: () => Promise<unknown>) {
    later(-2 * minuteMs);
    await deed();
    later(2 * minuteMs);
  }
  async function upsert(change: object) {
    const key = keys.resource(admin.project, 'ProjectMembership', nurse.membershipId);
    const { userName: email } = inlineResource('ProjectMembership', await getItem(stage.services, key)) ?? {};
    await inviteUser(stage.services, admin, { ...person({ email }), upsert: true, ...change });
  }
  const ends: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
    ['an administrator ends it', () => endEmergency(stage.services, admin, nurse), nothing],
    [
      'the member was inactive meanwhile',
      () => changeMember(stage.services, admin, { ...nurse, body: { active: false } }),
      () => changeMember(stage.services, admin, { ...nurse, body: { active: true } }),
    ],
    [
      'the policy was taken away meanwhile',
      () => changeMember(stage.services, admin, { ...nurse, body: { emergencyPolicy: null } }),
      () =>
        changeMember(stage.services, admin, { ...nurse, body: { emergencyPolicy: { reference: policy } } }),
    ],
    [
      'the Project was disabled meanwhile',
      () => provisioned({ disabled: true }),
      () => provisioned({ disabled: false }),
    ],
    [
      'the Project let it last less meanwhile',
      () => changeProject(stage.services, admin, { emergencyMinutes: 1 }),
      () => changeProject(stage.services, admin, { emergencyMinutes: 480 }),
    ],
    [
      'it was over by what the Project said meanwhile',
      async () => {
        await changeProject(stage.services, admin, { emergencyMinutes: 30 });
        later(40 * minuteMs);
      },
      () => changeProject(stage.services, admin, { emergencyMinutes: 480 }),
    ],
    [
      'the Project lets it last less by now',
      async () => {
        await changeProject(stage.services, admin, { emergencyMinutes: 30 });
        later(29 * minuteMs);
      },
      nothing,
    ],
    [
      'a machine ends it whose clock is behind',
      () => behind(() => endEmergency(stage.services, admin, nurse)),
      nothing,
    ],
    [
      'the member was inactive meanwhile, by a clock that is behind',
      () => behind(() => changeMember(stage.services, admin, { ...nurse, body: { active: false } })),
      () => changeMember(stage.services, admin, { ...nurse, body: { active: true } }),
    ],
    [
      'the Project was disabled meanwhile, by a clock that is behind',
      () => behind(() => provisioned({ disabled: true })),
      () => provisioned({ disabled: false }),
    ],
    [
      'an invite names another policy',
      () => upsert({ emergencyPolicy: { reference: other } }),
      () => upsert({ emergencyPolicy: { reference: policy } }),
    ],
    [
      'the Project had none meanwhile',
      () => changeProject(stage.services, admin, { emergencyMinutes: 0 }),
      () => changeProject(stage.services, admin, { emergencyMinutes: 60 }),
    ],
  ];

  const provisioned = (change: { disabled: boolean }) =>
    provisionChange(
      { ...stage.services, queues: { 'subscription-status': { send: async () => [] } } },
      { project: admin.project, ...change },
    );

  test.each(ends)('has ended when %s', async (_what, end, back) => {
    await take();
    later(minuteMs);
    expect(await sees()).toBe(true);
    await end();
    later(minuteMs);
    await back();
    // A login of before may have ended by it, too.
    nurse = await newLogin(memberOf(nurse));
    expect(await sees()).toBe(false);
  });

  test('that an invite ends, by another policy, has an entry of its end', async () => {
    await take();
    await upsert({ emergencyPolicy: { reference: policy }, mfaRequired: false });
    expect([await sees(), await entries('end-emergency-access')]).toEqual([true, []]);
    await upsert({ emergencyPolicy: { reference: other } });
    expect(await entries('end-emergency-access')).toHaveLength(1);
  });

  test('and its member removed at once: afterwards there is neither', async () => {
    await Promise.allSettled([take(), removeMember(stage.services, admin, nurse)]);
    expect(await sees()).toBe(false);
    await expect(take()).rejects.toMatchObject({ kind: 'unauthorized' });
  });

  test('is for people who signed in as their membership asks, and for what is prepared', async () => {
    const refused = (caller: Caller) => expect(takeAs(caller)).rejects.toMatchObject({ kind: 'forbidden' });
    await refused(callerOf({ ...nurse, scope: 'openid user/*.rs' }, 'member'));
    await refused(await newLogin(memberOf(nurse), { kind: 'client' }));
    await refused(await newMember({}));
    await changeMember(stage.services, admin, { ...nurse, body: { mfaRequired: true } });
    await refused(callerOf(nurse, 'member'));
    nurse = await newLogin(memberOf(nurse), { mfa: true });
    expect((await take()).active).toBeDefined();
  });

  describe('of who signed in more than five minutes ago', () => {
    const password = 'correct horse battery';
    const asked = { kind: 'insufficient-user-authentication' };
    const hasPassword = async () =>
      services.table.put({ ...keys.password(nurse.subject), hash: await hashPassword(password) });

    test('asks for the password, or a code of the second factor, in the same request', async () => {
      const { loginId, subject: userId } = nurse;
      await hasPassword();
      later(5 * minuteMs);
      await expect(takeAs(nurse)).rejects.toMatchObject(asked);
      for (const wrong of [
        { password: 'a wrong one' },
        { token: '000000' },
        { token: 'WRON-GCOD-EWRO-NGCO' },
      ])
        await expect(takeAs(nurse, { reason, ...wrong })).rejects.toMatchObject({ kind: 'invalid' });
      expect(await sees()).toBe(false);
      await takeAs(nurse, { reason, password });
      expect(await sees()).toBe(true);
      await endOwnEmergency(services, nurse);

      const totp = URI.parse((await enrolmentOf(services, { id: loginId, userId })).enrollUri) as TOTP;
      await services.table.put({ ...keys.mfa(userId), seed: `${loginId}.0`, lastStep: 0, earlier: 1 });
      const token = totp.generate({ timestamp: stage.clock.nowMs });
      await takeAs(nurse, { reason, token });
      await endOwnEmergency(services, nurse);
      // A code is good once, for whatever it was shown.
      await expect(takeAs(nurse, { reason, token })).rejects.toMatchObject({ kind: 'invalid' });
      // What was shown in the request was shown for that: the sign-in is as old as it was.
      await expect(takeAs(nurse)).rejects.toMatchObject(asked);
    });

    test('is not guessed: wrong passwords of a session are counted', async () => {
      await hasPassword();
      later(5 * minuteMs);
      for (let i = 0; i < 10; i++)
        await expect(takeAs(nurse, { reason, password: `guess ${i}` })).rejects.toMatchObject({
          kind: 'invalid',
        });
      await expect(takeAs(nurse, { reason, password })).rejects.toMatchObject({ kind: 'throttled' });
    });

    test('asks for a sign-in at their issuer; where that does not answer the session does, and administrators learn of it', async () => {
      const authentication = { issuer: issuer.issuer };
      const head = await newMember({ authentication, emergencyPolicy: { reference: policy } });
      nurse = await newLogin(memberOf(head), authentication);
      // Nobody knows when they signed in at the issuer, and a password is not how this login was made.
      await hasPassword();
      await expect(takeAs(nurse, { reason, password })).rejects.toMatchObject(asked);

      issuer.answers.set('/.well-known/openid-configuration', () => undefined);
      const errors: unknown[] = [];
      const log = { info: () => undefined, error: (...line: unknown[]) => errors.push(line) };
      const startedMs = performance.now();
      const sent = await mailsOf(() =>
        takeEmergency({ ...services, log }, nurse, { body: { reason }, source: 'here' }),
      );
      issuer.answers.clear();
      expect(performance.now() - startedMs).toBeGreaterThan(2900);
      expect(await sees()).toBe(true);
      expect(errors).toEqual([['emergency access without a sign-in', { project: admin.project }]]);
      expect(JSON.stringify(await entries('emergency-access'))).toContain('the issuer did not answer');
      const alarmed = sent.filter(({ text }) => text.includes('did not answer'));
      expect(alarmed.map(({ subject }) => subject)).toEqual(['Emergency access was taken in Clinic']);
    });
  });

  test('needs a reason: not too short, not too long, on one line', async () => {
    for (const given of ['too short', 'x'.repeat(501), 'a line\nand another one', 7, undefined])
      await expect(take({ reason: given })).rejects.toMatchObject({ kind: 'invalid' });
  });

  test('takes no policy of another Project, and none for who is no Practitioner', async () => {
    const other = await newProject(stage);
    const foreign = await newResource(stage, other.project, { resourceType: 'AccessPolicy', resource: [] });
    const prepare = (reference: string) =>
      changeMember(stage.services, admin, { ...nurse, body: { emergencyPolicy: { reference } } });
    await expect(prepare(foreign)).rejects.toMatchObject({ kind: 'invalid' });
    const body = person({ resourceType: 'Patient', emergencyPolicy: { reference: policy } });
    await expect(inviteUser(stage.services, admin, body)).rejects.toMatchObject({ kind: 'invalid' });
  });

  test('is told to administrators and to the person at once, without the reason', async () => {
    const sent = await mailsOf(take);
    expect(sent.map(({ subject }) => subject).sort()).toEqual([
      'Emergency access was taken in Clinic',
      'You have emergency access in Clinic',
    ]);
    for (const { text } of sent) {
      expect(text).toContain('2026-01-31 13:00 UTC');
      expect(text).not.toContain(reason);
    }
  });
});

describe('what is judged', () => {
  const entry = fc.record(
    {
      resourceType: fc.constantFrom('Patient', 'Observation', 'Binary', 'AuditEvent', 'Bot', '*'),
      criteria: fc.constantFrom(undefined, 'Patient?gender=male', 'Observation?status=final'),
      readonly: fc.boolean(),
      hiddenFields: fc.constantFrom([], ['gender'], ['status']),
      interaction: fc.constantFrom(undefined, ['read'], ['update', 'search']),
    },
    { noNullPrototype: true },
  );
  const policyOf = (entries: readonly object[]) => ({
    policy: {
      ...{ resourceType: 'AccessPolicy', id: 'p', meta: { versionId: '1', lastUpdated: '' } },
      resource: entries.map((one) => JSON.parse(JSON.stringify(one))),
    } as Resource,
    parameters: [],
  });
  const resource = fc.constantFrom(
    { resourceType: 'Patient', gender: 'male' },
    { resourceType: 'Patient', gender: 'female' },
    { resourceType: 'Observation', status: 'final' },
    { resourceType: 'AuditEvent' },
    { resourceType: 'Bot', name: 'b' },
    { resourceType: 'Project' },
  );
  const meta = { versionId: '1', lastUpdated: '2026-01-01T00:00:00.000Z' };
  const interaction = fc.constantFrom('create', 'read', 'update', 'delete', 'search', 'execute');

  test('is exactly what both policies allow, and without it exactly what the own does', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { maxLength: 3 }),
        fc.array(entry, { maxLength: 3 }),
        resource,
        interaction,
        async (own, added, what, doing) => {
          const membership = { profile: { reference: 'Practitioner/1' } } as ProjectMembership;
          const actor = (policies: Actor['policies'], emergency?: Actor['emergency']): Actor => ({
            ...{ project: 'p', membershipId: 'm', profile: 'Practitioner/1', loginId: 'l', clientId: '' },
            ...{ subject: 's', scope: 'openid', membership, admin: false, policies },
            ...(emergency ? { emergency } : {}),
            ...{ contextOf: async () => undefined, budget: newBudget() },
          });
          const grant = { startedAtMs: 0, untilMs: 1, reason, policy: 'AccessPolicy/p', onDay: 1 };
          const during = actor([policyOf(own)], { grant, policies: [policyOf(added)] });
          const both = actor([policyOf(own), policyOf(added)]);
          const target = { id: '1', meta, ...what } as Resource;
          const judged = async (one: Actor) => [
            mayInteract(one, doing, target.resourceType),
            await allows(one, doing, target),
            await hiddenFields(one, doing, target),
          ];
          expect(await judged(during)).toEqual(await judged(both));
          const onlyAdded = actor([policyOf(added)]);
          const isEither =
            (await allows(actor([policyOf(own)]), doing, target)) || (await allows(onlyAdded, doing, target));
          expect(await allows(during, doing, target)).toBe(isEither);
          const ofKind = actor(undefined, { grant, policies: [policyOf(added)] });
          const isKind =
            (await allows(actor(undefined), doing, target)) || (await allows(onlyAdded, doing, target));
          expect(await allows(ofKind, doing, target)).toBe(isKind);
        },
      ),
      { numRuns: 200 },
    );
  });
});
