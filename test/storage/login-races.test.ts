import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type TOTP, URI } from 'otpauth';
import { newBudget } from '../../shared/carry/table/budget.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import { meteredTable } from '../../shared/carry/table/metered.ts';
import { type Caller, callerOf } from '../../shared/identity/gate/access-token.ts';
import { acceptActions } from '../../shared/identity/invitations/accept.ts';
import { choicesOf } from '../../shared/identity/invitations/choices.ts';
import { inviteUser } from '../../shared/identity/invitations/invite-user.ts';
import { standingOf } from '../../shared/identity/invitations/state.ts';
import { openIssuerWeb } from '../../shared/identity/issuers/issuer-web.ts';
import { openIssuers } from '../../shared/identity/issuers/issuers.ts';
import { changeMember } from '../../shared/identity/memberships/change-member.ts';
import { addAdministrator, recoverAdministrator } from '../../shared/identity/projects/administrators.ts';
import { provision } from '../../shared/identity/projects/provision.ts';
import { chooseMembership } from '../../shared/identity/sign-in/choose-membership.ts';
import type { LoginServices } from '../../shared/identity/sign-in/invitation-of-link.ts';
import { addressLink, linkUrl, resetLink } from '../../shared/identity/sign-in/links.ts';
import {
  endLogin,
  endLogins,
  idOfLogin,
  loginOf,
  loginsOf,
  mostLogins,
} from '../../shared/identity/sign-in/logins.ts';
import { reauthenticate, switchProject } from '../../shared/identity/sign-in/own-login.ts';
import { disableMfa, renewRecoveryCodes } from '../../shared/identity/sign-in/own-mfa.ts';
import { replacePassword } from '../../shared/identity/sign-in/password.ts';
import { changePassword, replaceForgotten } from '../../shared/identity/sign-in/passwords.ts';
import { beginLogin } from '../../shared/identity/sign-in/person-login.ts';
import type { AccountServices } from '../../shared/identity/sign-in/proof.ts';
import {
  countCodeOfLogin,
  enrolAction,
  enrolmentOf,
  type SecondFactor,
} from '../../shared/identity/sign-in/second-factor.ts';
import { signIn } from '../../shared/identity/sign-in/sign-in.ts';
import { enrollMfaInLogin, verifyMfa } from '../../shared/identity/sign-in/sign-in-step.ts';
import { verifyEmail } from '../../shared/identity/sign-in/verify-email.ts';
import { keyRingsOf } from '../setup/key-rings.ts';
import { scanAll } from './scan-all.ts';
import { getItem, newProject, person, type Stage, startStage } from './stage.ts';

let stage: Stage;
type BothServices = LoginServices & AccountServices;

let services: BothServices;
let email = '';
let userId = '';
let seenHash = '';
const password = 'correct horse battery';
const codeChallenge = createHash('sha256').update('v'.repeat(43)).digest('base64url');

beforeAll(async () => {
  stage = await startStage();
  const issuers = openIssuers(openIssuerWeb(stage.services), stage.services.now);
  services = { ...stage.services, keyRings: keyRingsOf(Buffer.alloc(32, 7)), issuers };
});
afterAll(() => stage.stop());

beforeEach(async () => {
  email = `ada-${randomUUID()}@example.com`;
  await provision(stage.services, {
    name: 'Clinic',
    admin: { email, firstName: 'Ada', lastName: 'Min', password },
  });
  userId = String((await getItem(services, keys.address(email)))?.userId);
  seenHash = String((await getItem(services, keys.password(userId)))?.hash);
});

const login = () =>
  signIn(services, {
    body: { email, password, codeChallenge, codeChallengeMethod: 'S256' },
    source: randomUUID(),
  });

/** A login that waits for its membership, as one of many. */
async function openLogin(): Promise<string> {
  const id = randomUUID();
  const of = { id, userId, clientId: '', scope: 'openid', codeChallenge };
  await beginLogin(services, of);
  return id;
}

