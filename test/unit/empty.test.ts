import { expect, test } from '@jest/globals';
import { withoutEmpty } from '../../shared/store/fhir/fields.ts';
import { createActions, updateActions } from '../../shared/store/items/change.ts';

const meta = { versionId: 'v', lastUpdated: '2026-01-31T12:00:00.000Z' };
const full = { resourceType: 'Basic', id: 'b', meta, code: { text: 'x' } };
const withHoles = { ...full, identifier: [], code: { text: 'x', coding: [{}] } };

test('whoever writes a resource in a transaction of its own stores nothing empty', () => {
  const seen = { ...full, code: { text: 'before' } };
  expect(createActions('p', withHoles)).toEqual(createActions('p', full));
  expect(updateActions('p', withHoles, seen)).toEqual(updateActions('p', full, seen));
});

test('a value without anything empty is the very same', () => {
  expect(withoutEmpty(full)).toBe(full);
  expect(withoutEmpty(withHoles)).toEqual(full);
});

test('extensions of primitives keep their places where one of them is left empty', () => {
  const extension = [{ url: 'urn:x', valueCode: 'y' }];
  const name = { given: ['Ann', 'Bea'], _given: [{ extension: [] }, { extension }] };
  expect(withoutEmpty({ name: [name] })).toEqual({ name: [{ ...name, _given: [null, { extension }] }] });
});
