import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type Hook, startHook } from './hook.ts';
import { type Portico, startPortico } from './portico.ts';
import { botThat } from './running.ts';
import {
  attemptsOf,
  extension,
  newSubscription,
  put,
  secret,
  subscribe,
  until,
  untilStatus,
} from './subscribing.ts';

let portico: Portico;
let hooks: Hook[];
beforeAll(async () => {
  process.env.PORTICO_ALLOW_LOOPBACK_HOOKS = '1';
  portico = await startPortico({});
  hooks = [];
});
afterAll(async () => {
  delete process.env.PORTICO_ALLOW_LOOPBACK_HOOKS;
  await portico.stop();
});
afterEach(async () => {
  await Promise.all(hooks.splice(0).map((one) => one.stop()));
});

const fhir = { 'content-type': 'application/fhir+json' };
const tag = (code: string) => ({ meta: { tag: [{ system: 'urn:test', code }] } });
const patient = (code: string, more = {}) => put(portico, { resourceType: 'Patient', ...tag(code), ...more });

async function hookThat(...args: Parameters<typeof startHook>): Promise<Hook> {
  const hook = await startHook(...args);
  hooks.push(hook);
  return hook;
}

const calls = (hook: Hook, count: number) =>
  until(() => (hook.calls.length >= count ? hook.calls : undefined), `${count} calls`);

const attempts = (id: string, count: number) =>
  until(async () => {
    const all = await attemptsOf(portico, id);
    return all.length >= count ? all : undefined;
  }, `${count} attempts of Subscription/${id}`);

/** What the access log tells of a delivery. */
async function linesOfDelivery(delivery: string): Promise<unknown[]> {
  const text = await readFile(join(portico.local.dataDir, 'access.jsonl'), 'utf8');
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return lines.filter((line) => line.delivery === delivery);
}

const hmac = (key: string, text: string) => createHmac('sha256', key).update(text).digest('hex');
const most = (valueInteger: number) => extension('subscription-max-attempts', { valueInteger });