/** The services, doing something before each of their writes. */
const beforeWrites = (act: () => Promise<unknown>): BothServices => {
  const { table } = services;
  return {
    ...services,
    table: {
      ...table,
      transact: (...of) => act().then(() => table.transact(...of)),
      updateIf: (...of) => act().then(() => table.updateIf(...of)),
    },
  };
};

/** Enrols a phone of their own, as who has stolen a login would. */
const enrolIn = async (id: string) => {
  const totp = URI.parse((await enrolmentOf(services, { id, userId })).enrollUri) as TOTP;
  return enrollMfaInLogin(services, { login: id, token: totp.generate({ timestamp: services.now() }) });
};

/** The services, doing something once, before the first of their transactions. */
function beforeTransact(act: () => Promise<unknown>): BothServices {
  const { table } = services;
  let acted: Promise<unknown> | undefined;
  return {
    ...services,
    table: {
      ...table,
      transact: async (...of) => {
        acted ??= act();
        await acted;
        return table.transact(...of);
      },
    },
  };
}

async function ownMembership() {
  const [one] = await choicesOf(services, userId, undefined, { mfa: true });
  if (!one) throw new Error('No membership');
  return one;
}

/** Somebody signed in, as the whole person. */
async function signedIn({ mfa = false } = {}): Promise<Caller> {
  const loginId = randomUUID();
  const of = { id: loginId, userId, clientId: '', scope: 'openid', codeChallenge, ...(mfa ? { mfa } : {}) };
  await beginLogin(services, of);
  return chosen(loginId);
}

async function chosen(loginId: string): Promise<Caller> {
  const standing = await ownMembership();
  const { id, project, profile } = standing.membership;
  await chooseMembership(services, loginId, standing);
  return callerOf(
    {
      loginId,
      project: project.reference.slice(8),
      membershipId: id,
      profile: profile.reference,
      clientId: '',
      subject: userId,
      scope: 'openid',
    },
    'member',
  );
}

/** A new address waits to be confirmed; answers what its link posts. */
async function newAddress() {
  const generation = services.now();
  const change = { email: `new-${email}`, generation, count: 1, sinceMs: generation };
  await services.table.put({ ...keys.addressChange(userId), ...change });
  const ring = services.keyRings['address-link'];
  const link = await linkUrl('', ring, addressLink('verify', { userId, generation, email: change.email }));
  const parts = new URLSearchParams(link.split('#')[1]);
  return { id: String(parts.get('id')), secret: String(parts.get('secret')) };
}

const addressOwner = async (address: string) => (await getItem(services, keys.address(address)))?.userId;
const newPassword = () =>
  replacePassword(services, userId, { password: 'another good password', seenHash, email });

test('a login that is erased while its code is tried does not come back', async () => {
  const key = keys.login(await openLogin());
  const read = loginOf(await getItem(services, key));
  if (!read) throw new Error('No login');
  await countCodeOfLogin(services, read);
  expect(await getItem(services, key)).toMatchObject({ codes: 1 });
  await services.table.write([], [key]);
  await expect(countCodeOfLogin(services, read)).rejects.toMatchObject({ kind: 'invalid' });
  expect(await getItem(services, key)).toBeUndefined();
});

test('no login with the old password outlives its change, whenever it was made', async () => {
  const keep = await openLogin();
  const signedIn = Promise.allSettled(Array.from({ length: 12 }, login));
  await replacePassword(services, userId, { password: 'another good password', seenHash, email, keep });
  await signedIn;
  const alive = await loginsOf(services, userId);
  expect(alive.map(({ pk }) => pk)).toEqual([keys.login(keep).pk]);
  await expect(login()).rejects.toMatchObject({ kind: 'invalid' });
});

test('a person with more logins than a transaction holds loses them all', async () => {
  await Promise.all(Array.from({ length: 130 }, openLogin));
  expect(await loginsOf(services, userId)).toHaveLength(130);
  await replacePassword(services, userId, { password: 'another good password', seenHash, email });
  expect(await loginsOf(services, userId)).toEqual([]);
});

