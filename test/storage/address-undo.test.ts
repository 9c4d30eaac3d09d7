import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type TOTP, URI } from 'otpauth';
import { profileTypes } from '../../shared/base/resource.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import { ConditionFailed } from '../../shared/carry/table/transact.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { acceptActions } from '../../shared/identity/invitations/accept.ts';
import { choicesOf } from '../../shared/identity/invitations/choices.ts';
import { inviteUser } from '../../shared/identity/invitations/invite-user.ts';
import { revokeInvitation } from '../../shared/identity/memberships/change-invitation.ts';
import { endUser } from '../../shared/identity/projects/forget-user.ts';
import { provision } from '../../shared/identity/projects/provision.ts';
import type { LoginServices } from '../../shared/identity/sign-in/invitation-of-link.ts';
import { addressLink, linkUrl } from '../../shared/identity/sign-in/links.ts';
import { loginsOf } from '../../shared/identity/sign-in/logins.ts';
import { replacePassword } from '../../shared/identity/sign-in/password.ts';
import { beginLogin } from '../../shared/identity/sign-in/person-login.ts';
import { enrolmentOf } from '../../shared/identity/sign-in/second-factor.ts';
import { signIn } from '../../shared/identity/sign-in/sign-in.ts';
import { enrollMfaInLogin } from '../../shared/identity/sign-in/sign-in-step.ts';
import { undoAddress, undoMs } from '../../shared/identity/sign-in/undo-address.ts';
import { verifyEmail } from '../../shared/identity/sign-in/verify-email.ts';
import type { ProjectMembership } from '../../shared/store/fhir/membership.ts';
import { keyRingsOf } from '../setup/key-rings.ts';
import { getItem, newProject, person, type Stage, startStage } from './stage.ts';

/** Addresses are changed and taken back: by whom they are, by who has got at their sign-in, and by both at once. */
let stage: Stage;
let services: LoginServices;
let userId = '';
/** The address of the beginning, and those that it is changed to. */
let [own, second, third] = ['', '', ''];
const password = 'correct horse battery';
const codeChallenge = createHash('sha256').update('v'.repeat(43)).digest('base64url');

beforeAll(async () => {
  stage = await startStage();
  services = { ...stage.services, keyRings: keyRingsOf(Buffer.alloc(32, 7)) };
});
afterAll(() => stage.stop());

beforeEach(async () => {
  [own = '', second = '', third = ''] = ['own', 'second', 'third'].map(
    (name) => `${name}-${randomUUID()}@example.com`,
  );
  const admin = { email: own, firstName: 'Ada', lastName: 'Min', password };
  await provision(services, { name: 'Clinic', admin });
  userId = String((await getItem(services, keys.address(own)))?.userId);
});

type Link = { id: string; secret: string };

async function linkOf(deed: 'verify' | 'undo', generation: number, email: string): Promise<Link> {
  const of = { userId, generation, email };
  const url = await linkUrl('', services.keyRings['address-link'], addressLink(deed, of));
  const { id = '', secret = '' } = Object.fromEntries(new URLSearchParams(url.split('#')[1]));
  return { id, secret };
}

/** Asks for an address; answers what confirms it, with the password. */
async function ask(email: string, known = password): Promise<(by?: LoginServices) => Promise<void>> {
  const generation = services.now();
  await services.table.put({
    ...keys.addressChange(userId),
    email,
    generation,
    count: 1,
    sinceMs: generation,
  });
  const body = { ...(await linkOf('verify', generation, email)), password: known };
  return (by = services) => verifyEmail(by, { body, source: randomUUID(), caller: undefined });
}

/** Changes the address; answers the link that was mailed to the one before. */
async function move(email: string, known = password): Promise<Link> {
  const before = await address();
  stage.clock.nowMs += 1;
  await (await ask(email, known))();
  return linkOf('undo', services.now(), before);
}

const address = async () => String((await getItem(services, keys.user(userId)))?.email);
const undo = (link: Link, token?: string, by = services) =>
  undoAddress(by, { ...link, ...(token === undefined ? {} : { token }) });
