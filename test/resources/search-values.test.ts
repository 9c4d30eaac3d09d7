import { describe, expect, test } from '@jest/globals';
import type { Resource } from '../../shared/base/resource.ts';
import { indexKeys } from '../../shared/store/index/index-items.ts';
import { compartmentRanges, nameOfRange } from '../../shared/store/index/key-range.ts';
import { sortableNumber } from '../../shared/store/index/ordered.ts';
import { parametersOf, type SearchParameter } from '../../shared/store/index/registry.ts';
import { matchesAll } from '../../shared/store/search/filter.ts';
import { firstEntryIn, orderedRanges, sourcesOf } from '../../shared/store/search/find-hits.ts';
import { parseSearch, readCriteria } from '../../shared/store/search/search-request.ts';
import fc from '../setup/fast-check.ts';

/** Whether a resource is a hit of `Type?param=value&…`. */
function matchesQuery(resource: Resource, query: string): boolean {
  const [type = '', text = ''] = query.split(/\?(.*)/s);
  return type === resource.resourceType && matchesAll(resource, readCriteria(type, text));
}

const meta = { versionId: 'v', lastUpdated: '2026-01-02T03:04:05.678Z' };

const patient: Resource = {
  resourceType: 'Patient',
  id: 'p',
  meta: { ...meta, tag: [{ system: 'urn:tag', code: 'Test' }] },
  active: true,
  identifier: [{ system: 'urn:mrn', value: 'A|1' }, { value: 'plain' }],
  name: [{ family: "O'Brien-Smith", given: ['Mary Ann', 'ΠαπάΣογλου'], text: 'Mary Ann O’Brien' }],
  telecom: [{ system: 'email', value: 'Mary@Example.com' }],
  birthDate: '1974-12',
  address: [{ line: ['12 Rue de l’Église'], city: 'Montréal', postalCode: 'H2X 1Y4' }],
  generalPractitioner: [
    { reference: 'Practitioner/a' },
    { reference: 'http://other.org/fhir/Organization/b' },
  ],
  managingOrganization: { reference: 'Organization/o/_history/3' },
};

const observation: Resource = {
  resourceType: 'Observation',
  id: 'o',
  meta,
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: '8480-6', display: 'Systolic' }], text: 'pressure' },
  subject: { reference: 'Patient/p', identifier: { system: 'urn:mrn', value: '7' } },
  effectivePeriod: { start: '2020-01-10', end: '2020-02-10T12:00:00Z' },
  valueQuantity: { value: 5.4, system: 'http://unitsofmeasure.org', code: 'mg', unit: 'milligram' },
};

const yes: [Resource, string[]][] = [
  [
    patient,
    [
      '_id=p',
      '_id=x,p',
      '_id:not=x',
      '_tag=urn:tag|test',
      '_lastUpdated=2026-01-02',
      '_lastUpdated=gt2026-01-01&_lastUpdated=lt2026-02',
      'active=true',
      'deceased=false',
      String.raw`identifier=urn:mrn|A\|1`,
      String.raw`identifier=A\|1`,
      'identifier=|plain',
      'identifier=urn:mrn|',
      'identifier=none,plain',
      "family=o'brien",
      "family:exact=O'Brien-Smith",
      'family:contains=smith',
      'name=mary',
      'name=ann mary',
      'name=brien,mary',
      'given=ΠΑΠΑΣ',
      'email=mary@example.com',
      'birthdate=1974',
      'birthdate=1974-12',
      'birthdate=ge1974-12-15',
      'birthdate=ne1974-11',
      'birthdate=le1974-12-01',
      'address=montreal',
      'address-postalcode=h2x',
      'address-city:exact=Montréal',
      'general-practitioner=Practitioner/a',
      'general-practitioner=a',
      'general-practitioner:Practitioner=a',
      'general-practitioner=http://other.org/fhir/Organization/b',
      'organization=Organization/o',
      'gender:missing=true',
      'active:missing=false',
      'gender:not=male',
    ],
  ],
  [
    observation,
    [
      'code=http://loinc.org|8480-6',
      'code=8480-6',
      'code:text=syst',
      'code:text=press',
      'combo-code=8480-6',
      'status=final',
      'status=http://hl7.org/fhir/observation-status|final',
      'subject=Patient/p',
      'patient=p',
      'patient=Patient/p',
      'subject:identifier=urn:mrn|7',
      'date=2020',
      'date=ge2020-02-01',
      'date=lt2020-01-11',
      'date=sa2019',
      'date=eb2021',
      'date=ap2020-01-20',
      'date=ge2020-02-01&date=lt2020-02-02',
      'value-quantity=5.4',
      'value-quantity=5',
      'value-quantity=gt5.39||mg',
      'value-quantity=ap5|http://unitsofmeasure.org|mg',
      'value-quantity=5.40||milligram',
    ],
  ],
  [
    { ...observation, valueQuantity: { value: 66.89999999999999 } },
    ['value-quantity=66.89999999999999', 'value-quantity=66.9'],
  ],
  [{ ...observation, valueQuantity: { value: 1e18 } }, ['value-quantity=1000000000000000000']],
];

