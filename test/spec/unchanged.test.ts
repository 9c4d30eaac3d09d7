import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isAuditEvent } from '../storage/stored.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';

let portico: Portico;
let created: Answer;
let path: string;

beforeAll(async () => {
  portico = await startPortico();
  const body = {
    resourceType: 'Observation',
    status: 'final',
    code: { text: 'x' },
    valueQuantity: { value: 1 },
  };
  const text = JSON.stringify(body).replace('"value":1', '"value":1.00');
  created = await fhir('POST', 'fhir/R4/Observation', text);
  path = `fhir/R4/Observation/${created.json.id}`;
});
afterAll(() => portico.stop());

const fhir = (method: string, to: string, body?: unknown) =>
  portico.api(method, to, { body, headers: { 'content-type': 'application/fhir+json' } });
/** As it was sent: JSON of JavaScript forgets the zeros. */
const digits = (resource: object) => JSON.stringify(resource).replace('"value":1', '"value":1.00');
const versions = async () => (await portico.api('GET', `${path}/_history`)).json.entry.length;
const entries = async () => (await portico.local.scan()).filter(isAuditEvent).length;

describe('an update that changes nothing', () => {
  test('answers 200 with the version that stands, and writes nothing', async () => {
    const before = [await versions(), await entries()];
    const { text: current, headers } = await portico.api('GET', path);
    const answers = [
      await fhir('PUT', path, current),
      // Without meta, and with its elements in another order.
      await fhir('PUT', path, digits({ ...created.json, meta: undefined })),
      await fhir('PUT', path, digits(Object.fromEntries(Object.entries(created.json).reverse()))),
      await portico.api('PATCH', path, {
        body: [{ op: 'replace', path: '/status', value: 'final' }],
        headers: { 'content-type': 'application/json-patch+json' },
      }),
    ];
    for (const answer of answers) {
      expect([answer.status, answer.headers.get('etag')]).toEqual([200, headers.get('etag')]);
      expect(answer.json.meta).toEqual(created.json.meta);
    }
    expect([await versions(), await entries()]).toEqual(before);
  });

  test('is one all the same when it differs in a digit, a tag or a character', async () => {
    const current = (await portico.api('GET', path)).text;
    expect(current).toContain('"value":1.00');
    for (const [from, to] of [
      ['1.00', '1.0'],
      ['"final"', '"amended"'],
      ['"meta":{', '"meta":{"tag":[{"code":"t"}],'],
    ] as const) {
      const before = await versions();
      const stored = (await portico.api('GET', path)).text;
      expect((await fhir('PUT', path, stored.replace(from, to))).status).toBe(200);
      expect([to, await versions()]).toEqual([to, before + 1]);
    }
  });

  test('still fails when If-Match names another version', async () => {
    const current = (await portico.api('GET', path)).text;
    const answer = await portico.api('PUT', path, {
      body: current,
      headers: { 'content-type': 'application/fhir+json', 'if-match': 'W/"other"' },
    });
    expect(answer.status).toBe(412);
  });

  test('stands beside others in a transaction', async () => {
    const before = await versions();
    const resource = (await portico.api('GET', path)).json;
    const entry = [
      { resource: { ...resource, valueQuantity: undefined }, request: { method: 'PUT', url: path.slice(8) } },
      { resource: { resourceType: 'Basic', code: { text: 'y' } }, request: { method: 'POST', url: 'Basic' } },
    ];
    const send = () =>
      fhir('POST', 'fhir/R4', JSON.stringify({ resourceType: 'Bundle', type: 'transaction', entry }));
    expect((await send()).status).toBe(200);
    expect(await versions()).toBe(before + 1);
    const again = await send();
    expect(
      again.json.entry.map(({ response }: { response: { status: string } }) => response.status.slice(0, 3)),
    ).toEqual(['200', '201']);
    expect(await versions()).toBe(before + 1);
  });
});
