import { describe, expect, test } from '@jest/globals';
import { derivedId, rewriteReferences } from '../../infra/import/catalogue.ts';
import { parseJson } from '../../shared/base/json.ts';

const names = new Map([
  ['urn:uuid:1', 'Patient/p'],
  ['Observation/9', 'Observation/o'],
  ['https://old.example.org/fhir/Patient/1', 'Patient/p'],
  ['Organization?identifier=a|b', 'Organization/g'],
]);

const rewrite = (value: unknown) => rewriteReferences(value, (name) => names.get(name));

describe('a link to another resource of the data set', () => {
  test.each([
    [{ subject: { reference: 'urn:uuid:1' } }, { subject: { reference: 'Patient/p' } }],
    [{ a: [{ b: [{ reference: 'Observation/9' }] }] }, { a: [{ b: [{ reference: 'Observation/o' }] }] }],
    [{ reference: 'Observation/9/_history/3' }, { reference: 'Observation/o' }],
    [{ reference: 'https://old.example.org/fhir/Patient/1' }, { reference: 'Patient/p' }],
    [{ reference: 'Organization?identifier=a|b' }, { reference: 'Organization/g' }],
    [{ content: { attachment: { url: 'urn:uuid:1' } } }, { content: { attachment: { url: 'Patient/p' } } }],
    [
      { text: { div: '<div><a href="urn:uuid:1">x</a> <img src=\'#1\'/> urn:uuid:1</div>' } },
      { text: { div: '<div><a href="Patient/p">x</a> <img src=\'#1\'/> urn:uuid:1</div>' } },
    ],
  ])('%j becomes %j', (from, to) => {
    expect(rewrite(from)).toEqual({ resource: to, missed: [] });
  });

  test.each([
    { contained: [{ id: '1' }], a: { reference: '#1' } },
    { identifier: [{ system: 'urn:ietf:rfc:3986', value: 'urn:uuid:1' }] },
    { note: 'Observation/9', reference: 'https://elsewhere.example.org/Patient/1' },
  ])('is none in %j', (value) => {
    expect(rewrite(value)).toEqual({ resource: value, missed: [] });
  });

  test('that leads nowhere is told', () => {
    const value = { a: { reference: 'Patient/nobody' }, b: { reference: 'urn:uuid:2' } };
    expect(rewrite(value)).toEqual({ resource: value, missed: ['Patient/nobody', 'urn:uuid:2'] });
  });

  test('leaves numbers as they are written', () => {
    const { resource } = rewrite(parseJson('{"a":{"value":1.50},"b":{"reference":"urn:uuid:1"}}'));
    expect(JSON.stringify(resource)).toBe('{"a":{"value":1.50},"b":{"reference":"Patient/p"}}');
  });
});

test('ids are those of data set, type and source, and UUIDs', () => {
  const id = derivedId('a', 'Patient', 'Patient/1');
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(derivedId('a', 'Patient', 'Patient/1')).toBe(id);
  const others = [
    derivedId('b', 'Patient', 'Patient/1'),
    derivedId('a', 'Group', 'Patient/1'),
    derivedId('a', 'Patient', '1'),
  ];
  expect(new Set([id, ...others]).size).toBe(4);
});
