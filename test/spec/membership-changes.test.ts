import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mailedLink } from './mailed-link.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';

let portico: Portico;
let members = '';
let invitePath = '';
beforeAll(async () => {
  portico = await startPortico();
  members = `admin/projects/${portico.projects[0]?.id}/members`;
  invitePath = `admin/projects/${portico.projects[0]?.id}/invite`;
});
afterAll(() => portico.stop());

const password = 'correct horse battery';
const newAddress = () => `person-${randomUUID()}@example.com`;

async function invite(change: object = {}): Promise<Answer['json']> {
  const body = {
    resourceType: 'Practitioner',
    firstName: 'Ann',
    lastName: 'Lee',
    email: newAddress(),
    sendEmail: false,
    ...change,
  };
  const answer = await portico.api('POST', invitePath, { body });
  expect(answer.status).toBe(200);
  return answer.json;
}

async function accept(email: string, isOther?: (id: string) => boolean): Promise<Answer> {
  const link = await mailedLink(portico, email, isOther);
  return portico.api('POST', 'auth/setpassword', { body: { ...link, password }, token: null });
}

/** A member who has accepted. */
async function member(change: object = {}): Promise<Answer['json']> {
  const email = newAddress();
  const { id } = await invite({ email, sendEmail: true, ...change });
  expect((await accept(email)).status).toBe(200);
  return { ...(await portico.api('GET', `${members}/${id}`)).json, email };
}

const change = (id: string, body: unknown) => portico.api('POST', `${members}/${id}`, { body });
const remove = (id: string) => portico.api('DELETE', `${members}/${id}`);
const stateOf = ({ json }: Answer) => json.extension[0].extension[0].valueCode;

/** What the list is sorted by, and the first name. */
const sortName = ({ profile }: Answer['json']) =>
  `${profile.display.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()}|${profile.display.split(' ')[0]}`;

