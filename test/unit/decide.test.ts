import { describe, expect, test } from '@jest/globals';
import { Refusal } from '../../shared/base/refusal.ts';
import { type ProfileType, profileTypes } from '../../shared/base/resource.ts';
import { type Decision, decide } from '../../shared/identity/invitations/create-member.ts';
import type { Invite } from '../../shared/identity/invitations/parse-invite.ts';
import type { Standing } from '../../shared/identity/invitations/state.ts';
import { type InvitationState, invitationStates } from '../../shared/identity/invitations/states.ts';
import type { ProjectMembership, Rights } from '../../shared/store/fhir/membership.ts';
import fc from '../setup/fast-check.ts';

const nowMs = Date.UTC(2026, 0, 31);
const dayMs = 86_400_000;
const policy = (id: string): Rights => ({ accessPolicy: { reference: `AccessPolicy/${id}` } });

function invite(change: Partial<Invite> = {}): Invite {
  return {
    profileType: 'Practitioner',
    firstName: 'Ann',
    lastName: 'Lee',
    email: 'ann@example.com',
    externalId: undefined,
    scope: 'server',
    sendEmail: true,
    rights: {},
    profile: undefined,
    newProfile: false,
    upsert: false,
    forceNewMembership: false,
    password: undefined,
    ...change,
  };
}

function standing(
  state: InvitationState,
  { type = 'Practitioner' as ProfileType, rights = {} as Rights, ageMs = 30_000, mail = true } = {},
): Standing {
  const membership = {
    resourceType: 'ProjectMembership',
    id: `m-${type}`,
    meta: { versionId: '1', lastUpdated: new Date(0).toISOString() },
    project: { reference: 'Project/p' },
    user: { reference: 'User/u' },
    profile: { reference: `${type}/1` },
    active: state === 'accepted',
    ...rights,
  } satisfies ProjectMembership;
  const invitedAtMs = state === 'expired' ? nowMs - 8 * dayMs : nowMs - ageMs;
  return {
    membership,
    profileType: type,
    userId: 'u',
    login: 'E:ann@example.com',
    invitation: {
      state: state === 'expired' ? 'pending' : state,
      generation: 1,
      invitedAtMs,
      expiresAtMs: invitedAtMs + 7 * dayMs,
      mail,
    },
  };
}

/** The decision in a word, or the text of the refusal. */
function word(change: Partial<Invite>, standings: Standing[]): string {
  try {
    const decision = decide(invite(change), standings, nowMs);
    if (decision.kind === 'keep') return decision.mail ? 'keep and mail' : 'keep';
    if (decision.kind === 'create') return `create, ending ${decision.replaces.length}`;
    return decision.kind;
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'conflict') return error.message;
    throw error;
  }
}

const member = 'User is already a member of this project';
const invited = 'User is already invited to this project with another type, policy or role';
const upsert = { upsert: true };
const patient = { profileType: 'Patient' as const };
const profile = (reference: string) => ({ profile: { reference } });

