import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fhirCalls } from './fhir-calls.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';
import { projectOf } from './running.ts';

let portico: Portico;
let ann: string;
let bea: string;
let organization: string;
const { fhir, created, tokenUnder } = fhirCalls(() => portico);

beforeAll(async () => {
  portico = await startPortico();
  organization = await created({ resourceType: 'Organization', name: 'North', alias: ['N'] });
  const managingOrganization = { reference: `Organization/${organization}` };
  ann = await created({ resourceType: 'Patient', name: [{ family: 'Ames' }], managingOrganization });
  bea = await created({ resourceType: 'Patient', name: [{ family: 'Bell' }] });
  for (const patient of [ann, ann, ann, bea]) {
    const subject = { reference: `Patient/${patient}` };
    await created({ resourceType: 'Observation', status: 'final', code: { text: 'x' }, subject });
  }
  await created({ resourceType: 'Condition', subject: { reference: `Patient/${ann}` } });
  // Names a Patient, and is in no compartment by that.
  const focus = [{ reference: `Patient/${ann}` }];
  const subject = { reference: `Patient/${bea}` };
  await created({ resourceType: 'Observation', status: 'final', code: { text: 'focus' }, subject, focus });
});
afterAll(() => portico.stop());

type Found = { resource: { resourceType: string; id: string }; search: { mode: string } };
const entriesOf = ({ json }: Answer): Found[] => json.entry ?? [];
const typesIn = (answer: Answer) => entriesOf(answer).map(({ resource }) => resource.resourceType);
const idsIn = (answer: Answer) => entriesOf(answer).map(({ resource }) => resource.id);
const linkOf = ({ json }: Answer, relation: string): string | undefined =>
  json.link.find((link: { relation: string }) => link.relation === relation)?.url.split('/fhir/R4')[1];
const get = (path: string, token?: string) =>
  portico.api('GET', `fhir/R4${path}`, token === undefined ? {} : { token });

/** All pages from the first on. */
async function pagesFrom(path: string): Promise<Answer[]> {
  const pages = [await get(path)];
  for (let next = linkOf(pages[0] as Answer, 'next'); next && pages.length < 20; ) {
    const page = await get(next);
    pages.push(page);
    next = linkOf(page, 'next');
  }
  return pages;
}

describe('a search over types', () => {
  test('finds the hits of each, page by page, each once', async () => {
    const pages = await pagesFrom('?_type=Patient,Condition,Observation&_count=2&_total=accurate');
    expect(pages.map((page) => page.status)).toEqual(pages.map(() => 200));
    expect(pages[0]?.json.total).toBe(8);
    const ids = pages.flatMap(idsIn);
    expect([ids.length, new Set(ids).size]).toEqual([8, 8]);
    expect(pages.slice(0, -1).map((page) => idsIn(page).length)).toEqual([2, 2, 2]);
    expect([...new Set(pages.flatMap(typesIn))]).toEqual(['Patient', 'Condition', 'Observation']);
  });

  test('asks each type for the parameters, includes what they say, and counts', async () => {
    const found = await get(
      `?_type=Condition,Observation&subject=Patient/${ann}&_include=Observation:subject`,
    );
    expect(found.status).toBe(400);
    const both = await get(`?_type=Condition,Observation&subject=Patient/${ann}`);
    expect(typesIn(both)).toEqual(['Condition', 'Observation', 'Observation', 'Observation']);
    expect((await get('?_type=Patient,Observation&_summary=count')).json.total).toBe(7);
  });

  test('by POST keeps its parameters out of links', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = `_type=Patient,Observation&_count=3&_lastUpdated=gt2000`;
    const first = await portico.api('POST', 'fhir/R4/_search', { body, headers });
    expect(idsIn(first)).toHaveLength(3);
    const next = String(linkOf(first, 'next'));
    expect(next).not.toMatch(/lastUpdated|Patient/);
    expect(new Set([...idsIn(first), ...idsIn(await get(next))]).size).toBe(6);
  });

  test.each([
    '',
    '?name=x',
    '?_type=Nothing',
    '?_type=User',
    '?_type=Patient,Basic&_sort=_id',
    '?_type=Patient,Basic&name=x',
  ])('GET fhir/R4%s is 400', async (query) => {
    expect((await get(query)).status).toBe(400);
  });

  test('needs the right to search each of them', async () => {
    const token = await tokenUnder([{ resourceType: 'Patient' }]);
    expect((await get('?_type=Patient', token)).status).toBe(200);
    expect((await get('?_type=Patient,Observation', token)).status).toBe(403);
  });
});

