import { describe, expect, test } from '@jest/globals';
import { parseJson, stringifyJson } from '../../shared/base/json.ts';
import {
  commonFields,
  isClosed,
  keepFields,
  touches,
  withoutFields,
} from '../../shared/store/fhir/fields.ts';
import fc from '../setup/fast-check.ts';

const paths = ['a', 'a.b', 'a.b.c', 'b', 'v[x]', 'c.v[x]'];
const names = ['a', '_a', 'b', 'c', 'vString', 'vQuantity', '_vString', 'v', 'vs'];

/** Objects and lists over few names, so that paths meet them often. */
const { node } = fc.letrec((tie) => ({
  node: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 4 }),
  value: fc.oneof(
    { depthSize: 'small' },
    fc.integer({ min: 0, max: 3 }),
    tie('node'),
    fc.array(tie('node'), { maxLength: 3 }),
  ),
})) as { node: fc.Arbitrary<Record<string, unknown>> };
const somePaths = fc.subarray(paths, { minLength: 1 });

/** What stands at the paths, in the order of the text. */
function closedValues(value: unknown, closed: readonly string[], steps: string[] = []): unknown[] {
  if (closed.some((path) => steps.length > 0 && isClosed(path, steps))) return [value];
  if (Array.isArray(value)) return value.flatMap((part) => closedValues(part, closed, steps));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => closedValues(part, closed, [...steps, name]));
}

/** With its members in the order of their names. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, part]) => [name, sorted(part)]),
  );
}

test('what is closed is taken out of an object that looks like a number, and of no number', () => {
  const value = parseJson('{"a":{"rawJSON":"1","b":2},"c":1.50}') as object;
  expect(stringifyJson(withoutFields(value, ['a.b', 'c.rawJSON']))).toBe('{"a":{"rawJSON":"1"},"c":1.50}');
});

const free = { spend: () => undefined };

describe('elements by path', () => {
  test('are gone, and nothing else is', () => {
    fc.assert(
      fc.property(node, somePaths, (resource, closed) => {
        const before = structuredClone(resource);
        const left = withoutFields(resource, closed);
        expect(closedValues(left, closed)).toEqual([]);
        expect(withoutFields(left, closed)).toEqual(left);
        expect(keepFields(left, resource, closed, free)).toEqual(resource);
        expect(resource).toEqual(before);
      }),
    );
  });

  test('that are kept are those stored: none is changed, none is invented', () => {
    fc.assert(
      fc.property(node, node, somePaths, (sent, stored, closed) => {
        const kept = keepFields(sent, stored, closed, free);
        const count = (values: unknown[]) => values.map((one) => JSON.stringify(sorted(one))).sort();
        expect(count(closedValues(kept, closed))).toEqual(count(closedValues(stored, closed)));
        expect(keepFields(kept, stored, closed, free)).toEqual(kept);
      }),
      { numRuns: 1000 },
    );
  });

  test('that are sent decide nothing of what is kept, nor do those stored of which entry keeps them', () => {
    fc.assert(
      fc.property(node, node, somePaths, (sent, stored, closed) => {
        const kept = keepFields(sent, stored, closed, free);
        expect(kept).toEqual(keepFields(withoutFields(sent, closed), stored, closed, free));
      }),
      { numRuns: 1000 },
    );
    const entry = { use: 'official', family: 'Smith' };
    const stored = { name: [{ use: 'nickname' }, { ...entry, given: ['X'] }] };
    for (const given of ['X', 'Y'])
      expect(
        keepFields(
          { name: [{ use: 'official', given: [given] }] },
          stored,
          ['name.family', 'name.given'],
          free,
        ),
      ).toEqual({ name: [{ use: 'official', family: 'Smith', given: ['X'] }] });
  });

  test('go through lists, choices and the extensions of a primitive', () => {
    const resource = { a: [{ b: 1, c: 2 }], _a: 1, vString: 'x', _vString: 'y', vs: 1, v: 1, xString: 'z' };
    const left = { a: [{ c: 2 }], _a: 1, vs: 1, v: 1, xString: 'z' };
    expect(withoutFields(resource, ['a.b', 'v[x]'])).toEqual(left);
    expect(withoutFields(resource, ['a', 'xString'])).toEqual({ vString: 'x', _vString: 'y', vs: 1, v: 1 });
  });

  test('are common to lists where each has them or what holds them', () => {
    expect(commonFields([['a', 'b'], ['a.b']])).toEqual(['a.b']);
    expect(commonFields([['a'], []])).toEqual([]);
    expect(commonFields([])).toEqual([]);
    expect(commonFields([['a'], ['a.b', 'c', 'ab']])).toEqual(['a.b']);
    expect(commonFields([['a.b'], ['a.b', 'a']])).toEqual(['a.b']);
    expect(commonFields([['v[x]'], ['vQuantity.value', 'vDateTime', 'v']])).toEqual([
      'vQuantity.value',
      'vDateTime',
    ]);
  });

  test('touch what holds them and what they hold', () => {
    expect([touches('a.b', ['a']), touches('a', ['a', 'b']), touches('a', []), touches('a', ['b'])]).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect([isClosed('a.b', ['a']), isClosed('a', ['a', 'b']), isClosed('a', ['_a'])]).toEqual([
      false,
      true,
      true,
    ]);
  });
});
