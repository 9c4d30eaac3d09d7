import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isLong } from '../setup/long.ts';
import {
  mailedConfirmation,
  mailedLink,
  mailedReset,
  mailedUndo,
  mailsTo as mailsOf,
} from './mailed-link.ts';
import { newPerson, signIn, type TestPerson, tokenOf } from './people.ts';
import { type Answer, type Call, type Portico, startPortico } from './portico.ts';
import { createClient, projectOf } from './running.ts';
import { newAddress, password, signingIn } from './signing-in.ts';

let portico: Portico;

beforeAll(async () => {
  portico = await startPortico();
});
afterAll(() => portico.stop());

const api = (method: string, path: string, call: Call = {}): Promise<Answer> =>
  portico.api(method, path, call);
const post = (path: string, body: unknown) => api('POST', path, { body, token: null });
const userPath = ({ userId }: TestPerson) => `fhir/R4/User/${userId}`;

async function put(person: TestPerson, token: string, fields: Record<string, unknown>): Promise<Answer> {
  const { json } = await api('GET', userPath(person), { token });
  return api('PUT', userPath(person), { token, body: { ...json, ...fields } });
}

const mailsTo = (email: string, subject: string) => mailsOf(portico, email, subject);

const confirmation = (email: string) => mailedConfirmation(portico, email);

const confirm = (link: object, token: string | null): Promise<Answer> =>
  api('POST', 'auth/verifyemail', { body: link, token });

/** Asks for a new address and confirms it. */
async function move(person: TestPerson, token: string, email: string): Promise<Answer> {
  expect((await put(person, token, { email })).status).toBe(200);
  return confirm(await confirmation(email), token);
}

describe('a User', () => {
  /** Whom nothing changes. */
  let same: TestPerson;
  let token: string;
  beforeAll(async () => {
    same = await newPerson(portico);
    token = await tokenOf(portico, same);
  });

  test('changes the own names, and nothing that the server owns', async () => {
    const person = await newPerson(portico);
    const token = await tokenOf(portico, person);
    const answer = await put(person, token, {
      firstName: 'Anna',
      admin: true,
      mfaRequired: true,
      project: { reference: 'Project/x' },
    });
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ firstName: 'Anna', lastName: 'Lee', email: person.email });
    expect([answer.json.admin, answer.json.project, answer.json.mfaRequired]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const patch = [{ op: 'replace', path: '/lastName', value: 'Li' }];
    const patched = await api('PATCH', userPath(person), { token, body: patch });
    expect([patched.status, patched.json.lastName]).toEqual([200, 'Li']);
    expect((await api('GET', userPath(person), { token })).json).toEqual(patched.json);
    const stale = await api('PUT', userPath(person), {
      token,
      body: answer.json,
      headers: { 'if-match': 'W/"old"' },
    });
    expect(stale.status).toBe(412);
    const member = await api(
      'GET',
      `admin/projects/${projectOf(portico, 0).id}/members/${person.membershipId}`,
    );
    expect(member.json.user.display).toBe('Ann Lee');
  });

  test.each<[string, Record<string, unknown>]>([
    ['firstName', { firstName: '' }],
    ['lastName', { lastName: 'a\nb' }],
    ['email', { email: 'not an address' }],
    ['email', { email: 'a@x.com\r\nBcc: b@x.com' }],
  ])('is refused a wrong %s', async (field, fields) => {
    const answer = await put(same, token, fields);
    expect([answer.status, answer.json.issue[0].expression]).toEqual([400, [field]]);
  });

  test('is not changed through an app of one Project, which speaks for nobody beyond it', async () => {
    const person = same;
    const clientId = await signingIn(portico).newApp();
    const login = await signingIn(portico).login(person.email, { clientId });
    const tokens = await signingIn(portico).exchange(login.json.code, { client_id: clientId });
    const token = tokens.json.access_token;
    expect((await api('GET', userPath(person), { token })).status).toBe(403);
    for (const [name, value] of [
      ['firstName', 'X'],
      ['email', newAddress()],
    ]) {
      const body = [{ op: 'replace', path: `/${name}`, value }];
      expect((await api('PATCH', userPath(person), { token, body })).status).toBe(403);
    }
  });

  test('is patched at the price of any record: many moves among many members are too costly', async () => {
    const person = await newPerson(portico);
    const token = await tokenOf(portico, person);
    const members = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, at) => [3_000_000_000 + at * 17_000, 1]),
    );
    const move = (from: string, path: string) => ({ op: 'move', from, path });
    const body = [
      { op: 'add', path: '/q', value: members },
      ...Array.from({ length: 900 }, (_, at) => (at % 2 ? move('/r', '/q') : move('/q', '/r'))),
    ];
    const refused = await api('PATCH', userPath(person), { token, body });
    expect([refused.status, refused.json.issue[0].code]).toEqual([400, 'too-costly']);
  });

  test('is changed by nobody else, in no way: administrators, other people, programs', async () => {
    const person = same;
    const { token: client } = await createClient(portico);
    const other = await tokenOf(portico, await newPerson(portico));
    const body = {
      resourceType: 'User',
      id: person.userId,
      firstName: 'X',
      lastName: 'Y',
      email: newAddress(),
    };
    const patch = [{ op: 'replace', path: '/firstName', value: 'X' }];
    const entry = [{ resource: body, request: { method: 'PUT', url: `User/${person.userId}` } }];
    for (const token of [await portico.token(), client, other]) {
      const answers = [
        await api('PUT', userPath(person), { token, body }),
        await api('PATCH', userPath(person), { token, body: patch }),
        await api('DELETE', userPath(person), { token }),
        await api('PUT', `fhir/R4/User?_id=${person.userId}`, { token, body }),
        await api('POST', 'fhir/R4/User', { token, body }),
        await api('POST', 'fhir/R4', { token, body: { resourceType: 'Bundle', type: 'transaction', entry } }),
        await api('GET', userPath(person), { token }),
        await api('GET', 'fhir/R4/User', { token }),
      ];
      expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(403));
    }
    const scoped = await tokenOf(portico, person, { scope: 'user/*.cruds' });
    expect((await api('PUT', userPath(person), { token: scoped, body })).status).toBe(403);
  });
});

