import { isDeepStrictEqual } from 'node:util';
import { expect } from '@jest/globals';
import { signInMaxAgeSeconds } from '../../shared/base/limits.ts';
import { Refusal } from '../../shared/base/refusal.ts';
import { isOutboxKey, keys } from '../../shared/carry/table/keys.ts';
import { type Caller, type Claims, callerOf } from '../../shared/identity/gate/access-token.ts';
import { inviteUser } from '../../shared/identity/invitations/invite-user.ts';
import { stateOf } from '../../shared/identity/invitations/state.ts';
import { sendMail } from '../../shared/identity/mail/send-mail.ts';
import { resendInvitation, revokeInvitation } from '../../shared/identity/memberships/change-invitation.ts';
import { changeMember, removeMember } from '../../shared/identity/memberships/change-member.ts';
import { invitationLink, linkSecret } from '../../shared/identity/sign-in/links.ts';
import { setPassword } from '../../shared/identity/sign-in/passwords.ts';
import { chooseProfile } from '../../shared/identity/sign-in/sign-in-step.ts';
import { readEntry, runBundle } from '../../shared/records/bundle/run-bundle.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import fc from '../setup/fast-check.ts';
import { requireInvariants } from './invariants.ts';
import { type Member, nameOf, type Observed, observe, profilesOf } from './observed.ts';
import {
  type Crash,
  claimsOf,
  Death,
  MailServiceDown,
  newLogin,
  type Walk,
  type WalkServices,
} from './walk.ts';

/** How an operation ended; anything but these is a fault. */
type End = 'done' | 'died' | Refusal;

/** One thing that somebody does; `plan` decides on the table as it stands, before anybody acts. */
interface Step {
  text: string;
  crash: Crash | undefined;
  plan(walk: Walk, seen: Observed): Planned | undefined;
}

interface Planned {
  run(services: WalkServices): Promise<unknown>;
  /** What must come of it when nobody else acts and nobody dies. */
  expected?: 'done' | Refusal['kind'];
}

interface Model {
  seen: Observed;
}

export type WalkCommand = fc.AsyncCommand<Model, Walk>;

const most = 1_000_000;
const which = fc.nat(most);
const oneOf = <T>(list: readonly T[], n: number): T | undefined => list[n % Math.max(list.length, 1)];
const crashes = fc.option(
  fc.record({ call: fc.integer({ min: 1, max: 5 }), when: fc.constantFrom('before', 'after') }),
  { freq: 2, nil: undefined },
);

/** Four people, one of them known to a Project by an external id only. */
const addresses = ['ann@example.com', 'bob@example.com', 'cyd@example.com'];

const invites = step(
  'invite',
  fc.record({
    project: which,
    actor: which,
    person: fc.nat(4),
    resourceType: fc.constantFrom('Practitioner', 'Practitioner', 'Patient', 'RelatedPerson'),
    admin: fc.constantFrom(undefined, undefined, true, false),
    upsert: fc.boolean(),
    forceNewMembership: fc.boolean(),
    sendEmail: fc.boolean(),
    profile: fc.option(which, { freq: 4, nil: undefined }),
  }),
  ({ project, actor, person, profile, ...choice }) =>
    (walk, seen) => {
      const { caller, isForeign } = actorOf(walk, seen, project, actor);
      const projectId = walk.projects[project % 2]?.id ?? '';
      const free = profilesOf(seen).filter(
        (one) =>
          one.project === projectId && one.type === choice.resourceType && one.isLive && one.refs === 0,
      );
      const named = profile === undefined ? undefined : oneOf(free, profile);
      const email = addresses[person];
      const body = {
        ...choice,
        ...(choice.resourceType !== 'Practitioner' ? { admin: undefined } : {}),
        firstName: 'Ann',
        lastName: 'Lee',
        ...(email ? { email } : { externalId: `x${person}`, scope: 'project' }),
        ...(named ? { profile: { reference: `${named.type}/${named.id}` } } : {}),
      };
      const isNew = !seen.people.some(
        (one) => one.project === projectId && one.login === (email ? `E:${email}` : `X:x${person}`),
      );
      const own = walk.projects[project % 2];
      const isLate = walk.clock.nowMs - Number(own?.signedInAtMs) >= signInMaxAgeSeconds * 1000;
      const isAsked = body.admin === true && caller === own?.administrator && isLate;
      const expected = isAsked ? 'insufficient-user-authentication' : 'done';
      return {
        run: (services) => inviteUser(services, callerOf(caller, 'administrator', { projectId }), body),
        ...(isForeign ? { expected: 'forbidden' } : isNew ? { expected } : {}),
      };
    },
);