test('of two changes that saw one password, the second changes nothing and ends nothing', async () => {
  await replacePassword(services, userId, { password: 'another good password', seenHash, email });
  const hash = (await getItem(services, keys.password(userId)))?.hash;
  const later = await openLogin();
  await expect(
    replacePassword(services, userId, { password: 'a third good password', seenHash, email }),
  ).rejects.toMatchObject({ name: 'ConditionFailed' });
  expect((await getItem(services, keys.password(userId)))?.hash).toBe(hash);
  expect((await loginsOf(services, userId)).map(({ pk }) => pk)).toEqual([keys.login(later).pk]);
});

test('of two logins that enrol at once one does, and its secret stands', async () => {
  const ids = [await openLogin(), await openLogin(), await openLogin()];
  const codes = await Promise.all(
    ids.map(async (id) => {
      const totp = URI.parse((await enrolmentOf(services, { id, userId })).enrollUri) as TOTP;
      return totp.generate({ timestamp: services.now() });
    }),
  );
  const results = await Promise.allSettled(
    ids.map((login, i) => enrollMfaInLogin(services, { login, token: codes[i] })),
  );
  const won = results.findIndex(({ status }) => status === 'fulfilled');
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect((await getItem(services, keys.mfa(userId)))?.seed).toBe(`${ids[won]}.0`);
  const proven = await Promise.all(ids.map(async (id) => (await getItem(services, keys.login(id)))?.mfa));
  expect(proven.map((mfa) => mfa === true)).toEqual(ids.map((_, i) => i === won));
});

describe('a login that has changed since it was read chooses no membership', () => {
  const set = (id: string, name: string, value: unknown) =>
    services.table.update({
      Key: keys.login(id),
      UpdateExpression: 'SET #name = :value',
      ExpressionAttributeNames: { '#name': name },
      ExpressionAttributeValues: { ':value': value },
    });
  const choose = async (id: string) => chooseMembership(services, id, await ownMembership());

  test.each<[string, (id: string) => Promise<unknown>]>([
    ['has chosen one', choose],
    ['has ended', (id) => set(id, 'revoked', true)],
    ['waits for a second factor', (id) => set(id, 'needsMfa', true)],
    ['is gone', (id) => services.table.transact([{ name: 'login', remove: keys.login(id) }])],
  ])('when it %s', async (_what, change) => {
    const id = await openLogin();
    await change(id);
    const before = await getItem(services, keys.login(id));
    await expect(choose(id)).rejects.toMatchObject({ kind: 'invalid', message: 'Sign in again' });
    expect(await getItem(services, keys.login(id))).toEqual(before);
  });

  test('but does once the second factor was shown', async () => {
    const id = await openLogin();
    await set(id, 'needsMfa', true);
    await set(id, 'mfa', true);
    expect((await choose(id)).code).toMatch(/./);
  });
});

