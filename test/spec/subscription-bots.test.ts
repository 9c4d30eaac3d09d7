import { loadavg } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Portico, startPortico } from './portico.ts';
import {
  botThat,
  change,
  createClient,
  createPolicy,
  membershipOf,
  projectOf,
  recordsOf,
} from './running.ts';
import {
  attemptsOf,
  extension,
  newSubscription,
  only,
  put,
  subscribe,
  until,
  untilStatus,
} from './subscribing.ts';

let portico: Portico;
beforeAll(async () => {
  portico = await startPortico();
});
afterAll(() => portico.stop());

interface Note {
  input: { id?: string; deletedResource?: { id: string } } & Record<string, unknown>;
  headers: Record<string, string>;
  requester: { reference: string };
  contentType: string;
}

const fhir = { 'content-type': 'application/fhir+json' };

/** A Bot that keeps what woke it, as records which nobody here subscribes to. */
const notingBot = (fields = {}) =>
  botThat(
    portico,
    `const { input, headers, requester, contentType } = event;
     const text = JSON.stringify({ input, headers, requester, contentType });
     await medplum.createResource({ resourceType: 'Basic', code: { text },
       identifier: [{ system: 'urn:note', value: event.bot.reference }] });`,
    fields,
  );

async function notesOf(bot: string): Promise<Note[]> {
  const query = `identifier=urn:note|Bot/${bot}&_sort=_lastUpdated&_count=100`;
  const { json } = await portico.api('GET', `fhir/R4/Basic?${query}`);
  return (json.entry ?? []).map(({ resource }: { resource: { code: { text: string } } }) =>
    JSON.parse(resource.code.text),
  );
}

const notes = (bot: string, count: number) =>
  until(async () => {
    const all = await notesOf(bot);
    return all.length >= count ? all : undefined;
  }, `${count} notes of Bot/${bot}`);

/** The attempts of a Subscription once there are so many. */
const attempts = (id: string, count: number) =>
  until(async () => {
    const all = await attemptsOf(portico, id);
    return all.length >= count ? all : undefined;
  }, `${count} attempts of Subscription/${id}`);

const tag = (code: string) => ({ meta: { tag: [{ system: 'urn:test', code }] } });
const remove = (type: string, id: string) => portico.api('DELETE', `fhir/R4/${type}/${id}`);