const login = (email: string, known = password) =>
  signIn(services, {
    body: { email, password: known, codeChallenge, codeChallengeMethod: 'S256' },
    source: randomUUID(),
  });
const dead = { kind: 'invalid', message: 'This link is not valid any more' };
const wrong = { message: 'Email or password is invalid' };

async function openLogin(): Promise<string> {
  const id = randomUUID();
  await beginLogin(services, { id, userId, clientId: '', scope: 'openid', codeChallenge });
  return id;
}

/** Somebody adds a phone to the account. */
async function enrol() {
  const id = await openLogin();
  const totp = URI.parse((await enrolmentOf(services, { id, userId })).enrollUri) as TOTP;
  const { recoveryCodes } = await enrollMfaInLogin(services, {
    ...{ login: id, token: totp.generate({ timestamp: services.now() }) },
  });
  return { recoveryCodes, code: () => totp.generate({ timestamp: services.now() }) };
}

const missing = (): never => {
  throw new Error('There is none');
};
const nameIn = ({ project }: Caller<'administrator'>, email: string) =>
  getItem(services, keys.person(project, `E:${email}`));

/** As whatever a person can be in a Project. */
async function invited(here: Caller<'administrator'>, email: string): Promise<void> {
  for (const resourceType of profileTypes) {
    const externalId = `${resourceType}-${randomUUID()}`;
    const more = { resourceType, externalId, scope: 'server', forceNewMembership: true };
    await inviteUser(services, here, person({ email, ...more }));
  }
}

/** They accept all that they are invited to. */
async function accept({ project }: Caller<'administrator'>): Promise<void> {
  for (const standing of await choicesOf(services, userId, project)) {
    await services.table.transact(acceptActions(services, standing));
  }
}

async function joined(here: Caller<'administrator'>, email: string): Promise<void> {
  await invited(here, email);
  await accept(here);
}

/** The services, doing something once, before the first of their transactions. */
function beforeTransact(act: () => Promise<unknown>, nth = 1): LoginServices {
  let transactions = 0;
  const { table } = services;
  return {
    ...services,
    table: {
      ...table,
      transact: async (...of) => {
        transactions += 1;
        if (transactions === nth) await act();
        return table.transact(...of);
      },
    },
  };
}

