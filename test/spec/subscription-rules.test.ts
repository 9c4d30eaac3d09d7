import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newPerson, tokenOf } from './people.ts';
import { type Portico, startPortico } from './portico.ts';
import { botThat, createClient, createPolicy, projectOf } from './running.ts';
import { extension, newSubscription, secret, subscribe, untilStatus } from './subscribing.ts';

let portico: Portico;
let bot: string;
beforeAll(async () => {
  portico = await startPortico();
  bot = await botThat(portico, 'return 1');
});
afterAll(() => portico.stop());

const fhir = { 'content-type': 'application/fhir+json' };
const save = (body: { id?: string; resourceType?: string }, token?: string) =>
  portico.api(body.id ? 'PUT' : 'POST', `fhir/R4/Subscription${body.id ? `/${body.id}` : ''}`, {
    body,
    headers: fhir,
    ...(token === undefined ? {} : { token }),
  });
const hook = 'https://hooks.example.org/a';

describe('a Subscription is refused', () => {
  test.each<[string, string, Record<string, unknown>, string]>([
    ['for an unknown parameter', 'Patient?colour=red', {}, 'criteria'],
    ['for a chain', 'Observation?subject:Patient.name=x', {}, 'criteria'],
    ['for _include', 'Observation?_include=Observation:subject', {}, 'criteria'],
    ['for _sort', 'Patient?gender=male&_sort=name', {}, 'criteria'],
    ['for _count', 'Patient?gender=male&_count=1', {}, 'criteria'],
    ['for long criteria', `Patient?name=${'a,'.repeat(2000)}`, {}, 'criteria'],
    ['for AuditEvents', 'AuditEvent?action=C', {}, 'criteria'],
    ['for what is no search', 'all patients', {}, 'criteria'],
    ['with mail as its channel', 'Patient', { channel: { type: 'email' } }, 'channel.type'],
    ['for http', 'Patient', { channel: { endpoint: 'http://hooks.example.org/' } }, 'channel.endpoint'],
    ['for a private address', 'Patient', { channel: { endpoint: 'https://10.0.0.1/' } }, 'channel.endpoint'],
    ['for this machine', 'Patient', { channel: { endpoint: 'http://127.0.0.1:1/' } }, 'channel.endpoint'],
    ['with a password', 'Patient', { channel: { endpoint: 'https://a:b@example.org/' } }, 'channel.endpoint'],
    [
      'with nothing but a password',
      'Patient',
      { channel: { endpoint: 'https://:b@example.org/' } },
      'channel.endpoint',
    ],
    ['for an unknown Bot', 'Patient', { channel: { endpoint: 'Bot/unknown' } }, 'channel.endpoint'],
    ['for XML', 'Patient', { channel: { payload: 'application/fhir+xml' } }, 'channel.payload'],
    ['with a header of ours', 'Patient', { channel: { header: ['X-Signature: a'] } }, 'channel.header[0]'],
    ['with a header of HTTP', 'Patient', { channel: { header: ['A: b', 'Host: a'] } }, 'channel.header[1]'],
    ['with headers that are no list', 'Patient', { channel: { header: {} } }, 'Subscription.channel.header'],
    ['with no header', 'Patient', { channel: { header: ['a\r\nb: c'] } }, 'channel.header[0]'],
    ['in error from the start', 'Patient', { status: 'error' }, 'status'],
    [
      'for an unknown interaction',
      'Patient',
      { extension: [extension('subscription-supported-interaction', { valueCode: 'read' })] },
      'extension[0]',
    ],
    [
      'for what is no FHIRPath',
      'Patient',
      {
        extension: [
          extension('subscription-max-attempts', { valueInteger: 2 }),
          expression('%current.name and ('),
        ],
      },
      'extension[1]',
    ],
    ['for FHIRPath with a rest', 'Patient', { extension: [expression('active gender')] }, 'extension[0]'],
    [
      'for 19 attempts',
      'Patient',
      { extension: [extension('subscription-max-attempts', { valueInteger: 19 })] },
      'extension[0]',
    ],
    [
      'for success codes that cannot be read',
      'Patient',
      { extension: [extension('subscription-success-codes', { valueString: 'all' })] },
      'extension[0]',
    ],
    ['with a value to keep that never was', 'Patient', { extension: [secret('***')] }, 'extension'],
  ])('%s', async (_why, criteria, more, expected) => {
    const answer = await save(newSubscription(hook, criteria, more));
    expect(answer.status).toBe(422);
    expect(answer.json.issue.map(({ expression: [at] }: { expression: string[] }) => at)).toContain(expected);
  });

  test('says which parameter it does not know', async () => {
    const answer = await save(newSubscription(hook, 'Patient?colour=red'));
    expect(answer.json.issue[0].details.text).toContain('colour');
  });

  test('by who has no rule that names it, `*` or none', async () => {
    const person = await newPerson(portico);
    const all = await createPolicy(portico, [{ resourceType: '*' }]);
    const everything = await createClient(portico, { accessPolicy: all });
    const own = await createPolicy(portico, [{ resourceType: '*' }, { resourceType: 'Subscription' }]);
    const named = await createClient(portico, { accessPolicy: own });
    const statuses = await Promise.all(
      [await tokenOf(portico, person), everything.token, named.token].map(
        async (token) => (await save(newSubscription(hook, 'Patient'), token)).status,
      ),
    );
    expect(statuses).toEqual([403, 403, 201]);
    const listed = await portico.api('GET', 'fhir/R4/Subscription', { token: everything.token });
    expect(listed.status).toBe(403);
  });
});