describe('an administrator who lost their second factor', () => {
  const enrol = () =>
    services.table.put({
      ...keys.mfa(userId),
      seed: 'x.0',
      lastStep: 1,
      earlier: 1,
      recovery: new Set(['a']),
    });
  const project = async () =>
    (await choicesOf(services, userId, undefined))[0]?.membership.project.reference.slice(8) ?? '';

  const told = async (event: string) =>
    (await scanAll(stage.client, stage.tableName)).filter(({ sk }) =>
      sk.startsWith(`NOTICE#${event}#${userId}`),
    ).length;

  test('is let in again by provision: no factor, no recovery codes, no password, no login, told and audited', async () => {
    await enrol();
    const before = await openLogin();
    const request = { project: await project(), recover: email.toUpperCase() };
    const signedIn = Promise.allSettled(Array.from({ length: 12 }, login));
    expect((await recoverAdministrator(services, request)).recovered.email).toBe(email);
    expect(await getItem(services, keys.mfa(userId))).toEqual({ ...keys.mfa(userId), earlier: 1 });
    expect((await getItem(services, keys.login(before)))?.revoked).toBe(true);
    await signedIn;
    expect(await loginsOf(services, userId)).toEqual([]);
    await expect(login()).rejects.toMatchObject({ message: 'Email or password is invalid' });
    expect([await told('sign-in-recovered'), await told('second-factor-removed')]).toEqual([1, 0]);
    const items = await scanAll(stage.client, stage.tableName);
    const audited = items.filter(
      ({ content }) => String(content).includes('"recovered"') && String(content).includes(userId),
    );
    const parts = audited.map(({ content }) => JSON.parse(String(content)).entity[0].detail[0].valueString);
    expect(parts.sort()).toEqual(['password made invalid', 'second factor removed']);
    expect(audited.every(({ pk }) => pk.startsWith(`P#${request.project}#AuditEvent#`))).toBe(true);
    await recoverAdministrator(services, request);
  });

  test('keeps out who has the old password or a login, whenever they try', async () => {
    const request = { project: await project(), recover: email };
    await enrol();
    const begun = [await openLogin(), await openLogin()];
    const enrolled: unknown[] = [];
    const attempt = async () => {
      await login().then(
        (step) => 'login' in step && begun.push(step.login),
        () => undefined,
      );
      await enrolIn(begun.at(-1) ?? '').then(
        (step) => enrolled.push(step),
        () => undefined,
      );
    };
    await recoverAdministrator(beforeWrites(attempt), request);
    expect(begun).toHaveLength(3);
    await attempt();
    expect([begun.length, enrolled]).toEqual([3, []]);
    expect(await loginsOf(services, userId)).toEqual([]);
    for (const id of begun)
      await expect(enrolIn(id)).rejects.toMatchObject({ kind: 'invalid', message: 'Sign in again' });
    // A change of the password that was begun before is not made after it.
    const change = { password: 'another good password', seenHash, email };
    await expect(replacePassword(services, userId, change)).rejects.toMatchObject({
      name: 'ConditionFailed',
    });
  });

  test('keeps no login that a change of the Project has made of the one before', async () => {
    const request = { project: await project(), recover: email };
    let session = await signedIn({ mfa: true });
    let changes = 0;
    const change = async () => {
      const { login } = await switchProject(services, session, { codeChallenge });
      session = await chosen(login);
      changes += 1;
    };
    await recoverAdministrator(
      beforeWrites(async () => (changes < 3 ? change() : undefined)),
      request,
    );
    expect(changes).toBe(3);
    expect(await loginsOf(services, userId)).toEqual([]);
  });

  test.each([1, 2, 3])(
    'whose address is moved before write %i is told of it, and keeps the factor',
    async (nth) => {
      await enrol();
      const asker = await signedIn();
      const body = await newAddress();
      let writes = 0;
      const moved: boolean[] = [];
      const moving = beforeWrites(async () => {
        writes += 1;
        if (writes !== nth) return;
        const move = verifyEmail(services, { body, caller: asker, source: randomUUID() });
        moved.push(
          await move.then(
            () => true,
            () => false,
          ),
        );
      });
      const recovery = recoverAdministrator(moving, { project: await project(), recover: email });
      // Their login has ended before the last write.
      if (nth === 3) await recovery;
      else await expect(recovery).rejects.toThrow('address was changed meanwhile');
      expect(moved).toEqual([nth < 3]);
      expect((await getItem(services, keys.mfa(userId)))?.seed).toBe(nth < 3 ? 'x.0' : undefined);
    },
  );

  test('is let in by a repeat, wherever the first one broke off; the factor stays until the end', async () => {
    const request = { project: await project(), recover: email };
    for (let broken = 1; broken <= 3; broken++) {
      await enrol();
      await openLogin();
      let writes = 0;
      const breaking = beforeWrites(async () => {
        writes += 1;
        if (writes === broken) throw new Error('broken off');
      });
      await expect(recoverAdministrator(breaking, request)).rejects.toThrow('broken off');
      expect((await getItem(services, keys.mfa(userId)))?.seed).toBe('x.0');
      await recoverAdministrator(services, request);
      expect((await getItem(services, keys.mfa(userId)))?.seed).toBeUndefined();
      expect(await loginsOf(services, userId)).toEqual([]);
      expect(await told('sign-in-recovered')).toBe(1);
    }
  });

  test('has no password after it who had none before', async () => {
    await enrol();
    await openLogin();
    await services.table.write([], [keys.password(userId)]);
    await recoverAdministrator(services, { project: await project(), recover: email });
    expect(await getItem(services, keys.password(userId))).toBeUndefined();
    expect((await getItem(services, keys.mfa(userId)))?.seed).toBeUndefined();
    expect(await loginsOf(services, userId)).toEqual([]);
    expect([await told('sign-in-recovered'), await told('second-factor-removed')]).toEqual([0, 1]);
  });

  test('of another Project, or of none, is not, nor who is no administrator, or none now', async () => {
    await enrol();
    const caller = await newProject(stage);
    const member = person();
    const { id: membershipId } = await inviteUser(services, caller, member);
    const standing = standingOf(
      await getItem(services, keys.resource(caller.project, 'ProjectMembership', membershipId)),
    );
    if (!standing) throw new Error('Not invited');
    const ofMember = { project: caller.project, recover: member.email };
    const refuses = (request: typeof ofMember) =>
      expect(recoverAdministrator(services, request)).rejects.toThrow('no active administrator');
    await refuses(ofMember);
    await services.table.transact(acceptActions(services, standing));
    await refuses(ofMember);
    await changeMember(services, caller, { membershipId, body: { admin: true } });
    await recoverAdministrator(services, ofMember);
    await changeMember(services, caller, { membershipId, body: { active: false } });
    await refuses(ofMember);
    const pending = person({ admin: true });
    await inviteUser(services, caller, pending);
    await refuses({ project: caller.project, recover: pending.email });
    const other = await provision(services, {
      name: 'Other',
      admin: { email: 'other@example.com', firstName: 'O', lastName: 'Ther' },
    });
    for (const request of [
      { project: other.project.id, recover: email },
      { project: await project(), recover: 'other@example.com' },
      { project: await project(), recover: 'nobody' },
      { project: '', recover: email },
    ])
      await refuses(request);
    expect((await getItem(services, keys.mfa(userId)))?.seed).toBe('x.0');
  });

  test('is followed by another one, once, in this Project only', async () => {
    const admin = { email: 'next@example.com', firstName: 'Ne', lastName: 'Xt' };
    const request = { project: await project(), admin: { ...admin, password: 'a quite good password' } };
    const answers = await Promise.allSettled([
      addAdministrator(services, request),
      addAdministrator(services, request),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await getItem(services, keys.administrators(request.project)))?.count).toBe(2);
    await expect(addAdministrator(services, { project: 'none', admin })).rejects.toThrow('no such Project');
    await expect(addAdministrator(services, { project: request.project, admin })).rejects.toThrow(
      'knows this',
    );
  });
});