describe('a Bot', () => {
  test('is woken by what is created, changed and deleted, and by no other record', async () => {
    const bot = await notingBot();
    const id = await subscribe(portico, `Bot/${bot}`, 'Patient?_tag=urn:test|all');
    const made = await put(portico, { resourceType: 'Patient', gender: 'female', ...tag('all') });
    await put(portico, { resourceType: 'Patient', gender: 'female', ...tag('other') });
    const changed = await put(portico, { ...made, gender: 'male' });
    // It says the same: there is no new version.
    await put(portico, changed);
    await remove('Patient', made.id);
    const all = await notes(bot, 3);
    expect(all.map(({ headers }) => headers['x-medplum-interaction'])).toEqual([
      'create',
      'update',
      'delete',
    ]);
    expect(all.map(({ input }) => input)).toEqual([made, changed, { deletedResource: changed }]);
    expect(all[0]).toMatchObject({
      contentType: 'application/fhir+json',
      headers: { 'x-medplum-subscription': id, 'x-portico-attempt': '1' },
    });
    expect(all[2]?.headers['x-medplum-deleted-resource']).toBe(`Patient/${made.id}`);
    const listed = await attempts(id, 3);
    expect(
      listed.map(({ interaction, outcome, attempt, code }) => [interaction, outcome, attempt, code]),
    ).toEqual([
      ['delete', 'returned', '1', '0'],
      ['update', 'returned', '1', '0'],
      ['create', 'returned', '1', '0'],
    ]);
    expect(listed[2]?.delivery).toBe(all[0]?.headers['x-portico-delivery']);
    const [run] = await recordsOf(portico, bot);
    expect(JSON.stringify(run)).toContain(`{"type":"subscription","valueString":"${id}"}`);
  });

  test('is woken by the interactions that it asks for, and by what an expression says of before and now', async () => {
    const [creating, deleting, status] = await Promise.all([notingBot(), notingBot(), notingBot()]);
    const criteria = 'Observation?_tag=urn:test|some';
    const isNowFinal = extension('fhir-path-criteria-expression', {
      valueString: "%previous.status = 'preliminary' and %current.status = 'final'",
    });
    const [, , ofStatus] = await Promise.all([
      subscribe(portico, `Bot/${creating}`, criteria, { extension: only('create') }),
      subscribe(portico, `Bot/${deleting}`, criteria, { extension: only('delete') }),
      subscribe(portico, `Bot/${status}`, criteria, { extension: [isNowFinal] }),
    ]);
    const code = { text: 'pulse' };
    const made = await put(portico, {
      ...{ resourceType: 'Observation', status: 'preliminary', code },
      ...tag('some'),
    });
    const final = await put(portico, { ...made, status: 'final' });
    await put(portico, { ...final, status: 'amended' });
    await remove('Observation', made.id);
    const all = await Promise.all([notes(creating, 1), notes(deleting, 1), notes(status, 1)]);
    expect(all.map((some) => some.map(({ headers }) => headers['x-medplum-interaction']))).toEqual([
      ['create'],
      ['delete'],
      ['update'],
    ]);
    expect(all[2]?.[0]?.input.status).toBe('final');
    expect(await attempts(ofStatus, 1)).toHaveLength(1);
  });

  test('is not woken by an expression that hits a limit, which is listed', async () => {
    const bot = await notingBot();
    const endless = `${'(1|2|3|4|5|6|7|8|9).select('.repeat(8)}1${')'.repeat(8)}.count() > 0`;
    const id = await subscribe(portico, `Bot/${bot}`, 'Patient?_tag=urn:test|limit', {
      extension: [extension('fhir-path-criteria-expression', { valueString: endless })],
    });
    await put(portico, { resourceType: 'Patient', ...tag('limit') });
    const [attempt] = await attempts(id, 1);
    expect(attempt).toMatchObject({ code: '4', attempt: '0' });
    expect(attempt?.outcome).toMatch(/^expression: /);
    expect(await notesOf(bot)).toEqual([]);
  });

  test('that fails is run again, each attempt once, and the last version waits for the first', async () => {
    const bot = await botThat(
      portico,
      `await medplum.createResource({ resourceType: 'Basic', code: { text: event.headers['x-portico-attempt'] + ' ' + event.input.gender },
         identifier: [{ system: 'urn:failed', value: event.bot.reference }] });
       if (event.input.gender === 'male' && event.headers['x-portico-attempt'] === '1') throw new Error('not today');`,
    );
    const id = await subscribe(portico, `Bot/${bot}`, 'Patient?_tag=urn:test|fails');
    const made = await put(portico, { resourceType: 'Patient', gender: 'male', ...tag('fails') });
    await put(portico, { ...made, gender: 'female' });
    const listed = await attempts(id, 3);
    expect(listed.map(({ outcome, attempt, interaction }) => [interaction, attempt, outcome])).toEqual([
      ['update', '1', 'returned'],
      ['create', '2', 'returned'],
      ['create', '1', 'threw'],
    ]);
    const { json } = await portico.api(
      'GET',
      `fhir/R4/Basic?identifier=urn:failed|Bot/${bot}&_sort=_lastUpdated`,
    );
    const order = json.entry.map(
      ({ resource }: { resource: { code: { text: string } } }) => resource.code.text,
    );
    expect(order).toEqual(['1 male', '2 male', '1 female']);
  });

  test('of another Project is not woken', async () => {
    const other = projectOf(portico, 1);
    const bot = await botThat(portico, 'return 1', {}, other);
    const token = await portico.token(other);
    const elsewhere = newSubscription(`Bot/${bot}`, 'Patient?_tag=urn:test|elsewhere');
    const made = await portico.api('POST', 'fhir/R4/Subscription', { body: elsewhere, headers: fhir, token });
    expect(made.status).toBe(201);
    const own = await notingBot();
    await subscribe(portico, `Bot/${own}`, 'Patient?_tag=urn:test|elsewhere');
    await put(portico, { resourceType: 'Patient', ...tag('elsewhere') });
    await notes(own, 1);
    const path = `fhir/R4/Subscription/${made.json.id}/$deliveries`;
    expect((await portico.api('GET', path, { token })).json.entry).toEqual([]);
    expect((await portico.api('GET', path)).status).toBe(404);
  });
});