describe('the compartment of a Patient', () => {
  test('is searched by type, with further conditions, page by page', async () => {
    expect(idsIn(await get(`/Patient/${ann}/Observation`))).toHaveLength(3);
    expect(idsIn(await get(`/Patient/${bea}/Observation?status=final`))).toHaveLength(2);
    expect(idsIn(await get(`/Patient/${bea}/Observation?status=amended`))).toHaveLength(0);
    const pages = await pagesFrom(`/Patient/${ann}/Observation?_count=2`);
    expect(pages.flatMap(idsIn)).toHaveLength(3);
    expect(linkOf(pages[0] as Answer, 'next')).toMatch(new RegExp(`^/Patient/${ann}/Observation\\?`));
    const same = await get(`/Observation?_compartment=Patient/${ann}`);
    expect(new Set(idsIn(same))).toEqual(new Set(pages.flatMap(idsIn)));
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const call = { body: 'status=final', headers };
    expect(idsIn(await portico.api('POST', `fhir/R4/Patient/${ann}/Observation/_search`, call))).toHaveLength(
      3,
    );
    const entry = [{ request: { method: 'GET', url: `Patient/${ann}/Observation` } }];
    const batch = await fhir('POST', '', { body: { resourceType: 'Bundle', type: 'batch', entry } });
    expect(batch.json.entry[0].resource.entry).toHaveLength(3);
  });

  test('shows what the caller may see, and its history stays its history', async () => {
    const token = await tokenUnder([
      { resourceType: 'Observation', criteria: `Observation?subject=Patient/${bea}` },
    ]);
    expect(idsIn(await get(`/Patient/${ann}/Observation`, token))).toHaveLength(0);
    expect((await get(`/Patient/${ann}/Condition`, token)).status).toBe(403);
    const other = await portico.token(projectOf(portico, 1));
    expect(idsIn(await get(`/Patient/${ann}/Observation`, other))).toHaveLength(0);
    expect((await get(`/Patient/${ann}/_history`)).json.type).toBe('history');
  });

  test.each(['/Patient/x/Nothing', '/Patient/x/$nothing'])('%s is 404', async (path) => {
    expect((await get(path)).status).toBe(404);
  });

  test.each([
    '/Organization?_compartment=Patient/x',
    '/Observation?_compartment=Device/x',
    '/Patient/x/Organization',
  ])('%s is 400', async (path) => {
    expect((await get(path)).status).toBe(400);
  });
});

describe('pages', () => {
  test('lead back and to the first', async () => {
    const [first, second, third] = await pagesFrom('/Observation?_count=2&_sort=_lastUpdated');
    expect(linkOf(first as Answer, 'previous')).toBeUndefined();
    expect(linkOf(first as Answer, 'first')).toBeUndefined();
    expect(idsIn(await get(String(linkOf(third as Answer, 'previous'))))).toEqual(idsIn(second as Answer));
    const back = await get(String(linkOf(second as Answer, 'previous')));
    expect(idsIn(back)).toEqual(idsIn(first as Answer));
    expect(idsIn(await get(String(linkOf(third as Answer, 'first'))))).toEqual(idsIn(first as Answer));
  });

  test('begin at a small offset', async () => {
    const all = idsIn(await get('/Observation?_sort=_lastUpdated'));
    const some = await get('/Observation?_sort=_lastUpdated&_offset=3&_count=1');
    expect(idsIn(some)).toEqual([all[3]]);
    expect(idsIn(await get(String(linkOf(some, 'next'))))).toEqual([all[4]]);
    expect(idsIn(await get('/Observation?_offset=99'))).toEqual([]);
    for (const wrong of ['-1', 'x', '1001']) {
      expect((await get(`/Observation?_offset=${wrong}`)).status).toBe(400);
    }
  });
});