describe('who is kept out while what they ask for is on its way', () => {
  const endLoginOf = ({ loginId }: Caller) => endLogin(services.table, loginId);

  test.each<[string, (asker: Caller) => Promise<unknown>, string]>([
    ['by the end of their login', endLoginOf, 'unauthorized'],
    ['by another password', newPassword, 'unauthorized'],
    [
      'by another password that they have chosen themself',
      ({ loginId: keep }) =>
        replacePassword(services, userId, { password: 'another good password', seenHash, email, keep }),
      'invalid',
    ],
    ['by its erasure', ({ loginId }) => services.table.write([], [keys.login(loginId)]), 'unauthorized'],
  ])('shows nobody anew who they are: %s', async (_how, keepOut, kind) => {
    const asker = await signedIn();
    const showing = beforeTransact(() => keepOut(asker));
    const shown = { body: { password }, source: randomUUID() };
    await expect(reauthenticate(showing, asker, shown)).rejects.toMatchObject({ kind });
    expect((await getItem(services, keys.login(asker.loginId)))?.signedInAtMs).toBeUndefined();
  });

  test.each<[string, boolean, (asker: Caller) => Promise<unknown>, string]>([
    ['by the end of their login', true, endLoginOf, 'unauthorized'],
    ['by another password', false, newPassword, 'invalid'],
  ])('moves no address: %s', async (_how, byLogin, keepOut, kind) => {
    const asker = await signedIn();
    const link = await newAddress();
    const source = randomUUID();
    const shown = byLogin
      ? { body: link, caller: asker }
      : { body: { ...link, password }, caller: undefined };
    const moving = verifyEmail(
      beforeTransact(() => keepOut(asker)),
      { ...shown, source },
    );
    await expect(moving).rejects.toMatchObject({ kind });
    expect([await addressOwner(email), await addressOwner(`new-${email}`)]).toEqual([userId, undefined]);
  });

  test('changes no password', async () => {
    const asker = await signedIn();
    const body = { oldPassword: password, newPassword: 'another good password' };
    const ending = beforeTransact(() => endLoginOf(asker));
    await expect(changePassword(ending, asker, { body, source: randomUUID() })).rejects.toMatchObject({
      kind: 'unauthorized',
    });
    expect((await getItem(services, keys.password(userId)))?.hash).toBe(seenHash);
  });

  test('sets no password by the link to an address that is theirs no more', async () => {
    const expiresAtMs = services.now() + 1000;
    const of = { userId, expiresAtMs, passwordHash: seenHash, email };
    const link = await linkUrl('', services.keyRings['reset-link'], resetLink(of));
    const parts = new URLSearchParams(link.split('#')[1]);
    const asker = await signedIn();
    const address = await newAddress();
    const moving = beforeTransact(() =>
      verifyEmail(services, { body: address, caller: asker, source: randomUUID() }),
    );
    const sent = { id: String(parts.get('id')), secret: String(parts.get('secret')) };
    await expect(
      replaceForgotten(moving, { ...sent, password: 'another good password' }),
    ).rejects.toMatchObject({ kind: 'invalid' });
    expect((await getItem(services, keys.password(userId)))?.hash).toBe(seenHash);
  });

  test('neither removes the second factor nor gets other recovery codes', async () => {
    const { recoveryCodes } = await enrolIn(await openLogin());
    const [token] = recoveryCodes;
    const factor = await getItem(services, keys.mfa(userId));
    for (const act of [disableMfa, renewRecoveryCodes]) {
      const asker = await signedIn();
      const ending = beforeTransact(() => endLoginOf(asker));
      await expect(act(ending, asker, { token })).rejects.toMatchObject({ kind: 'unauthorized' });
    }
    expect(await getItem(services, keys.mfa(userId))).toEqual(factor);
  });

  test('begins no change of the Project, and enrols nothing in one that was begun', async () => {
    const asker = await signedIn();
    const { login: begun } = await switchProject(services, asker, { codeChallenge });
    const ending = beforeTransact(() => endLoginOf(asker));
    await expect(switchProject(ending, asker, { codeChallenge })).rejects.toMatchObject({
      kind: 'unauthorized',
    });
    await expect(enrolIn(begun)).rejects.toMatchObject({ kind: 'invalid', message: 'Sign in again' });
    expect(await getItem(services, keys.mfa(userId))).toBeUndefined();
  });
});