/** The person signs in, by whatever way, and chooses the membership. */
const choicesOf = (which: fc.Arbitrary<number>) =>
  step('choose', fc.record({ member: which, other: fc.boolean() }), ({ member, other }) => (walk, seen) => {
    const chosen = oneOf(seen.members, member);
    if (!chosen) return undefined;
    const { id } = chosen.membership;
    const userId = other ? (oneOf(seen.members, member + 1)?.userId ?? '') : chosen.userId;
    const isOwn = userId === chosen.userId;
    const isOpen = chosen.membership.active || isPending(chosen, walk);
    if (isOwn && isPending(chosen, walk)) walk.accepting.add(id);
    return {
      run: async (services) => {
        const login = await newLogin(walk.services(), userId);
        await chooseProfile(services, { login, profile: id });
      },
      expected: isOwn && isOpen ? 'done' : 'invalid',
    };
  });

/** By the link in the mail: the newest, or one before it. */
const links = step(
  'follow link',
  fc.record({ member: which, old: fc.boolean() }),
  ({ member, old }) =>
    (walk, seen) => {
      const invited = seen.members.filter((one) => isPending(one, walk));
      const chosen = oneOf(old ? seen.members : invited, member);
      if (!chosen) return undefined;
      const { project, membership, invitation } = chosen;
      const generation = invitation.generation - (old ? 1 : 0);
      if (!old) walk.accepting.add(membership.id);
      return {
        run: async (services) => {
          const link = {
            project,
            membershipId: membership.id,
            generation,
            expiresAtMs: invitation.expiresAtMs,
          };
          const secret = await linkSecret(services.keyRings['invitation-link'], invitationLink(link));
          const body = { id: invitationLink(link).id, secret, password: 'correct horse battery' };
          await setPassword(services, { body, source: '192.0.2.1' });
        },
        expected: old ? 'invalid' : 'done',
      };
    },
);

const memberships = {
  resend: (services: WalkServices, claims: Claims, at: Place) =>
    resendInvitation(services, callerOf(claims, 'administrator', at), at),
  revoke: (services: WalkServices, claims: Claims, at: Place) =>
    revokeInvitation(services, callerOf(claims, 'administrator', at), at),
  remove: (services: WalkServices, claims: Claims, at: Place) =>
    removeMember(services, callerOf(claims, 'member', at), at),
  activate: change({ active: true }),
  deactivate: change({ active: false }),
  promote: change({ admin: true }),
  demote: change({ admin: false }),
} as const;

interface Place {
  projectId: string;
  membershipId: string;
}

function change(body: object) {
  return (services: WalkServices, claims: Claims, at: Place) =>
    changeMember(services, callerOf(claims, 'administrator', at), { ...at, body });
}

/** What an administrator, or somebody who is none, does to a membership. */
const changesOf = (which: fc.Arbitrary<number>) =>
  step(
    'administer',
    fc.record({
      what: fc.constantFrom(...(Object.keys(memberships) as (keyof typeof memberships)[])),
      member: which,
      actor: which,
    }),
    ({ what, member, actor }) =>
      (walk, seen) => {
        const chosen = oneOf(seen.members, member);
        if (!chosen) return undefined;
        const { project, membership } = chosen;
        const at = walk.projects.findIndex(({ id }) => id === project);
        const { caller, isForeign } = actorOf(walk, seen, at, actor);
        const place = { projectId: project, membershipId: membership.id };
        const isLast = isAdministrator(chosen) && administrators(seen, project) === 1;
        const expected = isForeign
          ? 'forbidden'
          : what === 'remove' && caller === walk.projects[at]?.client
            ? isLast
              ? 'invalid'
              : 'done'
            : undefined;
        return {
          run: (services) => memberships[what](services, caller, place),
          ...(expected ? { expected } : {}),
        };
      },
  );