describe('rights', () => {
  test('of the author decide what is delivered: hidden elements are left out', async () => {
    const bot = await notingBot();
    const accessPolicy = await createPolicy(portico, [
      { resourceType: 'Patient', hiddenFields: ['name'] },
      { resourceType: 'Subscription' },
      { resourceType: 'Bot', interaction: ['execute', 'read'] },
    ]);
    const author = await createClient(portico, { accessPolicy });
    const id = await subscribe(portico, `Bot/${bot}`, 'Patient?_tag=urn:test|hidden', {}, author.token);
    const byName = await subscribe(portico, `Bot/${bot}`, 'Patient?name=zebra', {}, author.token);
    await put(portico, {
      ...{ resourceType: 'Patient', gender: 'female', name: [{ family: 'Zebra' }] },
      ...tag('hidden'),
    });
    const [note] = await notes(bot, 1);
    expect(note?.input.gender).toBe('female');
    expect(JSON.stringify(note)).not.toContain('Zebra');
    expect(note?.headers['x-medplum-subscription']).toBe(id);
    expect(await attempts(byName, 1)).toMatchObject([{ outcome: 'not for its author', code: '4' }]);
    expect(await notesOf(bot)).toHaveLength(1);
  });

  test('of the author to the record as it stands: an earlier version tells no more than that', async () => {
    const bot = await notingBot();
    const accessPolicy = await createPolicy(portico, [
      { resourceType: 'Patient', criteria: 'Patient?_tag=urn:test|open' },
      { resourceType: 'Patient', criteria: 'Patient?_tag=urn:test|shut', hiddenFields: ['name'] },
      { resourceType: 'Subscription' },
      { resourceType: 'Bot', interaction: ['execute', 'read'] },
    ]);
    const author = await createClient(portico, { accessPolicy });
    const id = await subscribe(portico, `Bot/${bot}`, 'Patient?gender=other', {}, author.token);
    const patient = { resourceType: 'Patient', gender: 'other', name: [{ family: 'Zebra' }] };
    const made = await put(portico, { ...patient, ...tag('open') });
    const [first] = await notes(bot, 1);
    expect(first?.input.name).toEqual(patient.name);
    await put(portico, { ...patient, ...tag('shut'), id: made.id });
    const [, second] = await notes(bot, 2);
    const delivery = first?.headers['x-portico-delivery'];
    const asked = await portico.api('POST', `fhir/R4/Subscription/${id}/$redeliver`, { body: { delivery } });
    expect(asked.status).toBe(200);
    const [, , again] = await notes(bot, 3);
    expect(again?.input.meta).toEqual(first?.input.meta);
    expect([second?.input.name, again?.input.name]).toEqual([undefined, undefined]);
  });

  test('of an author who is no member any more: nothing is delivered, and the Subscription is in error', async () => {
    const bot = await notingBot();
    const author = await createClient(portico, { admin: true });
    const id = await subscribe(portico, `Bot/${bot}`, 'Patient?_tag=urn:test|gone', {}, author.token);
    expect((await remove('ClientApplication', author.id)).status).toBe(200);
    await put(portico, { resourceType: 'Patient', ...tag('gone') });
    const failed = await untilStatus(portico, id, 'error');
    expect(failed.json.error).toContain('author');
    expect(await notesOf(bot)).toEqual([]);
    // Who saves it now is its author, and what waited is delivered.
    await put(portico, { ...failed.json, status: 'active', reason: 'mine now' });
    await notes(bot, 1);
  });

  test('of who wrote the record bound a Bot that runs as its user', async () => {
    const bot = await botThat(
      portico,
      `let seen = 'nothing';
       try { seen = (await medplum.readResource('Organization', event.input.managingOrganization.reference.split('/')[1])).name } catch (e) {}
       await medplum.createResource({ resourceType: 'Patient', meta: { tag: [{ system: 'urn:seen', code: event.input.gender + '-' + seen }] } });`,
      { runAsUser: true },
    );
    await subscribe(portico, `Bot/${bot}`, 'Patient?_tag=urn:test|as-user');
    const organization = await put(portico, { resourceType: 'Organization', name: 'House' });
    const accessPolicy = await createPolicy(portico, [{ resourceType: 'Patient' }]);
    const writer = await createClient(portico, { accessPolicy });
    const body = (gender: string) => ({
      ...{ resourceType: 'Patient', gender, ...tag('as-user') },
      managingOrganization: { reference: `Organization/${organization.id}` },
    });
    await portico.api('POST', 'fhir/R4/Patient', { body: body('male'), headers: fhir, token: writer.token });
    await put(portico, body('female'));
    for (const code of ['male-nothing', 'female-House']) {
      await until(async () => {
        const { json } = await portico.api('GET', `fhir/R4/Patient?_tag=urn:seen|${code}`);
        return json.entry?.length > 0 ? true : undefined;
      }, code);
    }
  });
});