describe('an address that was left', () => {
  test('is taken back by its link, once: nobody is signed in any more, and the password opens nothing', async () => {
    const link = await move(second);
    const session = await openLogin();
    await undo(link);
    expect(await address()).toBe(own);
    expect((await getItem(services, keys.login(session)))?.revoked).toBe(true);
    for (const email of [own, second]) await expect(login(email)).rejects.toMatchObject(wrong);
    expect(await getItem(services, keys.address(own))).toEqual({ ...keys.address(own), userId });
    expect(await getItem(services, keys.address(second))).toBeUndefined();
    await expect(undo(link)).rejects.toMatchObject(dead);
  });

  test('is kept for them meanwhile: an invite of it is one of them, nobody signs in with it, nobody else gets it', async () => {
    const here = await newProject(stage);
    await inviteUser(services, here, person({ email: own }));
    await move(second);
    await expect(login(own)).rejects.toMatchObject(wrong);
    const elsewhere = await newProject(stage);
    const invited = (await inviteUser(services, elsewhere, person({ email: own }))) as ProjectMembership;
    expect(invited.user.reference).toBe(`User/${userId}`);
    await expect(inviteUser(services, here, person({ email: own }))).rejects.toMatchObject({
      kind: 'conflict',
    });
    const admin = { email: own, firstName: 'E', lastName: 'Vil', password };
    await expect(provision(services, { name: 'Other', admin })).rejects.toThrow('exists already');
    stage.clock.nowMs += undoMs;
    const fresh = (await inviteUser(
      services,
      await newProject(stage),
      person({ email: own }),
    )) as ProjectMembership;
    expect(fresh.user.reference).not.toBe(`User/${userId}`);
    const again = (await inviteUser(services, here, person({ email: own }))) as ProjectMembership;
    expect(again.user.reference).toBe(fresh.user.reference);
  });

  test.each([1, 2])(
    'is theirs again by another change: no link leads to what they had in between, %i times',
    async (times) => {
      const links = [await move(second)];
      if (times === 2) links.push(await move(third));
      links.push(await move(own));
      expect(await address()).toBe(own);
      for (const link of links) await expect(undo(link)).rejects.toMatchObject(dead);
      await undo(await move(second));
      expect(await address()).toBe(own);
    },
  );

  test.each([1, 2])(
    'tells what they had in between of no change back to it, from which nothing is undone, after %i',
    async (times) => {
      await move(second);
      if (times === 2) await move(third);
      const left = await address();
      await move(own);
      expect(await getItem(services, keys.noticeMail(userId, 'address-changed', own))).toBeDefined();
      expect(await getItem(services, keys.noticeMail(userId, 'address-changed', left))).toBeUndefined();
    },
  );

  test('takes every external id of theirs along', async () => {
    const here = await newProject(stage);
    const each = ['Practitioner', 'RelatedPerson'].map((resourceType) => ({
      ...{ resourceType, externalId: `ext-${randomUUID()}`, scope: 'server', forceNewMembership: true },
    }));
    for (const one of each) await inviteUser(services, here, person({ email: own, ...one }));
    await move(second);
    for (const one of each) {
      const again = person({ email: second, ...one });
      const { user } = (await inviteUser(services, here, again)) as ProjectMembership;
      expect(user.reference).toBe(`User/${userId}`);
    }
  });

  test('goes with the person who is erased', async () => {
    await move(second);
    for (const { pk, sk } of await mirrors()) await services.table.write([], [{ pk, sk }]);
    expect(await endUser(services, undefined, userId)).toBe('ended');
    for (const email of [own, second]) expect(await getItem(services, keys.address(email))).toBeUndefined();
    expect(await getItem(services, keys.addressUndo(userId))).toBeUndefined();
  });
});

describe('who has taken an account by its address', () => {
  test('loses it to the first address, however often they have changed it since, and their own links are dead', async () => {
    const first = await move(second);
    const theirs = await move(third);
    const waiting = await ask(`more-${third}`);
    await undo(first);
    expect(await address()).toBe(own);
    await expect(waiting()).rejects.toMatchObject(dead);
    await expect(undo(theirs)).rejects.toMatchObject(dead);
    expect(await address()).toBe(own);
  });

  test('loses password and second factor with it', async () => {
    const link = await move(second);
    const seenHash = String((await getItem(services, keys.password(userId)))?.hash);
    const stolen = 'a stolen good password';
    await replacePassword(services, userId, { password: stolen, seenHash, email: second });
    await enrol();
    await undo(link);
    expect((await getItem(services, keys.mfa(userId)))?.seed).toBeUndefined();
    expect((await getItem(services, keys.mfa(userId)))?.recovery).toBeUndefined();
    await expect(login(own, stolen)).rejects.toMatchObject(wrong);
  });

  test('does not take it by the link to an address that the person has left: their second factor is asked for', async () => {
    const mine = await enrol();
    stage.clock.nowMs += undoMs;
    const link = await move(second);
    const session = await openLogin();
    for (const token of [undefined, '', '000000', 'WRON-GCOD-EWRO-NGCO'])
      await expect(undo(link, token)).rejects.toMatchObject({
        kind: 'invalid',
        issues: [{ expression: 'token' }],
      });
    expect(await address()).toBe(second);
    expect((await getItem(services, keys.login(session)))?.revoked).toBeUndefined();
    expect((await login(second)) as object).toMatchObject({ mfaRequired: true });
    await undo(link, mine.code());
    expect(await address()).toBe(own);
    expect((await getItem(services, keys.mfa(userId)))?.seed).toBeDefined();
  });

  test('has enrolled a second factor just before loses it too, and it is not asked for', async () => {
    await enrol();
    stage.clock.nowMs += undoMs - 2;
    const link = await move(second);
    await undo(link);
    expect(await address()).toBe(own);
    expect((await getItem(services, keys.mfa(userId)))?.seed).toBeUndefined();
  });

  test.each(['a code', 'a recovery code'])(
    'and has another second factor gives back the one of before, for %s',
    async (what) => {
      const mine = await enrol();
      const seed = (await getItem(services, keys.mfa(userId)))?.seed;
      stage.clock.nowMs += undoMs;
      const link = await move(second);
      await services.table.update({
        Key: keys.mfa(userId),
        UpdateExpression: 'REMOVE seed, lastStep, recovery',
      });
      const theirs = await enrol();
      await expect(undo(link, theirs.code())).rejects.toMatchObject({ kind: 'invalid' });
      await expect(undo(link, theirs.recoveryCodes[0])).rejects.toMatchObject({ kind: 'invalid' });
      await undo(link, what === 'a code' ? mine.code() : mine.recoveryCodes[0]);
      const factor = await getItem(services, keys.mfa(userId));
      const codes = [...((factor?.recovery as Set<string> | undefined) ?? [])];
      expect([factor?.seed, codes.length]).toEqual([seed, what === 'a code' ? 10 : 9]);
      // Theirs was enrolled lately, this one long ago: the next link will ask for it.
      expect(factor?.enrolledAtMs).toBeUndefined();
    },
  );

  test('guesses no code: tries are counted', async () => {
    await enrol();
    stage.clock.nowMs += undoMs;
    const link = await move(second);
    const tries = [];
    for (let i = 0; i < 12; i++) tries.push(await undo(link, `${100_000 + i}`).catch(({ kind }) => kind));
    expect(tries.at(-1)).toBe('throttled');
  });
});