/** A person goes, with a login of their own. */
const leaves = step('leave', fc.record({ member: which }), ({ member }) => (walk, seen) => {
  const chosen = oneOf(
    seen.members.filter(({ membership }) => membership.active),
    member,
  );
  if (!chosen) return undefined;
  const { project, membership, userId } = chosen;
  const isLast = isAdministrator(chosen) && administrators(seen, project) === 1;
  return {
    run: async (services) => {
      const login = await newLogin(walk.services(), userId);
      await chooseProfile(walk.services(), { login, profile: membership.id });
      const caller = callerOf(claimsOf(login, project, membership.id, userId), 'member', {
        projectId: project,
      });
      await removeMember(services, caller, { membershipId: membership.id });
    },
    expected: isLast ? 'invalid' : 'done',
  };
});

const ways = ['DELETE', 'conditional', 'batch', 'transaction'] as const;

const deletions = step(
  'delete profile',
  fc.record({ profile: which, way: fc.constantFrom(...ways) }),
  ({ profile, way }) =>
    (walk, seen) => {
      const chosen = oneOf(
        profilesOf(seen).filter(({ isLive }) => isLive),
        profile,
      );
      const claims = walk.projects.find(({ id }) => id === chosen?.project)?.client;
      if (!chosen || !claims) return undefined;
      const { type, id } = chosen;
      return {
        run: (services) => deleteProfile(services, callerOf(claims, 'member'), { type, id, way }),
        expected: chosen.refs > 0 ? 'conflict' : 'done',
      };
    },
);

async function deleteProfile(
  services: WalkServices,
  caller: Caller,
  { type, id, way }: { type: string; id: string; way: (typeof ways)[number] },
): Promise<void> {
  if (way === 'DELETE') return void (await carryOut(services, caller, [{ kind: 'delete', type, id }]));
  if (way === 'conditional') {
    return void (await carryOut(services, caller, [{ kind: 'delete', type, query: `_id=${id}` }]));
  }
  const entry = [{ request: { method: 'DELETE', url: `${type}/${id}` } }];
  const answer = await runBundle({ ...services, carryOut, readEntry }, caller, {
    resourceType: 'Bundle',
    type: way,
    entry,
  });
  const status = (answer.entry?.[0] as { response?: { status?: string } } | undefined)?.response?.status;
  if (status?.startsWith('409')) throw new Refusal('conflict', 'The profile is in use');
}

/** As the stream tells of them: one after the other, one that is not taken does not hold up the next. */
/** A free profile is bound by one and deleted by another at once. */
const contending = step(
  'bind and delete',
  fc.record({ project: which, way: fc.constantFrom(...ways) }),
  ({ project, way }) =>
    (walk) => {
      const claims = walk.projects[project % 2]?.client;
      if (!claims) return undefined;
      const caller = callerOf(claims, 'administrator');
      const type = 'Practitioner';
      return {
        run: async (services) => {
          const body = { resourceType: type } as const;
          const [made] = await carryOut(services, caller, [{ kind: 'create', type, body }]);
          const id = made?.id ?? '';
          const profile = { reference: `${type}/${id}` };
          const names = { resourceType: type, firstName: 'Dot', lastName: 'Lee', email: `${id}@example.com` };
          const ends = await Promise.all([
            endOf(inviteUser(services, caller, { ...names, profile })),
            endOf(deleteProfile(services, caller, { type, id, way })),
          ]);
          if (ends.includes('died')) throw new Death();
          expect(ends.filter((end) => end === 'done')).toHaveLength(1);
        },
        expected: 'done',
      };
    },
);

const mailing = step('send mail', fc.record({ isDown: fc.boolean() }), ({ isDown }) => (walk, seen) => ({
  run: async (services) => {
    walk.mail.isDown = isDown;
    for (const { pk, sk } of [...seen.items.values()].filter((item) => isOutboxKey(item.pk))) {
      await sendMail(services, { pk, sk }).catch((error: Error) => {
        if (!(error instanceof MailServiceDown)) throw error;
      });
    }
  },
  expected: 'done',
}));