describe('the list of members', () => {
  test('is filtered by profile type and by state, and paged', async () => {
    const patients = [await invite({ resourceType: 'Patient' }), await invite({ resourceType: 'Patient' })];
    const accepted = await member({ resourceType: 'Patient' });
    const ids = async (query: string) => {
      const answer = await portico.api('GET', `${members}?${query}`);
      expect(answer.status).toBe(200);
      return (answer.json.entry ?? []).map((entry: { resource: { id: string } }) => entry.resource.id).sort();
    };
    expect(await ids('profile-type=Patient')).toEqual([...patients, accepted].map(({ id }) => id).sort());
    expect(await ids('profile-type=Patient&state=pending')).toEqual(patients.map(({ id }) => id).sort());
    expect(await ids('profile-type=Patient&state=accepted')).toEqual([accepted.id]);
    expect(await ids('profile-type=Patient&state=revoked')).toEqual([]);

    const first = await portico.api('GET', `${members}?profile-type=Patient&_count=2`);
    const next = first.json.link.find(({ relation }: { relation: string }) => relation === 'next').url;
    const second = await portico.api('GET', next.replace(`${portico.baseUrl}/`, ''));
    const all = [...first.json.entry, ...second.json.entry];
    expect(new Set(all.map(({ resource }) => resource.id)).size).toBe(3);
    expect(all.every(({ resource }) => resource.extension)).toBe(true);
  });

  test.each([
    [1, [1, 1, 1]],
    [2, [2, 1]],
    [3, [3]],
    [4, [3]],
  ])('of three by pages of %i ends with the last of them, which names no next page', async (count, sizes) => {
    const tag = randomUUID().slice(0, 8);
    for (const lastName of ['A', 'B', 'C']) await invite({ lastName: `${lastName} ${tag}` });
    const found: number[] = [];
    for (let path = `${members}?text=${tag}&_count=${count}`; path !== '' && found.length < 9; ) {
      const { json } = await portico.api('GET', path);
      found.push((json.entry ?? []).length);
      const next = json.link.find(({ relation }: { relation: string }) => relation === 'next');
      path = next ? next.url.replace(`${portico.baseUrl}/`, '') : '';
    }
    expect(found).toEqual(sizes);
  });

  test('is searched by name and address, sorted by either, counted, and filtered by role and policy', async () => {
    const policy = await portico.api('POST', 'fhir/R4/AccessPolicy', {
      body: { resourceType: 'AccessPolicy', name: 'Ward 7', resource: [{ resourceType: 'Patient' }] },
    });
    const accessPolicy = { reference: `AccessPolicy/${policy.json.id}` };
    const tag = randomUUID().slice(0, 8);
    const people = [
      { firstName: 'Zoë', lastName: `Quast ${tag}`, email: `a-${tag}@example.com`, accessPolicy },
      {
        ...{ firstName: 'Ann', lastName: `Quast ${tag}`, email: `b-${tag}@clinic.test` },
        ...{ resourceType: 'Practitioner', emergencyPolicy: accessPolicy },
      },
      { firstName: 'Max', lastName: `Other ${tag}`, email: `c-${tag}@example.com`, admin: true },
    ];
    for (const one of people) await invite(one);
    const list = async (query: object) => {
      const answer = await portico.api('GET', `${members}?${new URLSearchParams({ ...query })}`);
      expect(answer.status).toBe(200);
      const all: Answer['json'][] = (answer.json.entry ?? []).map((entry: Answer['json']) => entry.resource);
      return { ...answer.json, all, names: all.map(({ profile }) => profile.display.split(' ')[0]) };
    };
    expect((await list({ text: tag })).names).toEqual(['Ann', 'Max', 'Zoë']);
    expect((await list({ text: tag, _sort: '-name' })).names).toEqual(['Zoë', 'Max', 'Ann']);
    expect((await list({ text: tag, _sort: 'address' })).names).toEqual(['Zoë', 'Ann', 'Max']);
    expect((await list({ text: `ZOE ${tag}` })).names).toEqual(['Zoë']);
    expect((await list({ text: `b-${tag}@cli` })).names).toEqual(['Ann']);
    expect((await list({ text: 'clinic.test', _total: 'accurate' })).total).toBeGreaterThan(0);
    expect((await list({ text: tag, admin: 'true' })).names).toEqual(['Max']);
    expect((await list({ text: tag, state: 'accepted' })).names).toEqual([]);
    const held = await list({ 'access-policy': accessPolicy.reference, _total: 'accurate' });
    expect([held.names, held.total, held.all[0].accessPolicy.display]).toEqual([['Zoë'], 1, 'Ward 7']);
    expect(held.all[0].userName).toBe(`a-${tag}@example.com`);
    const byEmergency = { 'emergency-policy': accessPolicy.reference };
    expect((await list(byEmergency)).names).toEqual(['Ann']);
    const search = `fhir/R4/ProjectMembership?${new URLSearchParams(byEmergency)}&_summary=count`;
    expect((await portico.api('GET', search)).json.total).toBe(1);
    const [ann] = (await list(byEmergency)).all;
    await portico.api('POST', `${members}/${ann.id}`, { body: { emergencyPolicy: null } });
    expect((await portico.api('GET', search)).json.total).toBe(0);

    for (const _sort of ['name', '-name', 'address', '-address']) {
      const whole = await list({ text: tag, _sort });
      const [first, next] = [await list({ text: tag, _sort, _count: '2', _total: 'accurate' }), 'next'];
      const { url } = first.link.find(({ relation }: { relation: string }) => relation === next);
      const rest = await list(Object.fromEntries(new URL(url).searchParams));
      expect([first.total, [...first.names, ...rest.names]]).toEqual([3, whole.names]);
    }
    const everybody = await list({ 'profile-type': 'Practitioner', _count: '1', _total: 'accurate' });
    const all = await list({ 'profile-type': 'Practitioner', _count: '1000' });
    expect(everybody.total).toBe(all.all.length);
    expect(all.names).toEqual(
      [...all.all]
        .map(sortName)
        .sort()
        .map((name) => name.split('|')[1]),
    );
  });

  test('is refused to others, and with parameters it does not know', async () => {
    const other = await portico.token(portico.projects[1]);
    expect((await portico.api('GET', members, { token: other })).status).toBe(403);
    expect((await portico.api('GET', members, { token: null })).status).toBe(401);
    for (const wrong of ['name=x', 'profile-type=Nurse', '_sort=password', `text=${'w '.repeat(11)}`]) {
      expect((await portico.api('GET', `${members}?${wrong}`)).status).toBe(400);
    }
    expect((await portico.api('GET', `${members}?state=lost`)).status).toBe(400);
  });
});

describe('a change of a membership', () => {
  test('gives a policy and a role, keeps what it does not name, and takes away with null', async () => {
    const policy = { resourceType: 'AccessPolicy', name: 'Nurse', resource: [{ resourceType: 'Patient' }] };
    const created = await portico.api('POST', 'fhir/R4/AccessPolicy', { body: policy });
    const accessPolicy = { reference: `AccessPolicy/${created.json.id}` };
    const { id } = await member();
    expect((await change(id, { accessPolicy })).json).toMatchObject({ accessPolicy, active: true });
    expect((await change(id, { admin: true })).json).toMatchObject({ accessPolicy, admin: true });
    const without = (await change(id, { accessPolicy: null })).json;
    expect(without).toMatchObject({ admin: true });
    expect(without.accessPolicy).toBeUndefined();
    expect((await portico.api('GET', `${members}/${id}`)).json).toEqual(without);
  });

  test('never changes project, user or profile', async () => {
    const { id } = await member();
    const before = (await portico.api('GET', `${members}/${id}`)).json;
    expect((await change(id, before)).status).toBe(200);
    for (const field of ['project', 'user', 'profile']) {
      const answer = await change(id, { [field]: { reference: 'Practitioner/other' } });
      expect([answer.status, answer.json.issue[0].expression]).toEqual([400, [field]]);
    }
  });

  test('is an object: a list is none', async () => {
    const { id } = await member();
    for (const body of [[], [{ admin: true }]]) {
      expect((await portico.api('POST', `${members}/${id}`, { body })).status).toBe(400);
    }
  });

  test('is refused for what the Project does not have', async () => {
    const { id } = await member();
    for (const [field, reference] of [
      ['accessPolicy', 'AccessPolicy/none'],
      ['accessPolicy', 'Patient/none'],
      ['patient', 'Patient/none'],
    ] as const) {
      const answer = await change(id, { [field]: { reference } });
      expect([answer.status, answer.json.issue[0].expression]).toEqual([400, [field]]);
    }
    expect((await change('none', { admin: true })).status).toBe(404);
    const token = await portico.token(portico.projects[1]);
    expect((await portico.api('POST', `${members}/${id}`, { body: {}, token })).status).toBe(403);
  });

  test('makes nobody a member who has not accepted', async () => {
    const { id } = await invite();
    const answer = await change(id, { active: true });
    expect([answer.status, answer.json.issue[0].expression]).toEqual([400, ['active']]);
  });

  test('makes no Patient an administrator', async () => {
    const { id } = await member({ resourceType: 'Patient' });
    expect((await change(id, { admin: true })).status).toBe(400);
  });
});

