import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { keys } from '../../shared/carry/table/keys.ts';
import { mailedLink } from './mailed-link.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';

let portico: Portico;
let project = '';
beforeAll(async () => {
  portico = await startPortico();
  project = portico.projects[0]?.id ?? '';
});
afterAll(() => portico.stop());

const password = 'correct horse battery';

async function invite(email: string, change: object = {}, projectIndex = 0): Promise<Answer> {
  const of = portico.projects[projectIndex];
  const body = { resourceType: 'Practitioner', firstName: 'Ann', lastName: 'Lee', email, ...change };
  const answer = await portico.api('POST', `admin/projects/${of?.id}/invite`, {
    body,
    token: await portico.token(of),
  });
  expect(answer.status).toBe(200);
  return answer;
}

function accept(body: object): Promise<Answer> {
  return portico.api('POST', 'auth/setpassword', { body, token: null });
}

async function stateOf(membershipId: string): Promise<{ active: boolean; state: string }> {
  const { json } = await portico.api('GET', `admin/projects/${project}/members/${membershipId}`);
  return { active: json.active, state: json.extension[0].extension[0].valueCode };
}

const newAddress = () => `person-${randomUUID()}@example.com`;

function expectDead({ status, json }: Answer) {
  expect([status, json.issue]).toEqual([
    400,
    [{ severity: 'error', code: 'invalid', details: { text: 'This link is not valid any more' } }],
  ]);
}