describe('conditions on other resources', () => {
  test('go over two references', async () => {
    expect(idsIn(await get('/Observation?subject:Patient.organization.name=North'))).toHaveLength(3);
    expect(idsIn(await get('/Observation?subject:Patient.organization.name=South'))).toHaveLength(0);
    expect(
      idsIn(await get('/Organization?_has:Patient:organization:_has:Observation:subject:status=final')),
    ).toEqual([organization]);
    expect(idsIn(await get('/Patient?organization._has:Patient:organization:family=Ames'))).toEqual([ann]);
    const three = '/Observation?subject:Patient.organization.partof.name=x';
    expect((await get(three)).status).toBe(400);
  });

  test('look at nothing that the caller may not search by', async () => {
    const rules = [
      { resourceType: 'Observation' },
      { resourceType: 'Organization' },
      { resourceType: 'Patient', hiddenFields: ['managingOrganization'] },
    ];
    const token = await tokenUnder(rules);
    expect((await get('/Observation?subject:Patient.organization.name=North', token)).status).toBe(403);
  });

  test('_has over a reference that never leads to the type is 400', async () => {
    for (const path of [
      '/Practitioner?_has:Observation:subject:code=x',
      '/Patient?_has:Observation:encounter:code=x',
    ]) {
      expect([path, (await get(path)).status]).toEqual([path, 400]);
    }
    for (const path of [
      '/Location?_has:Observation:subject:code=x',
      '/Patient?_has:Observation:patient:code=x',
    ]) {
      expect([path, (await get(path)).status]).toEqual([path, 200]);
    }
  });
});

test('_include and _revinclude follow canonical references', async () => {
  const url = 'http://example.org/fhir/Questionnaire/pain,1';
  const questionnaire = (version: string) =>
    created({ resourceType: 'Questionnaire', status: 'active', url, version });
  const [one, two] = [await questionnaire('1'), await questionnaire('2')];
  const answer = (of: string) =>
    created({ resourceType: 'QuestionnaireResponse', status: 'completed', questionnaire: of });
  const [named, any] = [await answer(`${url}|2`), await answer(url)];
  const included = async (id: string) =>
    idsIn(await get(`/QuestionnaireResponse?_id=${id}&_include=QuestionnaireResponse:questionnaire`)).slice(
      1,
    );
  expect(await included(named)).toEqual([two]);
  expect(new Set(await included(any))).toEqual(new Set([one, two]));
  const back = await get(`/Questionnaire?_id=${two}&_revinclude=QuestionnaireResponse:questionnaire`);
  expect(new Set(idsIn(back))).toEqual(new Set([two, named, any]));
});

describe('an estimate', () => {
  test('of few is exact; of many it is what the index holds, for who sees them all', async () => {
    const request = { method: 'POST', url: 'Basic' };
    const text = 'counted';
    const coding = [{ system: 'urn:a', code: 'a' }];
    const entry = Array.from({ length: 260 }, () => ({
      request,
      resource: { resourceType: 'Basic', code: { text, coding } },
    }));
    for (let left = 520; left > 0; ) {
      const body = { resourceType: 'Bundle', type: 'batch', entry: entry.slice(0, left) };
      const { json } = await fhir('POST', '', { body });
      const statuses: string[] = json.entry.map(
        ({ response }: { response: { status: string } }) => response.status,
      );
      // A slow machine leaves entries over: they are there to be sent again.
      expect(statuses.filter((status) => status !== '201' && status !== '503')).toEqual([]);
      left -= statuses.filter((status) => status === '201').length;
    }
    const total = async (path: string, token?: string) => (await get(path, token)).json.total;
    expect(await total('/Basic?_total=estimate&_count=1')).toBe(520);
    expect(await total('/Basic?code=a&_total=estimate&_count=1')).toBe(520);
    expect(await total('/Basic?code=b&_total=estimate&_count=1')).toBe(0);
    expect(await total('/Basic?_summary=count')).toBe(520);
    const token = await tokenUnder([{ resourceType: 'Basic', criteria: 'Basic?code=urn:a|a' }]);
    // What the index holds would tell of what they may not see: theirs are counted, one by one.
    expect(await total('/Basic?_total=estimate&_count=1', token)).toBe(520);
    expect(await total('/Patient?_total=estimate&_count=1')).toBe(2);
  });
});

