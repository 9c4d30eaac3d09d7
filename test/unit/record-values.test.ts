import { expect, test } from '@jest/globals';
import type { Resource } from '@medplum/fhirtypes';
import { elementOf, formatValue, textOf } from '../../web/src/records/record-text.ts';

test.each([
  [{ family: 'Lee', given: ['Ann', 'B.'] }, 'Ann B. Lee'],
  [{ coding: [{ system: 'urn:x', code: 'a', display: 'Alpha' }] }, 'Alpha'],
  [{ coding: [{ code: 'a' }], text: 'Said so' }, 'Said so'],
  [{ start: '2026-01-01' }, '2026-01-01 to …'],
  [{ value: 5.4, unit: 'mmol/l', system: 'urn:ucum', code: 'mmol/L' }, '5.4 mmol/l'],
  [{ system: 'urn:mrn', value: '123' }, '123 (urn:mrn)'],
  [{ line: ['1 Main St'], city: 'Rome', postalCode: '00100', country: 'IT' }, '1 Main St, 00100 Rome, IT'],
  [['a', 'b'], 'a, b'],
  [false, 'no'],
  [0, '0'],
  // A quantity with a field of its own is not cut down to what a line can say.
  [{ value: 5, unit: 'mg', extra: 1 }, undefined],
  [{ reference: 'Patient/1' }, undefined],
])('%j reads %s', (value, text) => {
  expect(formatValue(value)).toBe(text);
});

test('an element of several types is found under whichever it has', () => {
  const measured = { resourceType: 'Observation', valuable: 2, valueString: 'high' } as unknown as Resource;
  expect(elementOf(measured, 'value[x]')).toBe('high');
  expect(elementOf({ resourceType: 'Observation', valuable: 2 } as unknown as Resource, 'value[x]')).toBe(
    undefined,
  );
});

test('what the service stamps is left out of the text, and what people tag is not', () => {
  const meta = { versionId: '1', lastUpdated: '2026-01-01T00:00:00Z', tag: [{ code: 'x' }] };
  expect(JSON.parse(textOf({ resourceType: 'Basic', id: '1', meta } as unknown as Resource))).toEqual({
    ...{ resourceType: 'Basic', id: '1', meta: { tag: [{ code: 'x' }] } },
  });
});
