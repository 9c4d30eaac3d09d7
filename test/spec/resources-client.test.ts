import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MedplumClient } from '@medplum/core';
import type { Bundle, Encounter, Observation, Patient } from '@medplum/fhirtypes';
import { type Portico, startPortico } from './portico.ts';

let portico: Portico;
let medplum: MedplumClient;

beforeAll(async () => {
  portico = await startPortico();
  const [project] = portico.projects;
  medplum = new MedplumClient({ baseUrl: portico.baseUrl, cacheTime: 0 });
  await medplum.startClientLogin(project?.clientId ?? '', project?.clientSecret ?? '');
});
afterAll(() => portico.stop());

const patient: Patient = {
  resourceType: 'Patient',
  identifier: [{ system: 'https://example.com/mrn', value: 'A-1' }],
  name: [{ family: 'Fernández', given: ['Ana', 'María'] }],
  telecom: [{ system: 'email', value: 'ana@example.com' }],
  birthDate: '1981-05-17',
};

describe('the unmodified MedplumClient', () => {
  test('creates, reads, updates, patches and deletes', async () => {
    const created = await medplum.createResource(patient);
    expect(created).toMatchObject(patient);
    expect(await medplum.readResource('Patient', created.id)).toEqual(created);
    expect(await medplum.readReference({ reference: `Patient/${created.id}` })).toEqual(created);

    const updated = await medplum.updateResource({ ...created, gender: 'female' });
    expect(updated.gender).toBe('female');
    expect(updated.meta?.versionId).not.toBe(created.meta?.versionId);
    const patched = await medplum.patchResource('Patient', created.id, [
      { op: 'test', path: '/gender', value: 'female' },
      { op: 'replace', path: '/birthDate', value: '1981-05-18' },
    ]);
    expect(patched.birthDate).toBe('1981-05-18');

    const history = await medplum.readHistory('Patient', created.id);
    expect(history.entry?.map(({ resource }) => resource?.meta?.versionId)).toEqual([
      patched.meta?.versionId,
      updated.meta?.versionId,
      created.meta?.versionId,
    ]);
    const first = created.meta?.versionId ?? '';
    expect(await medplum.readVersion('Patient', created.id, first)).toEqual(created);

    await medplum.deleteResource('Patient', created.id);
    await expect(medplum.readResource('Patient', created.id)).rejects.toMatchObject({
      outcome: { id: 'gone' },
    });
  });

  test('creates once with createResourceIfNoneExist, and upserts', async () => {
    const body = { ...patient, identifier: [{ system: 'https://example.com/mrn', value: 'B-2' }] };
    const condition = 'identifier=https://example.com/mrn|B-2';
    const one = await medplum.createResourceIfNoneExist(body, condition);
    const same = await medplum.createResourceIfNoneExist(body, condition);
    expect(same.id).toBe(one.id);
    const changed = await medplum.upsertResource({ ...body, active: true }, condition);
    expect(changed).toMatchObject({ id: one.id, active: true });
    const other = { ...body, identifier: [{ system: 'https://example.com/mrn', value: 'B-3' }] };
    const added = await medplum.upsertResource(other, 'identifier=https://example.com/mrn|B-3');
    expect(added.id).not.toBe(one.id);
  });

  test('searches by the parameters of everyday', async () => {
    const { id } = await medplum.createResource({
      ...patient,
      identifier: [{ system: 'https://example.com/mrn', value: 'C-3' }],
      name: [{ family: 'Zieliński', given: ['Jan'] }],
      telecom: [{ system: 'email', value: 'Jan@Example.com' }],
    });
    const queries = [
      { _id: id },
      { identifier: 'https://example.com/mrn|C-3' },
      { identifier: 'C-3' },
      { name: 'zielin' },
      { family: 'ZIELIŃ' },
      { 'family:exact': 'Zieliński' },
      { given: 'jan' },
      { email: 'jan@example.com' },
    ];
    for (const query of queries) {
      const found = await medplum.searchResources(
        'Patient',
        new URLSearchParams(query as Record<string, string>),
      );
      expect([query, found.map((one) => one.id)]).toEqual([query, [id]]);
    }
    expect((await medplum.searchOne('Patient', 'identifier=C-3'))?.id).toBe(id);
    expect(await medplum.searchOne('Patient', 'identifier=|C-3')).toBeUndefined();
    await expect(medplum.search('Patient', 'shoe-size=44')).rejects.toThrow('Unknown search parameter');
  });

  test('pages through what it finds', async () => {
    const { id } = await medplum.createResource(patient);
    const observation = (n: number): Observation => ({
      resourceType: 'Observation',
      status: 'final',
      code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }] },
      subject: { reference: `Patient/${id}` },
      valueInteger: n,
    });
    const all = await Promise.all(
      Array.from({ length: 25 }, (_, n) => medplum.createResource(observation(n))),
    );
    for (const sort of ['', '&_sort=-_lastUpdated', '&_sort=_lastUpdated']) {
      const seen: Observation[] = [];
      for await (const page of medplum.searchResourcePages(
        'Observation',
        `subject=Patient/${id}&_count=10${sort}`,
      )) {
        expect(page.length).toBeLessThanOrEqual(10);
        seen.push(...page);
      }
      expect(new Set(seen.map((one) => one.id)).size).toBe(25);
      expect(seen.length).toBe(25);
      const times = seen.map((one) => one.meta?.lastUpdated ?? '');
      if (sort)
        expect(times).toEqual(
          times.toSorted((a, b) => (sort.includes('=-') ? (a < b ? 1 : -1) : a < b ? -1 : 1)),
        );
    }
    expect(await medplum.searchResources('Observation', `patient=${id}&_count=100`)).toHaveLength(all.length);
  });

  test('executes batches and transactions', async () => {
    const transaction: Bundle = {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [
        {
          fullUrl: 'urn:uuid:61ebe359-bfdc-4613-8bf2-c5e300945f0a',
          resource: patient,
          request: { method: 'POST', url: 'Patient' },
        },
        {
          resource: {
            resourceType: 'Encounter',
            status: 'finished',
            class: { code: 'AMB' },
            subject: { reference: 'urn:uuid:61ebe359-bfdc-4613-8bf2-c5e300945f0a' },
          },
          request: { method: 'POST', url: 'Encounter' },
        },
      ],
    };
    const { entry = [] } = await medplum.executeBatch(transaction);
    expect(entry.map(({ response }) => response?.status)).toEqual(['201', '201']);
    const encounter = entry[1]?.resource as Encounter | undefined;
    const subject = encounter?.subject?.reference;
    expect(subject).toBe(`Patient/${entry[0]?.resource?.id}`);

    const batch = await medplum.executeBatch({
      resourceType: 'Bundle',
      type: 'batch',
      entry: [
        { request: { method: 'GET', url: subject ?? '' } },
        { request: { method: 'GET', url: 'Patient/none' } },
        { request: { method: 'GET', url: 'Patient?_count=1' } },
      ],
    });
    expect(batch.entry?.map(({ response }) => response?.status)).toEqual(['200', '404', '200']);
  });

  test('uploads and downloads', async () => {
    const bytes = new Uint8Array([0, 1, 2, 250, 251, 252]);
    const binary = await medplum.createBinary({
      data: bytes,
      contentType: 'application/x-thing',
      filename: 'a.bin',
    });
    const blob = await medplum.download(binary.url ?? '');
    expect(blob.type).toBe('application/x-thing');
    expect(new Uint8Array(await blob.arrayBuffer())).toEqual(bytes);
    const again = await medplum.download(`Binary/${binary.id}`);
    expect(again.size).toBe(bytes.length);
    const json = await medplum.readResource('Binary', binary.id);
    expect(json.data).toBe(Buffer.from(bytes).toString('base64'));
  });
});