describe('taking an address back', () => {
  test('is not held up by a Project that has put somebody else there', async () => {
    const here = await newProject(stage);
    await inviteUser(services, here, person({ email: own, scope: 'project', resourceType: 'Patient' }));
    const link = await move(second);
    await joined(here, second);
    await undo(link);
    expect(await address()).toBe(own);
    const names = await Promise.all([own, second].map((email) => nameIn(here, email)));
    expect(names.map((name) => name?.userId === userId)).toEqual([false, true]);
  });

  test('is not held up by how many Projects they were taken into since', async () => {
    const link = await move(second);
    const projects = await Promise.all(Array.from({ length: 5 }, () => newProject(stage)));
    for (const here of projects) await joined(here, second);
    await undo(link);
    expect(await address()).toBe(own);
    for (const here of projects) {
      expect(await nameIn(here, own)).toMatchObject({ userId });
      expect(await nameIn(here, second)).toBeUndefined();
    }
  });

  test('is not held up by a Project that keeps changing what it knows of them', async () => {
    const here = await newProject(stage);
    await invited(here, own);
    const link = await move(second);
    await accept(here);
    let changes = 0;
    const { table } = services;
    const transact: typeof table.transact = async (actions, ...more) => {
      const name = keys.person(here.project, `E:${second}`);
      if (actions.some(({ name }) => name === 'old name')) {
        changes += 1;
        await table.update({
          Key: name,
          UpdateExpression: 'ADD revision :one',
          ExpressionAttributeValues: { ':one': 1 },
        });
      }
      return table.transact(actions, ...more);
    };
    await undo(link, undefined, { ...services, table: { ...table, transact } });
    expect(changes).toBeGreaterThan(2);
    expect(await address()).toBe(own);
    expect(await nameIn(here, second)).toMatchObject({ userId });
  });

  test('changes whoever has invited them meanwhile: who has called it off is not told', async () => {
    const projects = await Promise.all(Array.from({ length: 6 }, () => newProject(stage)));
    const [occupied = missing(), revoked = missing(), ...others] = projects;
    for (const here of projects) await invited(here, own);
    await inviteUser(
      services,
      occupied,
      person({ email: second, scope: 'project', resourceType: 'Patient' }),
    );
    for (const { membership } of await choicesOf(services, userId, revoked.project)) {
      await revokeInvitation(services, revoked, { membershipId: membership.id });
    }
    await move(second);
    expect(await address()).toBe(second);
    for (const here of [occupied, revoked]) expect(await nameIn(here, own)).toMatchObject({ userId });
    for (const here of others) expect(await nameIn(here, second)).toMatchObject({ userId });
    expect(await nameIn(revoked, second)).toBeUndefined();
  });

  test('and changing it once more at the same time end with one of both', async () => {
    for (const nth of [1, 2]) {
      const link = await move(`${nth}-${second}`);
      const change = await ask(`${nth}-${third}`);
      const changed: unknown[] = [];
      const racing = beforeTransact(async () => {
        changed.push(
          await change().then(
            () => 'changed',
            () => 'refused',
          ),
        );
      }, nth);
      await undo(link, undefined, racing);
      // What comes before the password is invalid may be done; it is undone with the rest.
      expect([await address(), changed]).toEqual([own, [nth === 1 ? 'changed' : 'refused']]);
      await expect(change()).rejects.toMatchObject(dead);
      const hash = String((await getItem(services, keys.password(userId)))?.hash);
      await replacePassword(services, userId, { password, seenHash: hash, email: own });
    }
  });

  test('overtakes a change that is on its way', async () => {
    const link = await move(second);
    const change = await ask(third);
    await expect(change(beforeTransact(() => undo(link)))).rejects.toMatchObject({ kind: 'invalid' });
    expect(await address()).toBe(own);
  });

  test('by two at once is done once', async () => {
    const link = await move(second);
    const both = await Promise.allSettled([undo(link), undo(link)]);
    expect(both.map(({ status }) => status)).toContain('fulfilled');
    expect(await address()).toBe(own);
  });

  test('leaves no password that was asked for at the other address meanwhile, nor what was opened with it', async () => {
    const link = await move(second);
    const stolen = 'a stolen good password';
    const reset = (seenHash: string) =>
      replacePassword(services, userId, { password: stolen, seenHash, email: second });
    const hash = async () => String((await getItem(services, keys.password(userId)))?.hash);
    let seenHash = '';
    const racing = beforeTransact(async () => {
      await reset(await hash());
      expect((await login(second, stolen)) as object).toHaveProperty('login');
      seenHash = await hash();
    }, 2);
    await undo(link, undefined, racing);
    await expect(reset(seenHash)).rejects.toThrow(ConditionFailed);
    await expect(login(own, stolen)).rejects.toMatchObject(wrong);
    expect(await loginsOf(services, userId)).toEqual([]);
  });

  test('that breaks off keeps everybody out, and is finished by the link', async () => {
    for (const nth of [1, 2]) {
      const link = await move(`${nth}-${second}`);
      const session = await openLogin();
      const breaking = beforeTransact(() => Promise.reject(new Error('broken off')), nth);
      await expect(undo(link, undefined, breaking)).rejects.toThrow('broken off');
      expect(await address()).toBe(`${nth}-${second}`);
      if (nth === 2) {
        expect(await loginsOf(services, userId)).toEqual([]);
        await expect(login(`${nth}-${second}`)).rejects.toMatchObject(wrong);
      } else expect((await getItem(services, keys.login(session)))?.revoked).toBeUndefined();
      await undo(link);
      expect([await address(), await loginsOf(services, userId)]).toEqual([own, []]);
      const hash = String((await getItem(services, keys.password(userId)))?.hash);
      await replacePassword(services, userId, { password, seenHash: hash, email: own });
    }
  });

  test('wants the link of that very change, and is none to confirm an address', async () => {
    const link = await move(second);
    const of = services.now();
    for (const other of [
      { ...link, secret: 'x'.repeat(43) },
      await linkOf('undo', of, second),
      await linkOf('undo', of + 1, own),
      await linkOf('verify', of, own),
      { id: `none.${of}`, secret: link.secret },
      { id: 'a.b', secret: link.secret },
    ])
      await expect(undo(other)).rejects.toMatchObject(dead);
    expect(await address()).toBe(second);
  });
});

const mirrors = async () =>
  (
    await services.table.query({
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :m)',
      ExpressionAttributeValues: { ':pk': keys.user(userId).pk, ':m': 'M#' },
    })
  ).items;