describe('a loop', () => {
  test('of one Bot ends at the depth of eight, and the list of its runs says why', async () => {
    const bot = await botThat(
      portico,
      `await medplum.updateResource({ ...event.input, multipleBirthInteger: (event.input.multipleBirthInteger ?? 0) + 1 });`,
    );
    const id = await subscribe(portico, `Bot/${bot}`, 'Patient?_tag=urn:test|loop');
    const made = await put(portico, { resourceType: 'Patient', ...tag('loop') });
    const listed = await attempts(id, 9);
    expect(listed[0]).toMatchObject({ outcome: 'too deep', code: '4' });
    expect(listed.slice(1).every(({ outcome }) => outcome === 'returned')).toBe(true);
    expect((await portico.api('GET', `fhir/R4/Patient/${made.id}`)).json.multipleBirthInteger).toBe(8);
    const logs = await portico.api('GET', `fhir/R4/Bot/${bot}/$logs?_count=1`);
    expect(logs.text).toContain('too deep');
  });

  test('of two Bots ends, and a Bot that changes nothing wakes nobody', async () => {
    const step = (to: string) =>
      botThat(
        portico,
        `await medplum.createResource({ resourceType: '${to}', ${to === 'Basic' ? "code: { text: 'x' }," : ''} meta: { tag: [{ system: 'urn:test', code: 'ping' }] } });
         await medplum.updateResource(event.input);`,
      );
    const [ping, pong] = await Promise.all([step('Basic'), step('Patient')]);
    const [first, second] = await Promise.all([
      subscribe(portico, `Bot/${ping}`, 'Patient?_tag=urn:test|ping'),
      subscribe(portico, `Bot/${pong}`, 'Basic?_tag=urn:test|ping'),
    ]);
    await put(portico, { resourceType: 'Patient', ...tag('ping') });
    const listed = await attempts(first, 5);
    expect(listed[0]?.outcome).toBe('too deep');
    expect(await attempts(second, 4)).toHaveLength(4);
  });
});

test('a Subscription that is off or deleted delivers nothing', async () => {
  const bot = await notingBot();
  const [off, gone, on] = await Promise.all(
    [1, 2, 3].map(() => subscribe(portico, `Bot/${bot}`, 'Patient?_tag=urn:test|off')),
  );
  const { json } = await portico.api('GET', `fhir/R4/Subscription/${off}`);
  await put(portico, { ...json, status: 'off' });
  expect((await remove('Subscription', String(gone))).status).toBe(200);
  await put(portico, { resourceType: 'Patient', ...tag('off') });
  const [note] = await notes(bot, 1);
  expect(note?.headers['x-medplum-subscription']).toBe(on);
  await attempts(String(on), 1);
  expect(await attemptsOf(portico, String(off))).toEqual([]);
  expect(await notesOf(bot)).toHaveLength(1);
});