describe('a hook', () => {
  test('gets the record, signed, with the headers that were asked for', async () => {
    const hook = await hookThat();
    const id = await subscribe(portico, hook.url, 'Patient?_tag=urn:test|signed', {
      channel: { header: ['Authorization: Bearer kingfisher', 'X-Own: 1'] },
      extension: [secret('new secret'), secret('old secret')],
    });
    const made = await patient('signed');
    const [call] = await calls(hook, 1);
    const { author: _author, project: _project, ...meta } = made.meta;
    expect(JSON.parse(call?.body ?? '')).toEqual({ ...made, meta });
    expect(call?.headers).toMatchObject({
      ...{ authorization: 'Bearer kingfisher', 'x-own': '1', 'content-type': 'application/fhir+json' },
      ...{ 'x-medplum-subscription': id, 'x-medplum-interaction': 'create', 'x-portico-attempt': '1' },
      'x-signature': hmac('new secret', call?.body ?? ''),
    });
    expect(call?.headers.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    const [, seconds] = /^t=(\d+),/.exec(String(call?.headers['x-portico-signature'])) ?? [];
    const signed = (key: string) => `v1=${hmac(key, `${seconds}.${call?.body}`)}`;
    expect(call?.headers['x-portico-signature']).toBe(
      `t=${seconds},${signed('new secret')},${signed('old secret')}`,
    );
    const told = await linesOfDelivery(String(call?.headers['x-portico-delivery']));
    expect(told).toEqual([
      expect.objectContaining({
        ...{
          subscription: `Subscription/${id}`,
          attempt: 1,
          who: expect.stringMatching(/^ClientApplication/),
        },
        ...{ resources: [`Patient/${made.id}`], patients: [`Patient/${made.id}`] },
      }),
    ]);
    await portico.api('DELETE', `fhir/R4/Patient/${made.id}`);
    const [, deletion] = await calls(hook, 2);
    expect(deletion?.body).toBe('{}');
    expect(deletion?.headers['x-medplum-deleted-resource']).toBe(`Patient/${made.id}`);
    expect(await linesOfDelivery(String(deletion?.headers['x-portico-delivery']))).toEqual([]);
    const [attempt] = await attempts(id, 2);
    expect(attempt).toMatchObject({ status: '200', outcome: '200', code: '0' });
    expect(JSON.stringify(await attempts(id, 2))).not.toContain('thanks');

    // The first goes, the second stays: what is written as *** keeps its place among those that do.
    const { json } = await portico.api('GET', `fhir/R4/Subscription/${id}`);
    await put(portico, { ...json, extension: [secret('newer secret'), secret('***')] });
    await untilStatus(portico, id, 'active');
    await patient('signed');
    const [, , later] = await calls(hook, 3);
    expect(later?.headers['x-signature']).toBe(hmac('newer secret', later?.body ?? ''));
    const [, at] = /^t=(\d+),/.exec(String(later?.headers['x-portico-signature'])) ?? [];
    expect(later?.headers['x-portico-signature']).toContain(hmac('new secret', `${at}.${later?.body}`));
    expect(later?.headers.authorization).toBe('Bearer kingfisher');
  });

  test('gets an empty body where no payload is asked for', async () => {
    const hook = await hookThat();
    await subscribe(portico, hook.url, 'Patient?_tag=urn:test|empty', {
      channel: { payload: undefined },
      extension: [secret('kingfisher')],
    });
    await patient('empty');
    const [call] = await calls(hook, 1);
    expect(call?.body).toBe('');
    expect(call?.headers['x-signature']).toBe(hmac('kingfisher', ''));
  });

  test('is called again on 5xx and 429, with the same delivery; not on another 4xx, or a redirect', async () => {
    const failing = await hookThat((n) =>
      n === 1 ? 503 : n === 2 ? { status: 429, headers: { 'retry-after': '1' } } : 200,
    );
    const refusing = await hookThat(() => 404);
    const moved = await hookThat(() => ({ status: 302, headers: { location: failing.url } }));
    const accepting = await hookThat(() => 404);
    const criteria = 'Patient?_tag=urn:test|retry';
    const [first, second, third, fourth] = await Promise.all([
      subscribe(portico, failing.url, criteria),
      subscribe(portico, refusing.url, criteria),
      subscribe(portico, moved.url, criteria),
      subscribe(portico, accepting.url, criteria, {
        extension: [extension('subscription-success-codes', { valueString: '200-299,404' })],
      }),
    ]);
    await patient('retry');
    const [one, two, three] = await calls(failing, 3);
    expect([one, two, three].map((call) => call?.headers['x-portico-attempt'])).toEqual(['1', '2', '3']);
    expect(new Set([one, two, three].map((call) => call?.headers['x-portico-delivery'])).size).toBe(1);
    expect(Number(three?.atMs) - Number(two?.atMs)).toBeGreaterThan(1_900);
    expect((await attempts(first, 3)).map(({ outcome }) => outcome)).toEqual(['200', '429', '503']);
    expect((await attempts(second, 1)).map(({ outcome, code }) => [outcome, code])).toEqual([['404', '4']]);
    expect((await attempts(third, 1)).map(({ outcome }) => outcome)).toEqual(['302']);
    expect((await attempts(fourth, 1)).map(({ outcome, code }) => [outcome, code])).toEqual([['404', '0']]);
    expect([refusing, moved, accepting].map((hook) => hook.calls.length)).toEqual([1, 1, 1]);
    const again = await portico.api(
      'GET',
      `fhir/R4/Subscription/${first}/$deliveries?outcome=failure&_count=1`,
    );
    expect(again.json.entry).toHaveLength(1);
    const next = await portico.api('GET', again.json.link[0].url.replace(`${portico.baseUrl}/`, ''));
    expect(next.json.entry[0].resource.outcomeDesc).toBe('503');
  });

  test('at an address that is not public is refused at every attempt, however it is named', async () => {
    // It is this machine's: the name is looked at when it is called.
    const id = await subscribe(portico, 'https://localhost.localdomain/', 'Patient?_tag=urn:test|name', {
      extension: [most(2)],
    });
    await patient('name');
    const listed = await attempts(id, 2);
    expect(listed.every(({ code }) => code === '4')).toBe(true);
    expect(listed.every(({ outcome }) => /address refused|ENOTFOUND|EAI_AGAIN/.test(outcome ?? ''))).toBe(
      true,
    );
  });

  test('that the lists of the Project leave out is not called', async () => {
    const hosts = `admin/projects/${portico.projects[0]?.id}/fetch-hosts`;
    const id = await subscribe(portico, 'https://hooks.example.org/', 'Patient?_tag=urn:test|host');
    await portico.api('POST', hosts, { body: { deny: ['*.example.org'] } });
    await patient('host');
    expect(await attempts(id, 1)).toMatchObject([{ outcome: 'host not allowed', code: '4' }]);
    await portico.api('POST', hosts, { body: {} });
  });
});

describe('an endpoint that does not answer', () => {
  test('delays nobody else, and is called five times at once at most', async () => {
    const dead = await hookThat(() => 'never');
    const live = await hookThat();
    const criteria = 'Patient?_tag=urn:test|dead';
    const [id] = await Promise.all([
      subscribe(portico, dead.url, criteria, { extension: [most(1)] }),
      subscribe(portico, live.url, criteria),
    ]);
    const other = await botThat(portico, 'return 1');
    const bot = await subscribe(portico, `Bot/${other}`, criteria);
    await Promise.all(Array.from({ length: 20 }, () => patient('dead')));
    await calls(live, 20);
    await attempts(bot, 20);
    // Of its own, each five take ten seconds.
    expect(dead.calls.length).toBeLessThan(20);
    await calls(dead, 5);
    // Without a bound all twenty would be open at once.
    expect(dead.mostOpen()).toBeGreaterThan(1);
    expect(dead.mostOpen()).toBeLessThanOrEqual(5);
    const off = (await portico.api('GET', `fhir/R4/Subscription/${id}`)).json;
    await put(portico, { ...off, status: 'off' });
  });

  test('after ten deliveries that failed the Subscription is in error; what waits is delivered when it is active', async () => {
    let isWell = false;
    const hook = await hookThat(() => (isWell ? 200 : 400));
    const id = await subscribe(portico, hook.url, 'Patient?_tag=urn:test|ten');
    await Promise.all(Array.from({ length: 10 }, () => patient('ten')));
    const failed = await untilStatus(portico, id, 'error');
    expect(failed.json.error).toContain('10 deliveries failed');
    const before = hook.calls.length;
    const waiting = await patient('ten', { gender: 'other' });
    await patient('ten', { ...waiting, gender: 'unknown' });
    isWell = true;
    expect(hook.calls).toHaveLength(before);
    expect((await put(portico, { ...failed.json, status: 'active' })).status).toBe('active');
    const all = await calls(hook, before + 2);
    expect(all.slice(before).map(({ body }) => JSON.parse(body).gender)).toEqual(['other', 'unknown']);

    // Those that failed wait for somebody to ask.
    const [first] = (await attempts(id, 12)).filter(({ code }) => code === '4');
    const redeliver = (delivery: unknown) =>
      portico.api('POST', `fhir/R4/Subscription/${id}/$redeliver`, { body: { delivery } });
    expect((await redeliver(first?.delivery)).status).toBe(200);
    const [again] = (await calls(hook, before + 3)).slice(-1);
    expect(again?.headers).toMatchObject({
      'x-portico-delivery': first?.delivery,
      'x-portico-redelivery': '1',
      'x-portico-attempt': '1',
    });
    expect((await redeliver('no delivery')).status).toBe(400);
    expect((await redeliver('0'.repeat(40))).status).toBe(404);
  });
});

test('a record is sent again by hand, to one Subscription, as another interaction too', async () => {
  const hook = await hookThat();
  const [id, other] = await Promise.all([
    subscribe(portico, hook.url, 'Patient?_tag=urn:test|again'),
    subscribe(portico, hook.url, 'Patient?_tag=urn:test|again'),
  ]);
  const made = await patient('again');
  await calls(hook, 2);
  const path = `fhir/R4/Patient/${made.id}/$resend`;
  const ask = (body?: object) => portico.api('POST', path, body ? { body } : {});
  expect((await ask({ subscription: `Subscription/${id}`, interaction: 'delete' })).status).toBe(200);
  const [, , third] = await calls(hook, 3);
  expect(third?.headers).toMatchObject({ 'x-medplum-subscription': id, 'x-medplum-interaction': 'delete' });
  expect((await ask()).status).toBe(200);
  const all = await calls(hook, 5);
  expect(
    all
      .slice(3)
      .map(({ headers }) => headers['x-medplum-subscription'])
      .sort(),
  ).toEqual([id, other].sort());
  expect((await ask({ interaction: 'read' })).status).toBe(400);
  expect((await portico.api('POST', 'fhir/R4/Patient/none/$resend')).status).toBe(404);
});

test('a hook on this machine may be written here, because the machine’s owner said so', async () => {
  const body = newSubscription('http://192.168.0.1/', 'Patient');
  expect((await portico.api('POST', 'fhir/R4/Subscription', { body, headers: fhir })).status).toBe(422);
});