describe('a second factor is neither shown nor enrolled', () => {
  const set = (id: string, name: string, value: unknown) =>
    services.table.update({
      Key: keys.login(id),
      UpdateExpression: 'SET #name = :value',
      ExpressionAttributeNames: { '#name': name },
      ExpressionAttributeValues: { ':value': value },
    });
  const acts = {
    async show(using: LoginServices, id: string) {
      const { recoveryCodes } = await enrolIn(await openLogin());
      return () => verifyMfa(using, { login: id, token: recoveryCodes[0] });
    },
    async enrol(using: LoginServices, id: string) {
      const totp = URI.parse((await enrolmentOf(services, { id, userId })).enrollUri) as TOTP;
      const token = totp.generate({ timestamp: services.now() });
      return () => enrollMfaInLogin(using, { login: id, token });
    },
  };
  const changes: Record<string, (id: string) => Promise<unknown>> = {
    'has ended meanwhile': (id) => set(id, 'revoked', true),
    'is gone meanwhile': (id) => services.table.write([], [keys.login(id)]),
  };

  test.each(
    Object.keys(changes).flatMap((change) => [
      [change, 'show' as const],
      [change, 'enrol' as const],
    ]),
  )('in a login that %s: %s', async (change, act) => {
    const id = await openLogin();
    let isMeant = false;
    const using = beforeTransact(async () => isMeant && changes[change]?.(id));
    const prove = await acts[act as keyof typeof acts](using, id);
    isMeant = true;
    const factor = await getItem(services, keys.mfa(userId));
    await expect(prove()).rejects.toMatchObject({ kind: 'invalid', message: 'Sign in again' });
    expect((await getItem(services, keys.login(id)))?.mfa).toBeUndefined();
    expect(await getItem(services, keys.mfa(userId))).toEqual(factor);
  });

  test.each(['show', 'enrol'] as const)('in the login of an issuer: %s', async (act) => {
    const id = await openLogin();
    await set(id, 'issuer', 'https://issuer.example');
    const prove = await acts[act](services, id);
    const before = [await getItem(services, keys.mfa(userId)), await getItem(services, keys.login(id))];
    await expect(prove()).rejects.toMatchObject({ kind: 'invalid', message: 'Sign in again' });
    expect([await getItem(services, keys.mfa(userId)), await getItem(services, keys.login(id))]).toEqual(
      before,
    );
  });
});