describe('a removed member', () => {
  test('is gone, once, and leaves the profile to a later invite', async () => {
    const { id, profile, user, email } = await member();
    const gone = await remove(id);
    expect([gone.status, gone.json.resourceType]).toEqual([200, 'OperationOutcome']);
    expect((await remove(id)).status).toBe(404);
    expect((await portico.api('GET', `${members}/${id}`)).status).toBe(404);
    expect((await portico.api('GET', `fhir/R4/${profile.reference}`)).status).toBe(200);

    const again = await invite({ email });
    expect(again.id).not.toBe(id);
    expect([again.profile.reference, again.user.reference]).toEqual([profile.reference, user.reference]);
  });

  test('whose profile was deleted meanwhile gets another', async () => {
    const { id, profile, email } = await member();
    expect((await portico.api('DELETE', `fhir/R4/${profile.reference}`)).status).toBe(409);
    await remove(id);
    expect((await portico.api('DELETE', `fhir/R4/${profile.reference}`)).status).toBeLessThan(300);
    expect((await invite({ email })).profile.reference).not.toBe(profile.reference);
  });

  test('cannot accept any more', async () => {
    const email = newAddress();
    const { id } = await invite({ email, sendEmail: true });
    const link = await mailedLink(portico, email);
    await remove(id);
    const late = await portico.api('POST', 'auth/setpassword', { body: { ...link, password }, token: null });
    expect(late.status).toBe(400);
  });

  test('is never a program: those end with their own resource', async () => {
    const { json } = await portico.api('GET', 'auth/me');
    expect((await remove(json.membership.id)).status).toBe(400);
  });
});

describe('the last administrator', () => {
  test('is neither removed, nor demoted, nor deactivated, even at once with another', async () => {
    const list = await portico.api('GET', `${members}?profile-type=Practitioner&state=accepted&_count=100`);
    const admins = list.json.entry
      .map(({ resource }: { resource: { id: string } }) => resource)
      .filter((one: { admin?: boolean }) => one.admin === true);
    const more = await member({ admin: true });
    const all = [...admins, more].map(({ id }) => id);
    const answers = await Promise.all(all.map((id) => remove(id)));
    const left = all.filter((_, i) => answers[i]?.status !== 200);
    expect(left).toHaveLength(1);
    for (const body of [{ admin: false }, { active: false }]) {
      const answer = await change(String(left[0]), body);
      expect(answer.status).toBe(400);
      expect(answer.json.issue[0].details.text).toBe(
        'The last administrator of a project cannot be removed or demoted',
      );
    }
    expect((await remove(String(left[0]))).status).toBe(400);
  });
});

describe('an invitation', () => {
  test('sent again kills the link before', async () => {
    const email = newAddress();
    const { id } = await invite({ email, sendEmail: true });
    const first = await mailedLink(portico, email);
    const answer = await portico.api('POST', `${members}/${id}/invitation`);
    expect([answer.status, stateOf(answer)]).toEqual([200, 'pending']);
    const isOther = (link: string) => link !== first.id;
    await mailedLink(portico, email, isOther);
    const old = await portico.api('POST', 'auth/setpassword', { body: { ...first, password }, token: null });
    expect(old.status).toBe(400);
    expect((await accept(email, isOther)).status).toBe(200);
    expect((await portico.api('POST', `${members}/${id}/invitation`)).status).toBe(409);
    expect((await portico.api('DELETE', `${members}/${id}/invitation`)).status).toBe(409);
  });

  test('revoked is dead until it is sent again', async () => {
    const email = newAddress();
    const { id } = await invite({ email, sendEmail: true });
    const link = await mailedLink(portico, email);
    const answer = await portico.api('DELETE', `${members}/${id}/invitation`);
    expect([answer.status, stateOf(answer)]).toEqual([200, 'revoked']);
    expect((await accept(email)).status).toBe(400);
    expect((await portico.api('DELETE', `${members}/${id}/invitation`)).status).toBe(404);
    expect(stateOf(await portico.api('POST', `${members}/${id}/invitation`))).toBe('pending');
    expect((await accept(email, (other) => other !== link.id)).status).toBe(200);
  });
});
