import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client } from 'fhir-kit-client';
import { type Portico, startPortico } from './portico.ts';

let portico: Portico;
let client: Client;
let id: string;

beforeAll(async () => {
  portico = await startPortico();
  client = new Client({ baseUrl: `${portico.baseUrl}/fhir/R4`, bearerToken: await portico.token() });
  const body = { resourceType: 'Patient', name: [{ family: 'Kit' }], gender: 'female' };
  id = String((await client.create({ resourceType: 'Patient', body })).id);
  const subject = { reference: `Patient/${id}` };
  const observation = { resourceType: 'Observation', status: 'final', code: { text: 'x' }, subject };
  for (let i = 0; i < 3; i++) await client.create({ resourceType: 'Observation', body: observation });
});
afterAll(() => portico.stop());

const statusOf = (error: { response?: { status: number } }) => error.response?.status;

/** Of a Bundle: the ids of what is in it. */
const idsIn = (bundle: object): string[] =>
  ((bundle as { entry?: { resource?: { id: string } }[] }).entry ?? []).flatMap(
    ({ resource }) => resource?.id ?? [],
  );

describe('fhir-kit-client, unmodified', () => {
  test('finds out where people sign in, and what the server can do', async () => {
    const auth = await client.smartAuthMetadata();
    expect(String(auth.authorizeUrl)).toBe(`${portico.baseUrl}/oauth2/authorize`);
    expect(String(auth.tokenUrl)).toBe(`${portico.baseUrl}/oauth2/token`);
    expect(await client.capabilityStatement()).toMatchObject({ fhirVersion: '4.0.1' });
  });

  test('reads, changes and deletes', async () => {
    const read = await client.read({ resourceType: 'Patient', id });
    expect(read).toMatchObject({ id, gender: 'female' });
    const version = (read.meta as { versionId: string }).versionId;
    const updated = await client.update({ resourceType: 'Patient', id, body: { ...read, active: true } });
    expect(updated).toMatchObject({ active: true });
    const old = await client.vread({ resourceType: 'Patient', id, version });
    expect(old).not.toHaveProperty('active');
    const jsonPatch = [{ op: 'replace' as const, path: '/gender', value: 'other' }];
    expect(await client.patch({ resourceType: 'Patient', id, jsonPatch })).toMatchObject({ gender: 'other' });
    const options = { headers: { prefer: 'return=minimal' } };
    const made = await client.create({
      resourceType: 'Basic',
      body: { resourceType: 'Basic', code: { text: 'x' } },
      options,
    });
    const location = Client.httpFor(made).response?.headers.get('location') ?? '';
    const own = /Basic\/([^/]+)/.exec(location)?.[1] ?? '';
    await client.delete({ resourceType: 'Basic', id: own });
    await expect(client.read({ resourceType: 'Basic', id: own }).catch(statusOf)).resolves.toBe(410);
  });

  test('updates by a condition', async () => {
    const identifier = [{ system: 'urn:kit', value: '1' }];
    const body = { resourceType: 'Organization', name: 'Kit', identifier };
    const searchParams = { identifier: 'urn:kit|1' };
    const first = await client.update({ resourceType: 'Organization', searchParams, body });
    const second = await client.update({ resourceType: 'Organization', searchParams, body });
    expect(second.id).toBe(first.id);
  });

  test('sends batches and transactions to the root, with its slash', async () => {
    const entry = [{ request: { method: 'GET', url: `Patient/${id}` } }];
    for (const type of ['batch', 'transaction'] as const) {
      const answer = await client[type]({ body: { resourceType: 'Bundle', type, entry } });
      expect([answer.type, idsIn(answer)]).toEqual([`${type}-response`, [id]]);
    }
  });

  test('searches by GET and POST, page by page', async () => {
    for (const options of [{}, { postSearch: true }]) {
      const searchParams = { subject: `Patient/${id}`, _count: '2' };
      const bundle = await client.search({ resourceType: 'Observation', searchParams, options });
      expect(idsIn(bundle)).toHaveLength(2);
      const next = await client.nextPage({ bundle: bundle as never });
      expect(idsIn(next as object)).toHaveLength(1);
      expect(await client.nextPage({ bundle: next as never })).toBeUndefined();
    }
  });

  test('goes back a page', async () => {
    const searchParams = { subject: `Patient/${id}`, _count: '2' };
    const bundle = await client.search({ resourceType: 'Observation', searchParams });
    const next = await client.nextPage({ bundle: bundle as never });
    const back = await client.prevPage({ bundle: next as never });
    expect(idsIn(back as object)).toEqual(idsIn(bundle));
  });

  test('searches the system and a compartment, by GET and POST', async () => {
    for (const options of [{}, { postSearch: true }]) {
      const all = await client.search({ searchParams: { _type: 'Patient,Observation' }, options });
      expect(idsIn(all)).toHaveLength(4);
      const compartment = { resourceType: 'Patient', id };
      const searchParams = { status: 'final' };
      const own = await client.search({ resourceType: 'Observation', compartment, searchParams, options });
      expect(idsIn(own)).toHaveLength(3);
    }
  });

  test('reads histories', async () => {
    expect(idsIn(await client.history())).toContain(id);
    expect(idsIn(await client.history({ resourceType: 'Patient', id }))).toContain(id);
    expect(idsIn(await client.history({ resourceType: 'Patient' }))).toContain(id);
  });

  test('calls operations', async () => {
    const everything = { name: '$everything', resourceType: 'Patient', id };
    expect(idsIn(await client.operation({ ...everything, method: 'GET' }))).toHaveLength(4);
    const parameter = [{ name: '_type', valueString: 'Patient' }];
    const input = { resourceType: 'Parameters', parameter };
    expect(idsIn(await client.operation({ ...everything, input }))).toEqual([id]);
    const validate = {
      name: 'validate',
      resourceType: 'Patient',
      input: { resourceType: 'Patient', gender: 'x' },
    };
    expect(await client.operation(validate)).toMatchObject({ issue: [{ severity: 'error' }] });
  });

  test('resolves references', async () => {
    expect(await client.resolve({ reference: `Patient/${id}` })).toMatchObject({ id });
    const reference = `${portico.baseUrl}/fhir/R4/Patient/${id}`;
    expect(await client.resolve({ reference })).toMatchObject({ id });
  });

  test('is told why it is refused', async () => {
    const found = await client
      .search({ resourceType: 'Patient', searchParams: { unknown: '1' } })
      .catch((e) => e);
    expect(found.response).toMatchObject({ status: 400, data: { resourceType: 'OperationOutcome' } });
  });
});
