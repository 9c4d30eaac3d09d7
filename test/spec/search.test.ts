import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MedplumClient } from '@medplum/core';
import { type Answer, type Call, type Portico, startPortico } from './portico.ts';
import { createClient, createPolicy, projectOf } from './running.ts';

let portico: Portico;

beforeAll(async () => {
  portico = await startPortico();
  await seed();
});
afterAll(() => portico.stop());

const fhir = (method: string, path: string, call: Call = {}): Promise<Answer> =>
  portico.api(method, `fhir/R4${path}`, call);

const ucum = 'http://unitsofmeasure.org';
const loinc = 'http://loinc.org';

/** Under fixed ids, by PUT, in one transaction. */
async function seed(): Promise<void> {
  const resources = [
    { resourceType: 'Organization', id: 'north', name: 'North Clinic' },
    { resourceType: 'Practitioner', id: 'grey', name: [{ family: 'Grey' }] },
    {
      ...{ resourceType: 'Group', id: 'there', type: 'person', actual: true },
      characteristic: [
        { code: { text: 'at' }, exclude: false, valueReference: { reference: 'Organization/north' } },
      ],
    },
    {
      resourceType: 'Patient',
      id: 'ana',
      active: true,
      identifier: [{ system: 'urn:mrn', value: 'A-1' }],
      name: [{ family: 'Fernández', given: ['Ana', 'María'] }],
      birthDate: '1981-05-17',
      address: [{ postalCode: '8001', city: 'Zürich' }],
      managingOrganization: { reference: 'Organization/north' },
    },
    {
      resourceType: 'Patient',
      id: 'ben',
      active: false,
      identifier: [{ value: 'in_1' }],
      name: [{ family: 'Fern', given: ['Ben'] }],
      birthDate: '1990',
    },
    { resourceType: 'Patient', id: 'cyd', name: [{ family: 'Cyd', given: ['Anabel'] }] },
    ...[1, 2, 3].map((n) => ({
      resourceType: 'Observation',
      id: `ana-${n}`,
      status: n === 3 ? 'preliminary' : 'final',
      code: { coding: [{ system: loinc, code: n === 1 ? '8480-6' : '8462-4' }] },
      subject: { reference: 'Patient/ana', identifier: { system: 'urn:mrn', value: 'A-1' } },
      performer: [{ reference: 'Practitioner/grey' }],
      effectiveDateTime: `2026-0${n}-10T10:00:00Z`,
      valueQuantity: { value: 100 + n, system: ucum, code: 'mm[Hg]' },
    })),
    {
      resourceType: 'Observation',
      id: 'ben-1',
      status: 'final',
      code: { coding: [{ system: loinc, code: '8480-6' }] },
      subject: { reference: 'Patient/ben' },
    },
    { resourceType: 'ValueSet', id: 'vs', status: 'draft', url: 'http://example.org/vs/a', version: '2' },
    {
      resourceType: 'Provenance',
      id: 'prov',
      target: [{ reference: 'Observation/ana-1' }],
      recorded: '2026-01-10T10:00:00Z',
      agent: [{ who: { reference: 'Practitioner/grey' } }],
    },
  ];
  const entry = resources.map((resource) => ({
    resource,
    request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
  }));
  const body = { resourceType: 'Bundle', type: 'transaction', entry };
  const answer = await fhir('POST', '', { body });
  expect([answer.status, answer.text.slice(0, 500)]).toEqual([200, expect.anything()]);
}