describe('a change of address', () => {
  test('holds once the new address is confirmed; the old one is told, and kept for them', async () => {
    const person = await newPerson(portico);
    const token = await tokenOf(portico, person);
    const email = newAddress();
    const asked = await put(person, token, { email });
    expect([asked.status, asked.json.email]).toEqual([200, person.email]);
    const link = await confirmation(email);
    expect((await signIn(portico, person)).status).toBe(200);
    expect((await signIn(portico, { email })).status).toBe(400);
    expect((await api('GET', 'auth/verifyemail', { token: null })).status).toBe(405);
    const wrong = await confirm({ ...link, secret: 'x'.repeat(43) }, token);
    expect(wrong.status).toBe(400);

    const two = await Promise.all([confirm(link, token), confirm(link, token)]);
    expect(two.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect((await signIn(portico, person)).status).toBe(400);
    expect((await signIn(portico, { email })).status).toBe(200);
    expect((await api('GET', userPath(person), { token })).json.email).toBe(email);
    const [notice] = await mailsTo(person.email, 'Your address was changed');
    expect(notice?.text).not.toContain(email);
    // To invite it is to invite them, where they are no member yet.
    const body = {
      resourceType: 'Patient',
      firstName: 'A',
      lastName: 'B',
      email: person.email,
      sendEmail: false,
    };
    const again = await api('POST', `admin/projects/${projectOf(portico, 0).id}/invite`, { body });
    expect([again.status, again.json.issue[0].code]).toEqual([409, 'conflict']);
    const elsewhere = await signingIn(portico).invite(person.email, 1);
    expect(elsewhere.user.reference).toBe(`User/${person.userId}`);
  });

  test('is undone from the address before, which ends every session; opening the link changes nothing', async () => {
    const person = await newPerson(portico);
    const token = await tokenOf(portico, person);
    const email = newAddress();
    expect((await move(person, token, email)).status).toBe(200);
    const link = await mailedUndo(portico, person.email);
    expect((await api('GET', 'auth/undoaddress', { token: null })).status).toBe(405);
    expect((await api('GET', 'app/undo', { token: null })).status).toBe(200);
    expect((await post('auth/undoaddress', { ...link, secret: 'x'.repeat(43) })).status).toBe(400);
    expect((await post('auth/verifyemail', { ...link, password })).status).toBe(400);
    expect((await api('GET', userPath(person), { token })).json.email).toBe(email);

    const two = await Promise.all([post('auth/undoaddress', link), post('auth/undoaddress', link)]);
    expect(two.map(({ status }) => status)).toContain(200);
    expect((await api('GET', userPath(person), { token })).status).toBe(401);
    for (const address of [person.email, email])
      expect((await signIn(portico, { email: address })).status).toBe(400);
    await mailsTo(person.email, 'Your address is yours again');
    await mailsTo(email, 'The change of your address was undone');
    await post('auth/resetpassword', { email: person.email });
    const reset = { ...(await mailedReset(portico, person.email)), password: 'a quite new password' };
    expect((await post('auth/setpassword', reset)).status).toBe(200);
    const login = await signIn(portico, person, { password: reset.password });
    const { json } = await api('GET', userPath(person), { token: login.json.access_token });
    expect(json.email).toBe(person.email);
    const members = `admin/projects/${projectOf(portico, 0).id}/members/${person.membershipId}`;
    expect((await api('GET', members)).json.userName).toBe(person.email);
  });

  test('is not made by who presses the link but did not ask: the address stays theirs', async () => {
    const [stranger, victim] = [await newPerson(portico), newAddress()];
    const token = await tokenOf(portico, stranger);
    await put(stranger, token, { email: victim });
    const link = await confirmation(victim);
    const refuse = 'Sign in as the person who asked for this address, or give their password';
    const bystander = await newPerson(portico);
    const app = await signingIn(portico).newApp();
    const at = signingIn(portico);
    const throughApp = await at.exchange((await at.login(stranger.email, { clientId: app })).json.code, {
      client_id: app,
    });
    for (const by of [
      null,
      await tokenOf(portico, bystander),
      await portico.token(),
      throughApp.json.access_token,
      await tokenOf(portico, stranger, { scope: 'user/*.rs' }),
    ]) {
      const answer = await confirm(link, by);
      expect([answer.status, answer.json.issue[0].details.text]).toEqual([403, refuse]);
    }
    expect((await confirm(link, 'a.b.c')).status).toBe(401);
    // The victim's own password, which a page might get out of them, is of no use either.
    const guessed = await confirm({ ...link, password: 'the password of the victim' }, null);
    expect([guessed.status, guessed.json.issue[0].expression]).toEqual([400, ['password']]);
    // An invitation makes the victim a User of their own.
    const invited = await signingIn(portico).invite(victim, 0, { admin: true });
    expect(invited.user.reference).not.toBe(`User/${stranger.userId}`);
    // Who asked may confirm; but the address is somebody's by now.
    expect((await confirm(link, token)).status).toBe(409);
    expect((await api('GET', userPath(stranger), { token })).json.email).toBe(stranger.email);
  });

  test('is made by who asked with their password, where they are not signed in', async () => {
    const person = await newPerson(portico);
    const token = await tokenOf(portico, person);
    const email = newAddress();
    await put(person, token, { email });
    const link = await confirmation(email);
    for (const wrong of ['', 'not the one', 7, { $ne: 1 }, 'x'.repeat(5000)]) {
      expect([400, 403]).toContain((await confirm({ ...link, password: wrong }, null)).status);
    }
    expect((await confirm({ ...link, password }, null)).status).toBe(200);
    expect((await signIn(portico, { email })).status).toBe(200);
  });

  test('a right password does not count among the tries', async () => {
    const person = await newPerson(portico);
    const token = await tokenOf(portico, person);
    const ask = async () => {
      const email = newAddress();
      await put(person, token, { email });
      return confirmation(email);
    };
    const first = await ask();
    for (let i = 0; i < 9; i++) await confirm({ ...first, password: 'a wrong one' }, null);
    expect((await confirm({ ...first, password }, null)).status).toBe(200);
    expect((await confirm({ ...(await ask()), password }, null)).status).toBe(200);
  });

  test('is not made by guessing that password', async () => {
    const person = await newPerson(portico);
    await put(person, await tokenOf(portico, person), { email: newAddress() });
    const email = newAddress();
    await put(person, await tokenOf(portico, person), { email });
    const link = await confirmation(email);
    const guesses = await Promise.all(
      Array.from({ length: 14 }, (_, i) => confirm({ ...link, password: `a guess ${i}` }, null)),
    );
    expect(guesses.filter(({ status }) => status === 429).length).toBeGreaterThan(0);
    expect(guesses.filter(({ status }) => status === 200)).toEqual([]);
  });

  test('follows in every Project: the member is found under the new address', async () => {
    const person = await newPerson(portico);
    const at = signingIn(portico);
    const externalId = randomUUID();
    const second = await at.invite(person.email, 1, { externalId });
    const token = await tokenOf(portico, person, { projectId: projectOf(portico, 0).id });
    const email = newAddress();
    expect((await move(person, token, email)).status).toBe(200);

    const body = { resourceType: 'Practitioner', firstName: 'Ann', lastName: 'Lee', email, sendEmail: false };
    const first = await api('POST', `admin/projects/${projectOf(portico, 0).id}/invite`, { body });
    expect(first.status).toBe(409);
    expect((await at.invite(email, 1)).id).toBe(second.id);
    expect((await at.invite(email, 1, { externalId })).id).toBe(second.id);
    const members = `admin/projects/${projectOf(portico, 0).id}/members`;
    const found = async (text: string) => (await api('GET', `${members}?text=${text}`)).json.entry;
    expect(await found(person.email)).toBeUndefined();
    expect(await found(email)).toMatchObject([{ resource: { id: person.membershipId, userName: email } }]);
    expect((await api('DELETE', `${members}/${person.membershipId}`)).status).toBe(200);
    const again = await at.invite(email);
    expect(again.profile.reference).toBe(person.profile);
  });

  test('to an address that somebody has asks alike, and is refused to who confirms it', async () => {
    const [person, other] = [await newPerson(portico), await newPerson(portico)];
    const token = await tokenOf(portico, person);
    const answer = await move(person, token, other.email);
    expect([answer.status, answer.json.issue[0].code]).toEqual([409, 'conflict']);
    expect((await signIn(portico, person)).status).toBe(200);
    expect((await signIn(portico, other)).status).toBe(200);
  });

  test('asked for again kills the link before', async () => {
    const person = await newPerson(portico);
    const token = await tokenOf(portico, person);
    const [first, second] = [newAddress(), newAddress()];
    await put(person, token, { email: first });
    const old = await confirmation(first);
    await put(person, token, { email: second });
    expect((await confirm(old, token)).status).toBe(400);
    expect((await confirm(await confirmation(second), token)).status).toBe(200);
  });

  test('may be asked for five times a day', async () => {
    const person = await newPerson(portico);
    const token = await tokenOf(portico, person);
    const statuses = [];
    for (let i = 0; i < 6; i++) statuses.push((await put(person, token, { email: newAddress() })).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  });

  test('races invites to the new and the old address: one User per address, one membership each', async () => {
    const project = projectOf(portico, 0).id;
    for (let round = 0; round < (isLong ? 6 : 2); round++) {
      const person = await newPerson(portico);
      const token = await tokenOf(portico, person);
      const email = newAddress();
      await put(person, token, { email });
      const link = await confirmation(email);
      const body = { resourceType: 'Patient', firstName: 'A', lastName: 'B', sendEmail: false };
      const invite = (of: 0 | 1, address: string) =>
        portico.token(projectOf(portico, of)).then((by) =>
          api('POST', `admin/projects/${projectOf(portico, of).id}/invite`, {
            token: by,
            body: { ...body, email: address },
          }),
        );
      const [moved, ...invites] = await Promise.all([
        confirm(link, token),
        invite(1, email),
        invite(1, person.email),
        invite(0, email),
      ]);
      for (const { status } of [moved, ...invites]) expect([200, 409]).toContain(status);
      const items = await portico.local.scan();
      const locks = new Map(
        items.filter(({ pk }) => pk.startsWith('E#')).map(({ pk, userId }) => [pk.slice(2), userId]),
      );
      const now = (await api('GET', userPath(person), { token })).json.email;
      expect(now).toBe(moved.status === 200 ? email : person.email);
      expect(locks.get(now)).toBe(person.userId);
      // Whatever a Project knows by an address leads to the User who has it.
      for (const item of items.filter(
        ({ pk, userId }) => /#PERSON#E:/.test(pk) && userId === person.userId,
      )) {
        // Who is invited by the address that is kept for them is known by it there.
        const names = item.pk.startsWith(`P#${project}#`) ? [now] : [now, person.email];
        if (Object.keys(item.memberships as object).length > 0)
          expect(names).toContain(item.pk.split('#PERSON#E:')[1]);
      }
      for (const item of items.filter(
        (one) => one.userId === person.userId && /#ProjectMembership#/.test(one.pk),
      )) {
        const names = item.pk.startsWith(`P#${project}#`) ? [now] : [now, person.email];
        if (item.sk === 'HEAD' && item.deleted !== true)
          expect(names.map((name) => `E:${name}`)).toContain(item.login);
      }
      expect((await api('GET', `admin/projects/${project}/members/${person.membershipId}`)).status).toBe(200);
    }
  });
});

describe('a User of one Project', () => {
  const invite = (fields: Record<string, unknown>) => {
    const project = projectOf(portico, 0).id;
    const body = { resourceType: 'Patient', firstName: 'Pat', lastName: 'Ient', scope: 'project', ...fields };
    return api('POST', `admin/projects/${project}/invite`, { body });
  };
  const setPassword = (body: Record<string, unknown>, call: Call = {}) =>
    api('POST', `admin/projects/${projectOf(portico, 0).id}/setpassword`, { ...call, body });

  test('is one per address or external id and Project, and another above Projects may have the address', async () => {
    const email = newAddress();
    const above = await signingIn(portico).invite(email, 1);
    const first = await invite({ email, sendEmail: false });
    expect(first.status).toBe(200);
    expect(first.json.user.reference).not.toBe(above.user.reference);
    expect((await invite({ email, sendEmail: false })).json.id).toBe(first.json.id);
    const externalId = randomUUID();
    const one = await invite({ externalId });
    const two = await invite({ externalId });
    expect(two.json.id).toBe(one.json.id);
    const taken = await invite({ externalId, email: newAddress(), resourceType: 'Practitioner' });
    expect(taken.status).toBe(409);
  });

  test('signs in with the Project, by a password that an administrator sets', async () => {
    const email = newAddress();
    expect((await invite({ email, password: 'first password' })).status).toBe(200);
    const link = await mailedLink(portico, email);
    expect((await post('auth/setpassword', { ...link, password: 'first password' })).status).toBe(200);
    const projectId = projectOf(portico, 0).id;
    expect((await signIn(portico, { email }, { projectId, password: 'first password' })).status).toBe(200);
    expect((await signIn(portico, { email }, { password: 'first password' })).status).toBe(400);
    const token = await tokenOf(portico, { email }, { projectId, password: 'first password' });
    expect((await setPassword({ email, password: 'second password' })).status).toBe(200);
    expect((await api('GET', 'auth/me', { token })).status).toBe(401);
    expect((await signIn(portico, { email }, { projectId, password: 'first password' })).status).toBe(400);
    expect((await signIn(portico, { email }, { projectId, password: 'second password' })).status).toBe(200);
  });

  test('gets it from an administrator of that Project only, and nobody above Projects does', async () => {
    const person = await newPerson(portico);
    const new_ = { email: person.email, password: 'a stolen account' };
    const refused = await setPassword(new_);
    expect([refused.status, refused.json.issue[0].details.text]).toEqual([
      400,
      'Only the user may set the password of a user above Projects',
    ]);
    expect((await signIn(portico, person)).status).toBe(200);
    const email = newAddress();
    await invite({ email, sendEmail: false });
    const { token } = await createClient(portico);
    expect((await setPassword({ email, password }, { token })).status).toBe(403);
    const other = await portico.token(projectOf(portico, 1));
    expect((await setPassword({ email, password }, { token: other })).status).toBe(403);
    expect((await setPassword({ email: newAddress(), password })).status).toBe(404);
    expect((await setPassword({ email, password: 'short' })).status).toBe(400);
    expect((await setPassword({ password })).status).toBe(400);
  });

  test('gets it by the path that names no Project: that of the administrator’s token', async () => {
    const email = newAddress();
    const projectId = projectOf(portico, 0).id;
    await invite({ email });
    const link = await mailedLink(portico, email);
    expect((await post('auth/setpassword', { ...link, password: 'first password' })).status).toBe(200);
    const set = (token: string | undefined, body: object = { email, password }) =>
      api('POST', 'admin/projects/setpassword', { body, ...(token ? { token } : {}) });
    const other = await portico.token(projectOf(portico, 1));
    expect((await set(other)).status).toBe(404);
    expect((await set((await createClient(portico)).token)).status).toBe(403);
    expect((await set(undefined, { email, password: 'short' })).status).toBe(400);
    expect((await signIn(portico, { email }, { projectId })).status).toBe(400);
    const done = await set(undefined);
    expect([done.status, done.json.issue[0].severity]).toEqual([200, 'information']);
    const above = await newPerson(portico);
    expect((await set(undefined, { email: above.email, password: 'a stolen account' })).status).toBe(400);
    expect((await signIn(portico, { email }, { projectId })).status).toBe(200);
  });

  test('changes the own address inside the Project alone', async () => {
    const email = newAddress();
    const projectId = projectOf(portico, 0).id;
    const invited = await invite({ email });
    await post('auth/setpassword', { ...(await mailedLink(portico, email)), password });
    const userId = invited.json.user.reference.replace('User/', '');
    const person = { email, userId, membershipId: invited.json.id, profile: invited.json.profile.reference };
    const token = await tokenOf(portico, person, { projectId });
    const next = newAddress();
    expect((await move(person, token, next)).status).toBe(200);
    expect((await signIn(portico, { email: next }, { projectId })).status).toBe(200);
    expect((await signIn(portico, { email }, { projectId })).status).toBe(400);
    expect((await portico.local.scan()).some(({ pk }) => pk === `E#${next}`)).toBe(false);
  });
});

describe('leaving', () => {
  test('a Project by oneself leaves the other memberships as they are', async () => {
    const person = await newPerson(portico);
    const at = signingIn(portico);
    await at.invite(person.email, 1);
    const other = await at.post('auth/setpassword', {
      ...(await mailedLink(portico, person.email, (id) => id.startsWith(projectOf(portico, 1).id))),
      password,
    });
    expect(other.status).toBe(200);
    const [here, there] = [projectOf(portico, 0).id, projectOf(portico, 1).id];
    const token = await tokenOf(portico, person, { projectId: here });
    const elsewhere = await tokenOf(portico, person, { projectId: there });
    expect(
      (await api('DELETE', `admin/projects/${here}/members/${person.membershipId}`, { token })).status,
    ).toBe(200);
    expect((await api('GET', 'auth/me', { token })).status).toBe(401);
    expect((await api('GET', 'auth/me', { token: elsewhere })).status).toBe(200);
    expect((await api('GET', `fhir/R4/${person.profile}`)).status).toBe(200);
  });
});