function expression(valueString: string) {
  return extension('fhir-path-criteria-expression', { valueString });
}

describe('the status', () => {
  test('is requested, then active; a PUT of it alone does not go back', async () => {
    const made = await save(newSubscription(`Bot/${bot}`, 'Patient?gender=male'));
    expect(made.json.status).toBe('requested');
    const active = (await untilStatus(portico, made.json.id, 'active')).json;
    expect((await save({ ...active, status: 'requested' })).json.meta.versionId).toBe(active.meta.versionId);
    expect((await save({ ...active, status: 'off' })).json.status).toBe('off');
    expect((await save({ ...active, status: 'active' })).json.status).toBe('active');
    expect((await save({ ...active, criteria: 'Patient?gender=female' })).json.status).toBe('requested');
    await untilStatus(portico, made.json.id, 'active');
  });

  test('was written by the system: its author is still who saved it', async () => {
    const id = await subscribe(portico, `Bot/${bot}`, 'Patient?gender=other');
    const versions = await portico.api('GET', `fhir/R4/Subscription/${id}/_history`, {
      headers: { 'x-medplum': 'extended' },
    });
    const authors = versions.json.entry.map(
      ({ resource }: { resource: { meta: { author: { reference: string } } } }) =>
        resource.meta.author.reference.split('/')[0],
    );
    expect(authors).toEqual(['system', 'ClientApplication']);
  });
});

describe('headers and secrets', () => {
  test('are read by nobody, and stay when *** is written', async () => {
    const made = await save(
      newSubscription(hook, 'Patient?gender=male', {
        channel: { header: ['Authorization: Bearer kingfisher'] },
        extension: [secret('kingfisher-2')],
      }),
    );
    expect(made.status).toBe(201);
    const { id } = made.json;
    const again = await save({ ...made.json, reason: 'another' });
    expect(again.json.channel.header).toEqual(['Authorization: ***']);
    expect(again.json.extension[0].valueString).toBe('***');
    const history = await portico.api('GET', `fhir/R4/Subscription/${id}/_history`);
    const items = await portico.local.scan();
    for (const text of [made.text, again.text, history.text, JSON.stringify(items)]) {
      expect(text).not.toContain('kingfisher');
    }
    // What the system says of it is a version too.
    const { json: active } = await untilStatus(portico, id, 'active');
    const same = await save(active);
    expect(same.json.meta.versionId).toBe(active.meta.versionId);
    const changed = await save({ ...again.json, extension: [secret('another one')] });
    expect(changed.json.meta.versionId).not.toBe(again.json.meta.versionId);
  });
});

describe('headers and secrets of one endpoint', () => {
  const sealed = { channel: { header: ['Authorization: Bearer kingfisher'] }, extension: [secret('k')] };
  const elsewhere = 'https://hooks.example.org/another';

  test('are sent to no other, on the same host neither, by a Bot in between neither', async () => {
    const { json } = await save(newSubscription(hook, 'Patient?gender=male', sealed));
    for (const endpoint of [elsewhere, 'https://elsewhere.example.net/', `Bot/${bot}`]) {
      for (const kept of [{ header: json.channel.header }, { header: undefined }]) {
        const channel = { ...json.channel, ...kept, endpoint };
        const answer = await save({ ...json, channel });
        expect([answer.status, answer.json.issue[0].expression]).toEqual([422, ['channel.endpoint']]);
      }
    }
    expect((await portico.api('GET', `fhir/R4/Subscription/${json.id}`)).json.channel.endpoint).toBe(hook);
  });

  test('are sent anew, or left out, where the endpoint changes', async () => {
    const { json } = await save(newSubscription(hook, 'Patient?gender=male', sealed));
    const anew = newSubscription(elsewhere, 'Patient?gender=male', sealed);
    expect((await save({ ...anew, id: json.id })).status).toBe(200);
    const without = newSubscription(hook, 'Patient?gender=male');
    expect((await save({ ...without, id: json.id })).status).toBe(200);
  });
});

test('a Project has a hundred at most, and those that are deleted do not count', async () => {
  const project = projectOf(portico, 1);
  const token = await portico.token(project);
  const body = {
    ...{ resourceType: 'Bundle', type: 'transaction' },
    entry: Array.from({ length: 20 }, () => ({
      request: { method: 'POST', url: 'Subscription' },
      resource: newSubscription(hook, 'Patient', { status: 'off' }),
    })),
  };
  const post = () => portico.api('POST', 'fhir/R4', { token, body, headers: fhir });
  const answers = [];
  for (let n = 0; n < 6; n++) answers.push(await post());
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 422]);
  expect(answers[5]?.text).toContain('at most 100');
  const location = answers[0]?.json.entry[0].response.location as string;
  const id = location.split('/').at(-3);
  expect((await portico.api('DELETE', `fhir/R4/Subscription/${id}`, { token })).status).toBe(200);
  const one = newSubscription(hook, 'Patient', { status: 'off' });
  expect((await save(one, token)).status).toBe(201);
});