/** The ids of the entries of one mode, in their order. */
async function ids(path: string, mode = 'match', call: Call = {}): Promise<string[]> {
  const { status, json } = await fhir('GET', path, call);
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(json)}`);
  const entries = (json.entry ?? []) as { resource: { id: string }; search: { mode: string } }[];
  return entries.filter(({ search }) => search.mode === mode).map(({ resource }) => resource.id);
}

const sorted = async (path: string, mode?: string) => (await ids(path, mode)).sort();

describe('a search', () => {
  test.each([
    // What Bots send.
    ['Patient?identifier=urn:mrn|A-1', ['ana']],
    ['Patient?identifier=in_1', ['ben']],
    ['Patient?identifier=https://example.org/x|undefined', []],
    ['Patient?family:exact=Fernández&given:exact=Ana', ['ana']],
    ['Patient?family=fern', ['ana', 'ben']],
    ['Patient?birthdate=1981-05-17&address-postalcode=8001', ['ana']],
    ['Patient?active=true', ['ana']],
    ['Patient?family=fern&_id:not=ben', ['ana']],
    ['Observation?patient=ana&_sort=-date&_count=1', ['ana-3']],
    ['Observation?subject=Patient/ana&status=final', ['ana-1', 'ana-2']],
    [`Observation?code=${loinc}|8480-6`, ['ana-1', 'ben-1']],
    ['Observation?_filter=date ge 2026-02-01 and date lt 2026-03-10', ['ana-2']],
    // Every type of parameter, and what stands between its values.
    ['Patient?name=ana', ['ana', 'cyd']],
    ['Patient?name:contains=nan', ['ana']],
    ['Patient?address-city=zurich', ['ana']],
    ['Patient?birthdate=gt1985', ['ben']],
    ['Patient?birthdate:missing=true', ['cyd']],
    ['Patient?_id=ana,ben&active:not=true', ['ben']],
    ['Patient?identifier=|in_1', ['ben']],
    ['Patient?identifier=urn:mrn|', ['ana']],
    ['Observation?value-quantity=gt101', ['ana-2', 'ana-3']],
    [`Observation?value-quantity=102|${ucum}|mm[Hg]`, ['ana-2']],
    ['Observation?subject:identifier=urn:mrn|A-1&code=8480-6', ['ana-1']],
    ['Observation?subject:Patient=ben', ['ben-1']],
    ['Observation?date=2026-01,2026-03', ['ana-1', 'ana-3']],
    ['ValueSet?url=http://example.org/vs/a', ['vs']],
    ['ValueSet?url:below=http://example.org/vs', ['vs']],
    // Over references.
    ['Observation?subject:Patient.name=fern', ['ana-1', 'ana-2', 'ana-3', 'ben-1']],
    ['Observation?patient.identifier=urn:mrn|A-1&status=preliminary', ['ana-3']],
    ['Observation?patient.name=nobody', []],
    ['Patient?organization.name=north', ['ana']],
    // R4 does not say to what this one refers.
    ['Organization?_has:Group:characteristic-reference:type=person', ['north']],
    ['Patient?_has:Observation:patient:code=8462-4', ['ana']],
    ['Patient?_filter=(name sw fern and active eq true) or birthdate pr false', ['ana', 'cyd']],
    ['Patient?_filter=not(family co "ern")', ['cyd']],
  ])('%s finds %j', async (path, found) => {
    expect(await sorted(`/${path.replaceAll('|', '%7C')}`)).toEqual(found);
  });

  test('takes an absolute reference to a resource of ours', async () => {
    const reference = encodeURIComponent(`${portico.baseUrl}/fhir/R4/Patient/ben`);
    expect(await ids(`/Observation?subject=${reference}`)).toEqual(['ben-1']);
  });

  test.each([
    ['Patient?shoe-size=44', 'shoe-size'],
    ['Patient?name:in=x', 'name:in'],
    ['Patient?_sort=shoe-size', '_sort'],
    ['Observation?code-value-quantity=a', 'code-value-quantity'],
    ['Observation?code-value-quantity=a$b', 'value-quantity'],
    ['Observation?code-value-quantity:missing=true', 'code-value-quantity:missing'],
    ['Observation?_sort=code-value-quantity', '_sort'],
    ['Location?near=1|2', 'near'],
    ['Patient?_include=Patient:shoe', '_include'],
    ['Patient?_summary=some', '_summary'],
    ['Patient?_filter=name matches x', '_filter'],
    ['Observation?subject.name=x', 'subject.name'],
    ['Observation?subject:Patient.organization.partof.name=x', 'subject:Patient.organization.partof.name'],
    ['Patient?_cursor=abc', '_cursor'],
  ])('%s is refused by its name, lenient handling or not', async (path, expression) => {
    const { status, json } = await fhir('GET', `/${path}`, { headers: { prefer: 'handling=lenient' } });
    expect([status, json.issue[0].expression]).toEqual([400, [expression]]);
  });
});

describe('the answer of a search', () => {
  test('has the elements of a long list of names as fast as those of a short one', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = `_id=ana&_elements=name${',x'.repeat(500_000)}`;
    const from = performance.now();
    const { json } = await fhir('POST', '/Patient/_search', { body, headers });
    expect(Object.keys(json.entry[0].resource).sort()).toEqual(['id', 'meta', 'name', 'resourceType']);
    expect(performance.now() - from).toBeLessThan(4000);
  });

  test('is refused where the search that goes on is too long to be kept', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = `_count=1${'&_count=1'.repeat(40_000)}`;
    expect((await fhir('POST', '/Patient/_search', { body, headers })).status).toBe(400);
  });

  test('is sorted by several parameters, what has no value last', async () => {
    expect(await ids('/Patient?_sort=-birthdate')).toEqual(['ben', 'ana', 'cyd']);
    expect(await ids('/Patient?_sort=birthdate')).toEqual(['ana', 'ben', 'cyd']);
    expect(await ids('/Observation?subject=Patient/ana&_sort=status,-date')).toEqual([
      'ana-2',
      'ana-1',
      'ana-3',
    ]);
    expect(await ids('/Patient?_sort=family')).toEqual(['cyd', 'ben', 'ana']);
  });

  test.each(['_sort=birthdate', '_sort=-family', '_sort=_lastUpdated', 'name=fern,cyd', ''])(
    'comes in pages of one by %s, nothing lost, nothing twice',
    async (query) => {
      const found: string[] = [];
      let path: string | undefined = `/Patient?_count=1&${query}`;
      for (let page = 0; path !== undefined && page < 10; page++) {
        const { status, json } = await fhir('GET', path);
        expect(status).toBe(200);
        const [entry] = json.entry ?? [];
        if (entry) found.push(entry.resource.id);
        const next = json.link.find(({ relation }: { relation: string }) => relation === 'next');
        path = next?.url.split('fhir/R4')[1];
      }
      expect(found.sort()).toEqual(['ana', 'ben', 'cyd']);
    },
  );

  test('says how many there are, when asked', async () => {
    expect((await fhir('GET', '/Patient?_count=1')).json).not.toHaveProperty('total');
    expect((await fhir('GET', '/Patient?_count=1&_total=accurate')).json.total).toBe(3);
    expect((await fhir('GET', '/Patient?_count=1&_total=estimate')).json.total).toBe(3);
    const { json } = await fhir('GET', '/Observation?status=final&_summary=count');
    expect([json.total, json.entry]).toEqual([3, undefined]);
  });

  test('is a summary, marked as one', async () => {
    const summary = async (how: string) =>
      (await fhir('GET', `/Patient?_id=ana&_summary=${how}`)).json.entry[0].resource;
    const short = await summary('true');
    expect(short).toMatchObject({ id: 'ana', birthDate: '1981-05-17', name: [{ family: 'Fernández' }] });
    expect(short.meta.tag).toEqual([expect.objectContaining({ code: 'SUBSETTED' })]);
    expect(Object.keys(await summary('text')).sort()).toEqual(['id', 'meta', 'resourceType']);
    expect(await summary('false')).not.toHaveProperty('meta.tag');
  });

  test('brings what was referred to, and what refers', async () => {
    const path = '/Observation?_id=ana-1&_include=Observation:subject&_include=Observation:performer';
    expect(await ids(path)).toEqual(['ana-1']);
    expect(await sorted(path, 'include')).toEqual(['ana', 'grey']);
    const further = `${path}&_include:iterate=Patient:organization&_revinclude=Provenance:target`;
    expect(await sorted(further, 'include')).toEqual(['ana', 'grey', 'north', 'prov']);
    expect(await sorted('/Patient?_id=ana&_revinclude=Observation:patient', 'include')).toEqual([
      'ana-1',
      'ana-2',
      'ana-3',
    ]);
  });
});

describe('Patient/$everything', () => {
  test('answers the Patient, what refers to it, and who is named there', async () => {
    const path = '/Patient/ana/$everything';
    expect(await sorted(path)).toEqual(['ana', 'ana-1', 'ana-2', 'ana-3']);
    expect(await sorted(path, 'include')).toEqual(['grey', 'north']);
    expect(await ids(`${path}?_type=Observation&_count=2`)).toHaveLength(2);
    expect(await ids(`${path}?_since=2100-01-01`)).toEqual([]);
    expect((await fhir('GET', `${path}?_elements=id`)).status).toBe(400);
    expect((await fhir('GET', '/Patient/nobody/$everything')).status).toBe(404);
  });

  test('is the end of its path, in a Bundle too', async () => {
    const request = { method: 'GET', url: 'Patient/ana/$everything/x' };
    const body = { resourceType: 'Bundle', type: 'batch', entry: [{ request }] };
    const { json } = await fhir('POST', '', { body });
    expect(json.entry[0].response.status).toBe('404');
  });

  test('comes in pages', async () => {
    const first = await fhir('GET', '/Patient/ana/$everything?_count=2');
    const next = first.json.link.find(({ relation }: { relation: string }) => relation === 'next');
    const second = await fhir('GET', next.url.split('fhir/R4')[1]);
    const matches = [...first.json.entry, ...second.json.entry]
      .filter(({ search }) => search.mode === 'match')
      .map(({ resource }) => resource.id);
    expect(matches.sort()).toEqual(['ana', 'ana-1', 'ana-2', 'ana-3']);
    const foreign = await portico.token(projectOf(portico, 1));
    expect((await fhir('GET', next.url.split('fhir/R4')[1], { token: foreign })).status).not.toBe(200);
  });

  test('and searches answer the unmodified MedplumClient', async () => {
    const { clientId, clientSecret } = projectOf(portico, 0);
    const medplum = new MedplumClient({ baseUrl: portico.baseUrl, cacheTime: 0 });
    await medplum.startClientLogin(clientId, clientSecret);
    const everything = await medplum.readPatientEverything('ana');
    expect(everything.entry?.length).toBe(6);
    const found = await medplum.searchResources('Observation', { subject: 'Patient/ana', _sort: '-date' });
    expect(found.map(({ id }) => id)).toEqual(['ana-3', 'ana-2', 'ana-1']);
    expect((await medplum.searchOne('Patient', 'family:exact=Fern'))?.id).toBe('ben');
    const pages: (string | undefined)[][] = [];
    for await (const page of medplum.searchResourcePages('Observation', { status: 'final', _count: 2 })) {
      pages.push(page.map(({ id }) => id));
    }
    expect(pages.flat().sort()).toEqual(['ana-1', 'ana-2', 'ben-1']);
    expect(pages.length).toBeGreaterThan(1);
  });
});

describe('what the caller may not read', () => {
  test('is in no search, include, chain or record', async () => {
    const accessPolicy = await createPolicy(portico, [
      { resourceType: 'Patient', criteria: 'Patient?_id=ana' },
      { resourceType: 'Observation', criteria: 'Observation?status=final' },
      { resourceType: 'Organization', interaction: ['read'], criteria: 'Organization?name=Other' },
    ]);
    const { token } = await createClient(portico, { accessPolicy });
    const seen = (path: string, mode?: string) => ids(path, mode, { token });
    expect(await seen('/Patient')).toEqual(['ana']);
    expect(await seen('/Patient?_sort=birthdate')).toEqual(['ana']);
    expect((await seen('/Observation')).sort()).toEqual(['ana-1', 'ana-2', 'ben-1']);
    expect(await seen('/Patient?_has:Observation:patient:status=preliminary')).toEqual([]);
    expect(await seen('/Observation?subject:Patient.family=fern&code=8480-6')).toEqual(['ana-1']);
    const included = '/Observation?_include=Observation:subject&_include=Observation:performer';
    expect(await seen(included, 'include')).toEqual(['ana']);
    expect((await seen('/Patient?_revinclude=Observation:patient', 'include')).sort()).toEqual([
      'ana-1',
      'ana-2',
    ]);
    expect(await seen('/Patient?_revinclude=Provenance:target', 'include')).toEqual([]);
    expect((await seen('/Patient/ana/$everything')).sort()).toEqual(['ana', 'ana-1', 'ana-2']);
    expect(await seen('/Patient/ana/$everything', 'include')).toEqual([]);
    const total = await fhir('GET', '/Patient?_total=accurate', { token });
    expect(total.json.total).toBe(1);
    for (const path of ['/Patient?organization.name=north', '/Practitioner', '/Patient/ben/$everything']) {
      expect([path, (await fhir('GET', path, { token })).status]).toEqual([path, 403]);
    }
  });
});

describe('metadata', () => {
  test('lists what can be searched by, and nothing that cannot', async () => {
    const { json } = await fhir('GET', '/metadata', { token: null });
    for (const { type, searchParam, searchInclude } of json.rest[0].resource) {
      if (!['Observation', 'Patient'].includes(type)) continue;
      for (const { name, type: kind } of searchParam) {
        const value =
          { date: '2020', number: '1', quantity: '1', reference: 'Patient/x', composite: 'x$2020' }[
            kind as 'date'
          ] ?? 'x';
        const { status } = await fhir('GET', `/${type}?${name}=${value}&_count=1`);
        expect([type, name, status]).toEqual([type, name, 200]);
      }
      expect(searchInclude).toContain(type === 'Patient' ? 'Patient:organization' : 'Observation:subject');
    }
  });
});