test('composite parameters hold inside of one element', async () => {
  const measured = (code: string, value: number) => ({
    code: { coding: [{ system: 'urn:a', code }] },
    valueQuantity: { value, unit: 'mm' },
  });
  const observation = (fields: object) =>
    created({ resourceType: 'Observation', status: 'final', code: { text: 'panel' }, ...fields });
  const plain = await observation(measured('sys', 150));
  const panel = await observation({ component: [measured('sys', 120), measured('dia', 150)] });
  const both = await observation({ ...measured('dia', 150), component: [measured('sys', 90)] });
  const found = async (query: string) => new Set(idsIn(await get(`/Observation?${query}`)));
  expect(await found('code-value-quantity=urn:a|sys$gt140')).toEqual(new Set([plain]));
  expect(await found('component-code-value-quantity=sys$gt140')).toEqual(new Set());
  expect(await found('component-code-value-quantity=dia$gt140')).toEqual(new Set([panel]));
  expect(await found('combo-code-value-quantity=sys$gt140')).toEqual(new Set([plain]));
  expect(await found('combo-code-value-quantity=dia$gt140')).toEqual(new Set([panel, both]));
  expect(await found('combo-code-value-quantity=sys$lt100,sys$gt140')).toEqual(new Set([plain, both]));
  const token = await tokenUnder([{ resourceType: 'Observation', hiddenFields: ['valueQuantity'] }]);
  expect((await get('/Observation?code-value-quantity=sys$gt140', token)).status).toBe(403);
});

test('composite parameters of which one part lies beside the element', async () => {
  const coded = (code: string) => ({ coding: [{ code }] });
  const sequence = (referenceSeq: object, ...variants: [number, number][]) =>
    created({
      resourceType: 'MolecularSequence',
      coordinateSystem: 1,
      referenceSeq,
      variant: variants.map(([start, end]) => ({ start, end })),
    });
  const on = (chromosome: string) => ({ chromosome: coded(chromosome), genomeBuild: 'GRCh37' });
  const first = await sequence(on('1'), [100, 110], [500, 510]);
  const second = await sequence(on('2'), [100, 110]);
  const named = await sequence({ referenceSeqId: coded('NC_2') }, [100, 110]);
  const found = async (query: string) => new Set(idsIn(await get(`/MolecularSequence?${query}`)));
  expect(await found('chromosome-variant-coordinate=1$gt90$lt120')).toEqual(new Set([first]));
  expect(await found('chromosome-variant-coordinate=1$gt400$lt520,2$gt90$lt120')).toEqual(
    new Set([first, second]),
  );
  // The start of one variant and the end of another.
  expect(await found('chromosome-variant-coordinate=1$gt400$lt120')).toEqual(new Set());
  expect(await found('referenceseqid-variant-coordinate=NC_2$gt90$lt120')).toEqual(new Set([named]));
});

test.each([
  ['ResearchStudy', 'progress-status-state-actual', 'its parts are no parameters of R4'],
  ['Location', 'near', 'distances are not measured'],
])('%s?%s is refused by name, with the reason', async (type, code, reason) => {
  const { status, json } = await get(`/${type}?${code}=a$b`);
  expect([status, json.issue[0].details.text]).toEqual([400, expect.stringContaining(reason)]);
});

test('_project is the own one', async () => {
  const { id } = projectOf(portico, 0);
  for (const own of [id, `Project/${id}`]) {
    expect(idsIn(await get(`/Patient?_project=${own}`))).toHaveLength(2);
  }
  expect((await get(`/Patient?_project=${projectOf(portico, 1).id}`)).status).toBe(400);
});
