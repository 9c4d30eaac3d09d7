import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fhirCalls } from './fhir-calls.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';
import { projectOf } from './running.ts';

let portico: Portico;
const { fhir, created, tokenUnder } = fhirCalls(() => portico);

/** Of one Basic: its versions from the first on, the last a deletion. */
const times: string[] = [];
let changed: string;
let other: string;
let patient: string;

beforeAll(async () => {
  portico = await startPortico();
  other = await created({ resourceType: 'Basic', code: { text: 'other' } });
  changed = await created({ resourceType: 'Basic', code: { text: '1' } });
  const note = async () => {
    const { json } = await fhir('GET', `Basic/${changed}/_history`);
    times.push(json.entry[0].response.lastModified);
  };
  await note();
  for (const text of ['2', '3']) {
    await fhir('PUT', `Basic/${changed}`, { body: { resourceType: 'Basic', id: changed, code: { text } } });
    await note();
  }
  await fhir('DELETE', `Basic/${changed}`);
  await note();
  patient = await created({ resourceType: 'Patient' });
});
afterAll(() => portico.stop());

type Entry = {
  request: { method: string };
  resource?: { code?: { text: string }; resourceType: string };
  fullUrl: string;
};
const entriesOf = ({ json }: Answer): Entry[] => json.entry ?? [];
/** Texts of the states, newest first; `-` for a deletion. */
const texts = (answer: Answer) => entriesOf(answer).map(({ resource }) => resource?.code?.text ?? '-');
const history = (path: string, token?: string) => fhir('GET', path, token === undefined ? {} : { token });

describe('a history', () => {
  test.each(['Basic', '_history'])('since an instant: of %s', async (what) => {
    const of = what === 'Basic' ? `Basic/${changed}/_history` : 'Basic/_history';
    expect(texts(await history(`${of}?_since=${times[1]}`))).toEqual(['-', '3', '2']);
    expect(texts(await history(`${of}?_since=${times[3]}`))).toEqual(['-']);
    expect(texts(await history(`${of}?_since=2999`))).toEqual([]);
  });

  test('at an instant is what was current then', async () => {
    const at = (i: number) => `_at=${new Date(Date.parse(String(times[i])) + 1).toISOString()}`;
    // A millisecond after the version was made: then it alone was current.
    expect(texts(await history(`Basic/${changed}/_history?${at(1)}`))).toEqual(['2']);
    expect(texts(await history(`Basic/_history?${at(2)}`))).toEqual(['3', 'other']);
    expect(texts(await history(`Basic/_history?${at(3)}`))).toEqual(['-', 'other']);
    expect(texts(await history('Basic/_history?_at=2000'))).toEqual([]);
    expect(texts(await history(`Basic/_history?_at=${String(times[0]).slice(0, 4)}`))).toHaveLength(5);
  });

  test('of the system tells of every type, page by page', async () => {
    const pages = [await history('_history?_count=3')];
    for (let i = 0; i < 20; i++) {
      const next = pages.at(-1)?.json.link.find((link: { relation: string }) => link.relation === 'next');
      if (!next) break;
      pages.push(await history(next.url.split('/fhir/R4/')[1]));
    }
    const all = pages.flatMap(entriesOf);
    expect(pages[0]?.json.type).toBe('history');
    expect(all.filter(({ fullUrl }) => fullUrl.endsWith(changed))).toHaveLength(4);
    const types = new Set(all.map(({ resource }) => resource?.resourceType));
    expect([...types]).toEqual(expect.arrayContaining(['Patient', 'Basic', 'ProjectMembership', undefined]));
  });

  test('of the system is of the types that are named, and that the caller may see', async () => {
    const found = entriesOf(await history('_history?_type=Patient'));
    expect(found.some(({ fullUrl }) => fullUrl.endsWith(patient))).toBe(true);
    expect(found.every(({ resource }) => resource?.resourceType === 'Patient')).toBe(true);
    const token = await tokenUnder([{ resourceType: 'Basic', criteria: 'Basic?code:text=other' }]);
    expect(
      entriesOf(await history('_history', token)).map(({ fullUrl }) => fullUrl.split('/').at(-1)),
    ).toEqual([other]);
    expect((await history('_history?_type=Patient', token)).status).toBe(403);
    const stranger = await portico.token(projectOf(portico, 1));
    expect((await history('_history?_type=Basic', stranger)).json.entry).toBeUndefined();
  });

  test.each(['_since=soon', '_at=x', '_since=2020&_at=2020', '_type=Nothing', 'name=x'])(
    '%s is 400',
    async (query) => {
      expect((await history(`_history?${query}`)).status).toBe(400);
      expect((await history(`Basic/_history?${query}`)).status).toBe(400);
    },
  );
});
