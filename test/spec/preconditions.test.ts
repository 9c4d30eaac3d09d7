import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fhirCalls } from './fhir-calls.ts';
import { type Portico, startPortico } from './portico.ts';

let portico: Portico;
const { fhir, created, tokenUnder } = fhirCalls(() => portico);

/** Whom the caller may not see, who is not there, and whom they may see and not write. */
const ids = { hidden: '', absent: 'nobody', seen: '' };
const versions = { hidden: '', seen: '' };
let token: string;

beforeAll(async () => {
  portico = await startPortico();
  ids.hidden = await created({
    resourceType: 'Patient',
    gender: 'female',
    identifier: [{ value: 'hidden' }],
  });
  ids.seen = await created({ resourceType: 'Patient', gender: 'male', identifier: [{ value: 'seen' }] });
  await created({ resourceType: 'Patient', gender: 'male', identifier: [{ value: 'twice' }] });
  await created({ resourceType: 'Patient', gender: 'male', identifier: [{ value: 'twice' }] });
  for (const name of ['hidden', 'seen'] as const)
    versions[name] = (await fhir('GET', `Patient/${ids[name]}`)).json.meta.versionId;
  token = await tokenUnder([
    { resourceType: 'Patient', criteria: 'Patient?gender=male', readonly: true },
    { resourceType: 'Patient', criteria: 'Patient?gender=other' },
  ]);
});
afterAll(() => portico.stop());

const tag = (version: string) => `W/"${version}"`;
const nobodyIsTested = [{ op: 'test', path: '/gender', value: 'unknown' }];
const bodyOf = (method: string, id: string) => {
  if (method === 'PUT') return { body: { resourceType: 'Patient', id, gender: 'other' } };
  return method === 'PATCH' ? { body: nobodyIsTested } : {};
};

/** A change as a request of its own, as the entry of a batch, and as that of a transaction. */
const ways = {
  async alone(method: string, id: string, ifMatch: string | undefined) {
    const headers = ifMatch === undefined ? {} : { 'if-match': ifMatch };
    const { status, json } = await fhir(method, `Patient/${id}`, { token, headers, ...bodyOf(method, id) });
    return [status, json.issue];
  },
  async 'in a batch'(method: string, id: string, ifMatch: string | undefined) {
    const { json } = await bundle('batch', method, id, ifMatch);
    const { status, outcome } = json.entry[0].response;
    return [Number(status), outcome.issue];
  },
  async 'in a transaction'(method: string, id: string, ifMatch: string | undefined) {
    const { status, json } = await bundle('transaction', method, id, ifMatch);
    return [status, json.issue];
  },
};

function bundle(type: string, method: string, id: string, ifMatch: string | undefined) {
  const request = { method, url: `Patient/${id}`, ifMatch };
  const { body } = bodyOf(method, id);
  const data = Buffer.from(JSON.stringify(body ?? null)).toString('base64');
  const resource = method === 'PATCH' ? { resourceType: 'Binary', data } : body;
  return fhir('POST', '', { token, body: { resourceType: 'Bundle', type, entry: [{ request, resource }] } });
}

describe.each(['PUT', 'PATCH', 'DELETE'])('%s', (method) => {
  describe.each(Object.keys(ways) as (keyof typeof ways)[])('%s', (way) => {
    const send = ways[way];

    test('with If-Match is answered for what one may not see as for what is not there', async () => {
      const absent = await send(method, ids.absent, tag(versions.hidden));
      expect(absent[0]).toBe(412);
      expect(await send(method, ids.hidden, tag(versions.hidden))).toEqual(absent);
      expect(await send(method, ids.hidden, tag('another'))).toEqual(absent);
      expect((await send(method, ids.hidden, undefined))[0]).toBe(403);
    });

    test('of what one may only read is refused, whatever version or value it names', async () => {
      for (const ifMatch of [undefined, tag(versions.seen), tag('another'), '*'])
        expect([ifMatch, (await send(method, ids.seen, ifMatch))[0]]).toEqual([ifMatch, 403]);
    });
  });
});

test('nor does If-Match tell who may change and not create that there is something', async () => {
  const only = await tokenUnder([
    { resourceType: 'Patient', criteria: 'Patient?gender=other', interaction: ['read', 'update'] },
  ]);
  const put = async (id: string) => {
    const headers = { 'if-match': tag('another') };
    const { body } = bodyOf('PUT', id);
    const { status, json } = await fhir('PUT', `Patient/${id}`, { token: only, headers, body });
    return [status, json.issue];
  };
  const absent = await put(ids.absent);
  expect([absent[0], await put(ids.hidden)]).toEqual([403, absent]);
});