const no: [Resource, string[]][] = [
  [
    patient,
    [
      '_id:not=p',
      '_lastUpdated=gt2026-01-02',
      'identifier=urn:mrn|plain',
      'identifier=|A',
      'identifier=urn:other|',
      "family:exact=o'brien-smith",
      'family=smith',
      'name=mary bob',
      'birthdate=1974-12-25',
      'birthdate=gt1974-12-31',
      'general-practitioner=Organization/b',
      'general-practitioner:Organization=a',
      'active:missing=true',
      'active:not=true',
      'deceased=true',
    ],
  ],
  [
    observation,
    [
      'code=http://snomed.info/sct|8480-6',
      'code=|8480-6',
      'patient=Group/p',
      'date=2020-01',
      'date=gt2020-03',
      'date=eb2020',
      'value-quantity=5.3',
      'value-quantity=gt5.4',
      'value-quantity=5.4||g',
    ],
  ],
];

const cases = (table: [Resource, string[]][]) =>
  table.flatMap(([resource, queries]) =>
    queries.map((query) => [`${resource.resourceType}?${query}`, resource] as const),
  );

test('a Patient is found in its own compartment, though no index item leads there', () => {
  const ranges = compartmentRanges('Patient/p', 'Patient');
  expect(firstEntryIn(ranges, 'in turn')(patient)?.sk).toBe('p');
  expect(firstEntryIn(ranges, 'in turn')({ ...patient, id: 'another' })).toBeUndefined();
  const linked = { ...patient, id: 'q', link: [{ other: { reference: 'Patient/p' } }] };
  expect(firstEntryIn(ranges, 'in turn')(linked)?.sk).toBe('Patient#q');
});

describe('a search', () => {
  test.each(cases(yes))('%s matches', (query, resource) => {
    expect(matchesQuery(resource, query)).toBe(true);
  });

  test.each(cases(no))('%s does not match', (query, resource) => {
    expect(matchesQuery(resource, query)).toBe(false);
  });

  test.each(cases(yes))('%s finds what it matches', (query, resource) => {
    const type = resource.resourceType;
    const { filters } = parseSearch(type, new URLSearchParams(query.split('?')[1]), undefined);
    const list = orderedRanges(parametersOf(type).get('_lastUpdated') as SearchParameter, filters).ranges;
    const read = [...sourcesOf(filters).map(({ keyRanges }) => keyRanges), list];
    for (const ranges of read) {
      const place = firstEntryIn(ranges, 'in turn')(resource);
      const at = ranges.find((range) => nameOfRange(range) === place?.range);
      if (at?.index === '_id') expect(place?.sk).toBe(resource.id);
      else {
        const pk = `P#x#IX#${type}#${at?.index}#${at?.bucket}`;
        expect([...indexKeys('x', resource).values()]).toContainEqual({ pk, sk: place?.sk });
      }
    }
  });

  test.each([
    'Patient?birthdate=yesterday',
    'Patient?identifier=',
    'Patient?identifier=|',
    'Patient?general-practitioner=',
    'Patient?active:exact=true',
    'Patient?family:missing=perhaps',
    'Observation?value-quantity=many',
    'Patient?_sort=shoe-size',
    'Patient?name:not=x',
    'Patient?identifier:in=urn:x',
    'Patient?general-practitioner:Nonsense=x',
    'Observation?code-value-quantity=a',
    'Observation?code-value-quantity=a$five',
    'Observation?code-value-quantity=a$5$6',
    'Patient?_include=Patient:nonsense',
    'Patient?_summary=most',
    'Patient?_filter=name ew x',
    'Patient?_filter=(name eq x',
    'Patient?_filter=name eq x and name eq y or name eq z',
    'Patient?organization.name=x',
    'Patient?_count=-1',
    'Patient?toString=1',
  ])('%s is refused', (query) => {
    expect(() => matchesQuery({ resourceType: query.split('?')[0] ?? '', id: 'x', meta }, query)).toThrow();
  });

  test('numbers sort as their keys do', () => {
    const number = fc.double({ noNaN: true });
    fc.assert(
      fc.property(number, number, (a, b) => {
        const [first, second] = [sortableNumber(a), sortableNumber(b)];
        return a === b ? first === second : a < b === first < second;
      }),
    );
  });

  test('no part of a key is longer than DynamoDB allows', () => {
    const long = '𝔏'.repeat(5000);
    const resource = { ...patient, name: [{ family: long }], identifier: [{ system: long, value: long }] };
    for (const { pk, sk } of indexKeys('x'.repeat(64), resource).values()) {
      expect(Buffer.byteLength(pk)).toBeLessThanOrEqual(2048);
      expect(Buffer.byteLength(sk)).toBeLessThanOrEqual(1024);
    }
  });
});