test('a Bot starts within 300 ms of the answer to a write, where nothing else is going on', async () => {
  const bot = await botThat(
    portico,
    `await medplum.createResource({ resourceType: 'Basic', code: { text: String(Date.now()) },
       identifier: [{ system: 'urn:started', value: event.input.id }] });`,
  );
  await subscribe(portico, `Bot/${bot}`, 'Patient?_tag=urn:test|soon');
  const waited: number[] = [];
  for (let n = 0; n < 7; n++) {
    const { id } = await put(portico, { resourceType: 'Patient', ...tag('soon') });
    const answeredMs = Date.now();
    const startedMs = await until(async () => {
      const { json } = await portico.api('GET', `fhir/R4/Basic?identifier=urn:started|${id}`);
      return json.entry && Number(json.entry[0].resource.code.text);
    }, `a run for Patient/${id}`);
    waited.push(startedMs - answeredMs);
  }
  const p50 = waited.toSorted((a, b) => a - b)[Math.floor(waited.length / 2)] ?? 0;
  const load = loadavg()[0] ?? 0;
  process.stdout.write(
    `From the answer to a write until the Bot starts: p50 ${p50} ms, load ${load.toFixed(1)}\n`,
  );
  expect(p50).toBeLessThan(load < 1 ? 300 : 3_000);
});

test('a membership that a Bot lost stops its runs, and the attempts say so', async () => {
  const bot = await notingBot();
  const id = await subscribe(portico, `Bot/${bot}`, 'Patient?_tag=urn:test|stopped', {
    extension: [extension('subscription-max-attempts', { valueInteger: 1 })],
  });
  await change(portico, 'ProjectMembership', await membershipOf(portico, bot), { active: false });
  await put(portico, { resourceType: 'Patient', ...tag('stopped') });
  expect(await attempts(id, 1)).toMatchObject([{ outcome: 'Bots not enabled', code: '4' }]);
});

test.each(['bots', 'subscriptions'] as const)(
  'a Project without %s delivers what waited once it has them',
  async (feature) => {
    const provision = await portico.local.load('provision');
    const bot = await notingBot();
    const id = await subscribe(portico, `Bot/${bot}`, `Patient?_tag=urn:test|${feature}`);
    const project = projectOf(portico, 0).id;
    await provision({ project, featuresOff: [feature] });
    await put(portico, { resourceType: 'Patient', gender: 'male', ...tag(feature) });
    await until(async () => {
      const items = await portico.local.scan('#WAITING#');
      return items.some(({ pk }) => pk.includes(id)) ? true : undefined;
    }, 'a delivery that waits');
    expect(await notes(bot, 0)).toEqual([]);
    await provision({ project, featuresOff: [] });
    expect((await notes(bot, 1)).map(({ input }) => input.gender)).toEqual(['male']);
  },
);

test('a Project that is stopped runs no Bot, and delivers what waited when it goes on', async () => {
  const provision = await portico.local.load('provision');
  const bot = await notingBot();
  await subscribe(portico, `Bot/${bot}`, 'Patient?_tag=urn:test|stop');
  const project = projectOf(portico, 0).id;
  expect(await provision({ project, paused: true })).toMatchObject({
    project: { id: project, paused: true },
  });
  const made = await put(portico, { resourceType: 'Patient', gender: 'male', ...tag('stop') });
  await put(portico, { ...made, gender: 'female' });
  const refused = await portico.api('POST', `fhir/R4/Bot/${bot}/$execute`);
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('stopped');
  await until(async () => {
    return (await portico.local.scan('#WAITING#')).length > 0 ? true : undefined;
  }, 'a delivery that waits');
  await provision({ project, paused: false });
  expect((await notes(bot, 2)).map(({ input }) => input.gender)).toEqual(['male', 'female']);
});