const waiting = step(
  'wait',
  fc.record({ ms: fc.constantFrom(61_000, 61_000, 8 * 86_400_000) }),
  ({ ms }) =>
    (walk) => ({
      run: async () => {
        walk.clock.nowMs += ms;
      },
    }),
);

const choices = choicesOf(which);
const changes = changesOf(which);
const steps = [
  invites,
  invites,
  invites,
  choices,
  choices,
  changes,
  changes,
  leaves,
  deletions,
  contending,
  mailing,
];

/** Commands for fast-check: one step, or two at once. Hashing passwords is slow: links are rare. */
export const walkCommands: fc.Arbitrary<WalkCommand>[] = [
  ...[...steps, ...steps, links, waiting].map((one) => one.map((single) => command([single]))),
  ...[invites, changes, deletions].map((one) =>
    fc.tuple(one, fc.oneof(...steps)).map((pair) => command(pair)),
  ),
  // Two about one membership.
  ...[changesOf, choicesOf].map((other) =>
    which.chain((n) =>
      fc.tuple(changesOf(fc.constant(n)), other(fc.constant(n))).map((pair) => command(pair)),
    ),
  ),
];

function command(parallel: readonly Step[]): WalkCommand {
  return {
    check: () => true,
    toString: () => parallel.map(({ text }) => text).join(' | '),
    async run(model, walk) {
      const planned = parallel.map((one) => ({ one, planned: one.plan(walk, model.seen) }));
      const ends = await Promise.all(
        planned.map(({ one, planned: plan }) => plan && endOf(plan.run(walk.services(one.crash)))),
      );
      const before = model.seen;
      model.seen = await observe(walk);
      requireInvariants(walk, model.seen);
      if (parallel.length > 1) return;
      const [end] = ends;
      const expected = planned[0]?.planned?.expected;
      if (end && end !== 'died' && expected) {
        expect(end === 'done' ? end : (end as Refusal).kind).toBe(expected);
      }
      if (end instanceof Refusal) requireNothingWritten(before, model.seen);
    },
  };
}

async function endOf(running: Promise<unknown>): Promise<End> {
  try {
    await running;
    return 'done';
  } catch (error) {
    if (error instanceof Death) return 'died';
    if (error instanceof Refusal && error.kind !== 'unavailable') return error;
    throw error;
  }
}

/** A refusal leaves nothing but counters, logins and the note that it was refused. */
function requireNothingWritten(before: Observed, after: Observed): void {
  const written = [...after.items].filter(
    ([name, item]) =>
      !/#RATE#|^L#|^TRIES#|#AuditEvent#/.test(name) && !isDeepStrictEqual(before.items.get(name), item),
  );
  expect(written.map(([name]) => name)).toEqual([]);
}

function step<Choice>(
  name: string,
  choice: fc.Arbitrary<Choice>,
  plan: (choice: Choice) => Step['plan'],
): fc.Arbitrary<Step> {
  return fc.tuple(choice, crashes).map(([chosen, crash]) => ({
    text: `${name} ${JSON.stringify({ ...chosen, crash })}`,
    crash,
    plan: plan(chosen),
  }));
}

/** The API key, the first administrator while they are one, a member, or somebody of the other Project. */
function actorOf(walk: Walk, seen: Observed, project: number, n: number) {
  const own = walk.projects[project % 2];
  const other = walk.projects[(project + 1) % 2];
  if (!own || !other) throw new Error('A walk has two Projects');
  if (n % 5 === 4) return { caller: other.client, isForeign: true };
  const { administrator } = own;
  const key = keys.resource(own.id, 'ProjectMembership', administrator.membershipId);
  const isIn = seen.members.some(
    ({ project, membership }) =>
      nameOf(keys.resource(project, 'ProjectMembership', membership.id)) === nameOf(key) &&
      membership.active &&
      membership.admin === true,
  );
  return { caller: n % 5 === 3 && isIn ? administrator : own.client, isForeign: false };
}

function isPending({ invitation }: Member, { clock }: Walk): boolean {
  return stateOf(invitation, clock.nowMs) === 'pending';
}

function isAdministrator({ membership }: Member): boolean {
  return membership.active && membership.admin === true;
}

function administrators(seen: Observed, project: string): number {
  return seen.members.filter((one) => one.project === project && isAdministrator(one)).length;
}