describe('a new person', () => {
  test('accepts with a password, once', async () => {
    const email = newAddress();
    const { json } = await invite(email);
    expect(await stateOf(json.id)).toEqual({ active: false, state: 'pending' });
    const link = await mailedLink(portico, email);
    expect((await accept({ ...link, password })).status).toBe(200);
    expect(await stateOf(json.id)).toEqual({ active: true, state: 'accepted' });
    expectDead(await accept({ ...link, password }));
    const userId = json.user.reference.replace('User/', '');
    const stored = (await portico.local.store.read([keys.password(userId)])).get(keys.password(userId));
    expect(stored?.hash).toMatch(/^\$argon2id\$/);
  });

  test('does not use the link up by opening it, nor by a password that is too short', async () => {
    const email = newAddress();
    const { json } = await invite(email);
    const link = await mailedLink(portico, email);
    await fetch(`${portico.baseUrl}/auth/setpassword?${new URLSearchParams(link)}`);
    await fetch(`${portico.baseUrl}/app/accept`, { method: 'HEAD' });
    const short = await accept({ ...link, password: 'short' });
    expect([short.status, short.json.issue[0].expression]).toEqual([400, ['password']]);
    expect(await stateOf(json.id)).toEqual({ active: false, state: 'pending' });
    expect((await accept({ ...link, password })).status).toBe(200);
  });

  test('of two who accept at once one succeeds, and its password stands', async () => {
    const email = newAddress();
    await invite(email);
    const link = await mailedLink(portico, email);
    const answers = await Promise.all(
      [1, 2, 3, 4].map((n) => accept({ ...link, password: `${password}${n}` })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expect(answer.status).toBe(400);
      expect(answer.json.resourceType).toBe('OperationOutcome');
    }
  });

  test('is counted as an administrator from then on', async () => {
    const count = async () =>
      Number(
        (await portico.local.store.read([keys.administrators(project)])).get(keys.administrators(project))
          ?.count,
      );
    const before = await count();
    const email = newAddress();
    await invite(email, { admin: true });
    expect(await count()).toBe(before);
    expect((await accept({ ...(await mailedLink(portico, email)), password })).status).toBe(200);
    expect(await count()).toBe(before + 1);
  });

  test('leaves an AuditEvent', async () => {
    const email = newAddress();
    const { json } = await invite(email);
    await accept({ ...(await mailedLink(portico, email)), password });
    const events = (await portico.local.scan('#AuditEvent#')).filter(({ content }) =>
      String(content).includes(json.id),
    );
    expect(events.map(({ content }) => JSON.parse(String(content)).subtype[0].code).sort()).toEqual([
      'accept',
      'invite',
    ]);
  });
});

describe('what a link tells whoever holds it', () => {
  const read = (body: object) => portico.api('POST', 'auth/invitation', { body, token: null });

  test('who invites whom to what, and how it is accepted; nothing is used up', async () => {
    const email = newAddress();
    await invite(email);
    const link = await mailedLink(portico, email);
    const first = await read(link);
    expect([first.status, first.json]).toEqual([
      200,
      {
        project: { reference: `Project/${project}`, display: portico.projects[0]?.name },
        name: 'Ann Lee',
        email,
        inviter: expect.any(String),
        profileType: 'Practitioner',
        expires: expect.stringMatching(/^20/),
        method: 'new-password',
      },
    ]);
    expect((await read(link)).status).toBe(200);
    expect((await accept({ ...link, password })).status).toBe(200);
    expectDead(await read(link));
    await invite(email, {}, 1);
    const second = await mailedLink(portico, email, (id) => id.startsWith(`${portico.projects[1]?.id}`));
    expect((await read(second)).json.method).toBe('own-password');
    expectDead(await read({ ...second, secret: `${second.secret.slice(0, -1)}_` }));
    expectDead(await read({ id: 'a.b.1', secret: 'c' }));
  });
});

describe('a person with a password', () => {
  test('accepts with that password, which the link does not change', async () => {
    const email = newAddress();
    const first = await invite(email);
    await accept({ ...(await mailedLink(portico, email)), password });
    const userId = first.json.user.reference.replace('User/', '');
    const key = keys.password(userId);
    const hash = (await portico.local.store.read([key])).get(key)?.hash;

    const second = await invite(email, {}, 1);
    expect(second.json.user.reference).toBe(first.json.user.reference);
    const link = await mailedLink(portico, email, (id) => id.startsWith(`${portico.projects[1]?.id}.`));
    const other = await accept({ ...link, password: 'another password' });
    expect([other.status, other.json.issue[0].expression]).toEqual([400, ['password']]);
    expect((await accept({ ...link, password })).status).toBe(200);
    expect((await portico.local.store.read([key])).get(key)?.hash).toBe(hash);
  });

  test('is not guessed at through a link', async () => {
    const email = newAddress();
    await invite(email);
    await accept({ ...(await mailedLink(portico, email)), password });
    await invite(email, {}, 1);
    const link = await mailedLink(portico, email, (id) => id.startsWith(`${portico.projects[1]?.id}.`));
    const tries = Array.from({ length: 12 }, () => accept({ ...link, password: 'a guess of it' }));
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
  });
});

describe('a link leads nowhere', () => {
  test('when made up, in whichever part', async () => {
    const email = newAddress();
    const { json } = await invite(email);
    const { id, secret } = await mailedLink(portico, email);
    const [own = '', membership = ''] = id.split('.');
    const other = await invite(newAddress());
    for (const change of [
      { secret: `${secret.slice(0, -2)}AA` },
      { secret: '' },
      { secret: undefined },
      { secret: 'x'.repeat(10_000) },
      { id: undefined },
      { id: { $ne: 1 } },
      { id: { toString: 1 } },
      { id: `${own}.${membership}.2` },
      { id: `${own}.${other.json.id}.1` },
      { id: `${portico.projects[1]?.id}.${membership}.1` },
      { id: '__proto__' },
      { id: '../../x' },
    ]) {
      expectDead(await accept({ id, secret, password, ...change }));
    }
    expectDead(await accept([]));
    expect(await stateOf(json.id)).toEqual({ active: false, state: 'pending' });
  });

  test('when a later one was sent', async () => {
    const email = newAddress();
    await invite(email);
    const first = await mailedLink(portico, email);
    await invite(email, { admin: true, upsert: true });
    const second = await mailedLink(portico, email, (id) => id !== first.id);
    expectDead(await accept({ ...first, password }));
    expect((await accept({ ...second, password })).status).toBe(200);
  });

  test('when it has expired', async () => {
    const email = newAddress();
    const { json } = await invite(email);
    const link = await mailedLink(portico, email);
    await portico.local.store.update({
      Key: keys.resource(project, 'ProjectMembership', json.id),
      UpdateExpression: 'SET invitation.expiresAtMs = :past',
      ExpressionAttributeValues: { ':past': Date.now() - 1 },
    });
    expectDead(await accept({ ...link, password }));
    expect(await stateOf(json.id)).toEqual({ active: false, state: 'expired' });
  });
});