test('If-None-Match: * tells no more than a PUT without it', async () => {
  for (const id of [ids.hidden, ids.seen]) {
    const put = { token, body: { resourceType: 'Patient', id, gender: 'other' } };
    const answer = await fhir('PUT', `Patient/${id}`, { ...put, headers: { 'if-none-match': '*' } });
    expect([answer.status, answer.json.issue]).toEqual([
      403,
      (await fhir('PUT', `Patient/${id}`, put)).json.issue,
    ]);
  }
});

describe('a condition', () => {
  const body = { resourceType: 'Patient' };

  test.each(['seen', 'twice', 'hidden', 'nobody'])(
    'is not looked for by who may make none of it: %s',
    async (value) => {
      const query = `identifier=${value}`;
      const reader = await tokenUnder([{ resourceType: 'Patient', readonly: true }]);
      const call = { token: reader, body };
      const answers = await Promise.all([
        fhir('POST', 'Patient', { ...call, headers: { 'if-none-exist': query } }),
        fhir('PUT', `Patient?${query}`, call),
        fhir('PATCH', `Patient?${query}`, { token: reader, body: [] }),
        fhir('DELETE', `Patient?${query}`, { token: reader }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    },
  );

  test('that matches nothing one may see says of the id in the body what a PUT by it says', async () => {
    const sent = { ...body, id: ids.hidden, gender: 'other' };
    const answer = await fhir('PUT', 'Patient?identifier=nobody', { token, body: sent });
    expect(answer.status).toBe((await fhir('PUT', `Patient/${ids.hidden}`, { token, body: sent })).status);
    expect(answer.status).toBe(403);
  });
});

test('a patch tells that a resource was deleted to who could see it', async () => {
  const made = async (gender: string) => {
    const id = await created({ resourceType: 'Patient', gender });
    expect((await fhir('DELETE', `Patient/${id}`)).status).toBe(200);
    return id;
  };
  const patch = async (id: string) => (await fhir('PATCH', `Patient/${id}`, { token, body: [] })).status;
  expect([await patch(await made('female')), await patch(await made('male'))]).toEqual([403, 410]);
  expect(await patch(ids.absent)).toBe(404);
});

describe('a reader', () => {
  const since = (ms: number) => new Date(ms).toUTCString();

  test('who has the state is told so, by version or else by time', async () => {
    const lastUpdated = Date.parse((await fhir('GET', `Patient/${ids.seen}`)).json.meta.lastUpdated);
    const etag = tag(versions.seen);
    const cases: [headers: Record<string, string>, status: number][] = [
      [{ 'if-none-match': etag }, 304],
      [{ 'if-none-match': '*' }, 304],
      [{ 'if-none-match': `W/"another", ${etag}` }, 304],
      [{ 'if-none-match': 'W/"another"' }, 200],
      [{ 'if-modified-since': since(lastUpdated) }, 304],
      [{ 'if-modified-since': since(lastUpdated - 1000) }, 200],
      [{ 'if-modified-since': 'yesterday' }, 200],
      [{ 'if-modified-since': since(lastUpdated), 'if-none-match': 'W/"another"' }, 200],
    ];
    for (const [headers, status] of cases) {
      const answer = await fhir('GET', `Patient/${ids.seen}`, { token, headers });
      expect([headers, answer.status]).toEqual([headers, status]);
      const hidden = await fhir('GET', `Patient/${ids.hidden}`, { token, headers });
      expect([headers, hidden.status]).toEqual([headers, 403]);
    }
  });

  test('is told so in a batch too', async () => {
    const get = (id: string, had: object) => ({ request: { method: 'GET', url: `Patient/${id}`, ...had } });
    const entry = [
      get(ids.seen, { ifNoneMatch: tag(versions.seen) }),
      get(ids.seen, { ifModifiedSince: since(Date.now() + 60_000) }),
      get(ids.seen, { ifNoneMatch: 'W/"another"' }),
      get(ids.hidden, { ifNoneMatch: tag(versions.hidden) }),
    ];
    const { json } = await fhir('POST', '', {
      token,
      body: { resourceType: 'Bundle', type: 'batch', entry },
    });
    const told = json.entry.map(
      ({ response, resource }: { response: { status: string }; resource?: { id?: string } }) => [
        response.status,
        resource?.id,
      ],
    );
    expect(told).toEqual([
      ['304', undefined],
      ['304', undefined],
      ['200', ids.seen],
      ['403', 'forbidden'],
    ]);
  });
});