describe('a second factor is enrolled', () => {
  const enrol = async (factor: { seed?: string; earlier?: number }) => {
    const loginId = randomUUID();
    const read: SecondFactor = { userId, seed: undefined, earlier: 0, enrolledAtMs: 0, recovery: new Set() };
    const { enrollUri } = await enrolmentOf(services, { id: loginId, userId });
    const nowMs = services.now();
    const code = (URI.parse(enrollUri) as TOTP).generate({ timestamp: nowMs });
    await services.table.put({ ...keys.mfa(userId), ...factor });
    const action = await enrolAction(services.keyRings.totp, read, { loginId, code, nowMs });
    return services.table.transact([action]);
  };

  test('where there is none', async () => {
    await enrol({});
    expect((await getItem(services, keys.mfa(userId)))?.earlier).toBe(1);
  });

  test.each([
    ['over one that has come in between', { seed: 'another.0', earlier: 0 }],
    ['after one that has come and gone in between', { earlier: 1 }],
  ])('never %s', async (_what, factor) => {
    await expect(enrol(factor)).rejects.toMatchObject({ name: 'ConditionFailed' });
    expect(await getItem(services, keys.mfa(userId))).toMatchObject(factor);
  });
});

describe('who has begun very many logins', () => {
  const idsOf = async () => new Set((await loginsOf(services, userId)).map(idOfLogin));
  /** As they are left by many sign-ins, one after the other. */
  const written = async (many: number, more: object) => {
    const ids: string[] = Array.from({ length: many }, () => randomUUID());
    const fromMs = stage.clock.nowMs;
    stage.clock.nowMs += many;
    const ttl = Math.ceil(services.now() / 1000) + 3600;
    const items = ids.flatMap((id, n) => [
      { ...keys.userLogin(userId, id), loginId: id, ttl },
      {
        ...{ ...keys.login(id), kind: 'person', subject: userId, clientId: '', scope: 'openid' },
        ...{ createdAtMs: fromMs + n, ttl, ...more },
      },
    ]);
    await services.table.write(items);
    return ids;
  };
  const grant = async (grantedBy: object) => {
    stage.clock.nowMs += 1;
    const key = keys.login(await openLogin());
    await services.table.put({ ...(await getItem(services, key)), ...key, granted: true, ...grantedBy });
    return key.pk.slice(2);
  };

  test('has two hundred at most: those that were only begun end first, and nothing is left of them to be read', async () => {
    const granted = await grant({ grantedBy: 'an exchange of its code' });
    const exchanged = await grant({});
    const begun = await written(mostLogins, {});
    for (let n = 0; n < 5; n++) begun.push(await openLogin());
    const alive = await idsOf();
    expect(alive.size).toBeLessThanOrEqual(mostLogins + 1);
    const looked = [granted, exchanged, begun[0] ?? '', begun.at(-1) ?? ''];
    expect(looked.map((id) => alive.has(id))).toEqual([true, true, false, true]);
    expect((await getItem(services, keys.login(begun[0] ?? '')))?.revoked).toBe(true);
    const { pk } = keys.userLogin(userId, '');
    const mirrors = (await scanAll(stage.client, stage.tableName, pk)).filter(({ loginId }) => loginId);
    expect(mirrors.length).toBeLessThanOrEqual(mostLogins + 1);
  });

  test('loses of those whose codes were exchanged the oldest, and of tokens of an issuer none', async () => {
    const exchanged = await grant({});
    const all = await written(mostLogins, { granted: true, grantedBy: 'an exchange of its code' });
    for (let n = 0; n < 5; n++) all.push(await grant({ grantedBy: 'an exchange of its code' }));
    const alive = await idsOf();
    expect([exchanged, all[0] ?? '', all.at(-1) ?? ''].map((id) => alive.has(id))).toEqual([
      true,
      false,
      true,
    ]);
  });

  test('by the issuer of a Project ends those alone that this issuer has vouched for', async () => {
    const theirs = { granted: true, grantedBy: 'a code', issuerProject: 'b' };
    const mine = await grant({ grantedBy: 'a code' });
    const vouched = await written(mostLogins + 5, theirs);
    await beginLogin(services, {
      ...{ id: randomUUID(), userId, clientId: '', scope: 'openid', codeChallenge, issuerProject: 'b' },
    });
    const alive = await idsOf();
    expect([mine, vouched[0] ?? '', vouched.at(-1) ?? ''].map((id) => alive.has(id))).toEqual([
      true,
      false,
      true,
    ]);
  });

  test('leaves nothing of those that ended by their time, but where a login may be on its way', async () => {
    const ids = await written(mostLogins + 10, {});
    await services.table.write(
      [],
      ids.map((id) => keys.login(id)),
    );
    const days = Math.ceil(services.now() / 1000) + 30 * 86_400;
    const long = ids.slice(5);
    await services.table.write(long.map((id) => ({ ...keys.userLogin(userId, id), loginId: id, ttl: days })));
    await openLogin();
    const { pk } = keys.userLogin(userId, '');
    const mirrors = (await scanAll(stage.client, stage.tableName, pk)).filter(({ loginId }) => loginId);
    expect(mirrors).toHaveLength(5 + 1);
  });

  test('ends those that there were, though others go on to begin', async () => {
    const session = await signedIn();
    const before = await Promise.all(Array.from({ length: 5 }, openLogin));
    const begun: string[] = [];
    // As by an issuer that is asked meanwhile, and by changes of the Project of the one that is kept.
    const begin = async () => {
      begun.push(await openLogin(), (await switchProject(services, session, { codeChallenge })).login);
    };
    await endLogins(beforeWrites(begin), userId, session.loginId);
    expect(begun).toHaveLength(2 * before.length);
    expect(await idsOf()).toEqual(new Set([session.loginId, ...begun]));
  });

  test('ends what comes of one though nothing leads to that any more', async () => {
    let session = await signedIn();
    let isDone = false;
    const changeTwice = async () => {
      if (isDone) return;
      isDone = true;
      for (let n = 0; n < 2; n += 1) {
        const { login } = await switchProject(services, session, { codeChallenge });
        const earlier = session.loginId;
        session = await chosen(login);
        // As who makes room for another one removes it.
        const { pk, sk } = keys.userLogin(userId, earlier);
        await services.table.transact([{ name: 'session', remove: { pk, sk } }]);
      }
    };
    await endLogins(beforeWrites(changeTwice), userId);
    expect([isDone, await idsOf()]).toEqual([true, new Set()]);
  });

  test('ends them all, whatever a request may cost', async () => {
    await Promise.all(Array.from({ length: 60 }, openLogin));
    const table = meteredTable(services.table, newBudget(10));
    await endLogins({ ...services, table }, userId);
    expect(await idsOf()).toEqual(new Set());
  });
});