describe('decide', () => {
  test.each<[string, Partial<Invite>, Standing[], string]>([
    ['a person whom the Project does not know', {}, [], 'create, ending 0'],
    ['pending, invited again at once', {}, [standing('pending')], 'keep'],
    ['pending, 59.999 s old', {}, [standing('pending', { ageMs: 59_999 })], 'keep'],
    ['pending, 60 s old', {}, [standing('pending', { ageMs: 60_000 })], 'renew'],
    ['pending without mail, now with', {}, [standing('pending', { mail: false })], 'keep and mail'],
    [
      'pending without mail, again without',
      { sendEmail: false },
      [standing('pending', { mail: false })],
      'keep',
    ],
    ['pending, another policy', { rights: policy('b') }, [standing('pending')], invited],
    ['pending with a policy, now without', {}, [standing('pending', { rights: policy('a') })], invited],
    ['pending, another role', { rights: { admin: true } }, [standing('pending')], invited],
    ['pending, the default role named', { rights: { admin: false } }, [standing('pending')], 'keep'],
    ['pending, another policy, upsert', { ...upsert, rights: policy('b') }, [standing('pending')], 'renew'],
    ['pending, nothing named, upsert', upsert, [standing('pending', { rights: policy('a') })], 'keep'],
    ['pending, another type', patient, [standing('pending')], invited],
    ['pending, another type, upsert', { ...patient, ...upsert }, [standing('pending')], 'create, ending 1'],
    [
      'pending, another type, forced',
      { ...patient, forceNewMembership: true },
      [standing('pending')],
      'create, ending 0',
    ],
    ['pending, its own profile named', profile('Practitioner/1'), [standing('pending')], 'keep'],
    ['pending, another profile', profile('Practitioner/2'), [standing('pending')], invited],
    [
      'pending, another profile, upsert',
      { ...upsert, ...profile('Practitioner/2') },
      [standing('pending')],
      invited,
    ],
    ['expired', {}, [standing('expired')], 'renew'],
    ['expired, another policy', { rights: policy('b') }, [standing('expired')], 'renew'],
    ['expired, another type', patient, [standing('expired')], 'create, ending 1'],
    ['expired, another profile', profile('Practitioner/2'), [standing('expired')], 'create, ending 1'],
    ['revoked', {}, [standing('revoked')], 'renew'],
    ['revoked, another type', patient, [standing('revoked')], 'create, ending 1'],
    ['member', {}, [standing('accepted')], member],
    ['member, upsert', { ...upsert, rights: policy('b') }, [standing('accepted')], 'update'],
    [
      'member, upsert, another profile',
      { ...upsert, ...profile('Practitioner/2') },
      [standing('accepted')],
      `${member} with a different profile`,
    ],
    ['member, another type', patient, [standing('accepted')], member],
    [
      'member, another type, upsert',
      { ...patient, ...upsert },
      [standing('accepted')],
      `${member} with a different profile`,
    ],
    [
      'member, another type, forced',
      { ...patient, forceNewMembership: true },
      [standing('accepted')],
      'create, ending 0',
    ],
    ['member, same type, forced', { forceNewMembership: true }, [standing('accepted')], member],
  ])('%s', (_, change, standings, expected) => {
    expect(word(change, standings)).toBe(expected);
  });

  const others: Required<Rights> = {
    admin: true,
    accessPolicy: { reference: 'AccessPolicy/b' },
    access: [{ policy: { reference: 'AccessPolicy/b' } }],
    emergencyPolicy: { reference: 'AccessPolicy/b' },
    mayGrant: [{ reference: 'AccessPolicy/b' }],
    patient: [{ reference: 'Patient/b' }],
    authentication: { issuer: 'https://issuer.example' },
    mfaRequired: true,
  };
  test.each(Object.entries(others))('pending, another %s is no repetition of the invite', (name, value) => {
    const other = { [name]: value };
    expect(word({ rights: other }, [standing('pending')])).toBe(invited);
    expect(word({}, [standing('pending', { rights: other })])).toBe(invited);
    expect(word({ rights: other }, [standing('pending', { rights: other })])).toBe('keep');
    expect(word({ ...upsert, rights: other }, [standing('pending')])).toBe('renew');
  });

  test.each(['pending', 'expired', 'revoked', 'accepted'] as const)(
    'upsert of a %s membership keeps the rights that are not named',
    (state) => {
      const seen = standing(state, { rights: { ...policy('a'), mfaRequired: true } });
      const decision = decide(invite({ upsert: true, rights: { admin: true } }), [seen], nowMs);
      expect(decision).toMatchObject({ rights: { ...policy('a'), mfaRequired: true, admin: true } });
    },
  );

  test('a renewal without upsert carries the named rights and no other', () => {
    const seen = standing('expired', { rights: { admin: true, ...policy('a') } });
    const decision = decide(invite({ rights: policy('b') }), [seen], nowMs) as Decision & { rights: Rights };
    expect(decision.rights).toEqual(policy('b'));
  });

  test('never ends or changes an accepted membership without upsert, whatever is asked', () => {
    const states = fc.constantFrom(...invitationStates);
    const types = fc.uniqueArray(fc.constantFrom(...profileTypes), { maxLength: 3 });
    const asked = fc.record({
      profileType: fc.constantFrom(...profileTypes),
      upsert: fc.boolean(),
      forceNewMembership: fc.boolean(),
      sendEmail: fc.boolean(),
      rights: fc.constantFrom<Rights>({}, { admin: true }, policy('a')),
      profile: fc.constantFrom(undefined, { reference: 'Patient/9' }),
    });
    fc.assert(
      fc.property(asked, types, fc.array(states, { minLength: 3, maxLength: 3 }), (ask, kinds, how) => {
        const standings = kinds.map((type, i) => standing(how[i] ?? 'pending', { type }));
        let decision: Decision;
        try {
          decision = decide(invite(ask), standings, nowMs);
        } catch (error) {
          expect(error).toMatchObject({ kind: 'conflict' });
          return;
        }
        const touched = decision.kind === 'create' ? decision.replaces : [decision.standing];
        const accepted = touched.filter(({ invitation }) => invitation.state === 'accepted');
        if (!ask.upsert) expect(accepted).toEqual([]);
        if (decision.kind === 'create') {
          expect(accepted).toEqual([]);
          const kept = standings.filter((one) => !touched.includes(one));
          expect(kept.map(({ profileType }) => profileType)).not.toContain(ask.profileType);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
