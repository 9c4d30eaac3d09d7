import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fhirCalls } from './fhir-calls.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';

let portico: Portico;

beforeAll(async () => {
  portico = await startPortico();
});
afterAll(() => portico.stop());

const { fhir, created, tokenUnder } = fhirCalls(() => portico);

const transaction = (entry: unknown[], token?: string): Promise<Answer> =>
  fhir('POST', '', {
    body: { resourceType: 'Bundle', type: 'transaction', entry },
    ...(token ? { token } : {}),
  });
const get = (url: string) => ({ request: { method: 'GET', url } });
const post = (identifier: string) => ({
  request: { method: 'POST', url: 'Patient' },
  resource: { resourceType: 'Patient', identifier: [{ value: identifier }] },
});
async function count(identifier: string): Promise<number> {
  return (await fhir('GET', `Patient?identifier=${identifier}`)).json.entry?.length ?? 0;
}

describe('a transaction with a read that fails has written nothing', () => {
  test.each([
    ['of what is not there', 'Patient/nobody', '404'],
    ['with an unknown parameter', 'Patient?no-such=1', '400'],
    ['of a version that is not there', 'Patient/nobody/_history/1', '404'],
    ['of a history with a forged cursor', 'Patient/nobody/_history?_cursor=x', '400'],
    ['of what is no resource', 'Nothing/1', '404'],
  ])('%s', async (name, url, status) => {
    const value = `reads-${name.replaceAll(' ', '-')}`;
    expect(String((await transaction([post(value), get(url)])).status)).toBe(status);
    expect(await count(value)).toBe(0);
  });

  test('of what the transaction itself deletes', async () => {
    const id = await created({ resourceType: 'Patient' });
    const remove = { request: { method: 'DELETE', url: `Patient/${id}` } };
    expect((await transaction([remove, get(`Patient/${id}`)])).status).toBe(410);
    expect((await fhir('GET', `Patient/${id}`)).status).toBe(200);
  });

  test('of what the caller may write and not read', async () => {
    const token = await tokenUnder([{ resourceType: 'Patient', interaction: ['create', 'update'] }]);
    const put = {
      request: { method: 'PUT', url: 'Patient/write-only' },
      resource: { resourceType: 'Patient', id: 'write-only' },
    };
    expect((await transaction([put, get('Patient/write-only')], token)).status).toBe(403);
    expect((await fhir('GET', 'Patient/write-only')).status).toBe(404);
  });
});

test('reads in a transaction see what it writes', async () => {
  const put = {
    request: { method: 'PUT', url: 'Patient/seen' },
    resource: { resourceType: 'Patient', id: 'seen', identifier: [{ value: 'reads-seen' }] },
  };
  const { status, json } = await transaction([
    get('Patient/seen'),
    put,
    get('Patient?identifier=reads-seen'),
  ]);
  expect(status).toBe(200);
  expect(json.entry[0].resource.id).toBe('seen');
  expect(json.entry[2].resource.entry[0].resource.id).toBe('seen');
});
