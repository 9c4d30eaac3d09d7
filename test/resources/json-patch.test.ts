import { describe, expect, test } from '@jest/globals';
import { parseJson, stringifyJson } from '../../shared/base/json.ts';
import { applyPatch, parsePatch } from '../../shared/store/fhir/json-patch.ts';

/** RFC 6902, appendix A, and what follows from its sections. */
const good: [string, unknown, object[], unknown][] = [
  ['adds a member', { a: 1 }, [{ op: 'add', path: '/b', value: 2 }], { a: 1, b: 2 }],
  ['adds into an array', { a: [1, 3] }, [{ op: 'add', path: '/a/1', value: 2 }], { a: [1, 2, 3] }],
  ['adds at the end', { a: [1] }, [{ op: 'add', path: '/a/-', value: [2] }], { a: [1, [2]] }],
  ['removes', { a: { b: 1, c: 2 } }, [{ op: 'remove', path: '/a/b' }], { a: { c: 2 } }],
  ['removes from an array', { a: [1, 2, 3] }, [{ op: 'remove', path: '/a/1' }], { a: [1, 3] }],
  ['replaces in place', { a: 1, b: 2 }, [{ op: 'replace', path: '/a', value: 9 }], { a: 9, b: 2 }],
  ['replaces the whole', { a: 1 }, [{ op: 'replace', path: '', value: { b: 2 } }], { b: 2 }],
  ['moves', { a: { b: 1 }, c: {} }, [{ op: 'move', from: '/a/b', path: '/c/d' }], { a: {}, c: { d: 1 } }],
  ['moves inside an array', { a: [1, 2, 3] }, [{ op: 'move', from: '/a/0', path: '/a/2' }], { a: [2, 3, 1] }],
  ['copies', { a: [1] }, [{ op: 'copy', from: '/a', path: '/b' }], { a: [1], b: [1] }],
  [
    'tests deeply',
    { a: { b: [1, 'x'] } },
    [{ op: 'test', path: '/a', value: { b: [1, 'x'] } }],
    { a: { b: [1, 'x'] } },
  ],
  ['reads ~0 and ~1', { 'a/b': { '~': 1 } }, [{ op: 'remove', path: '/a~1b/~0' }], { 'a/b': {} }],
  ['adds null', { a: 1 }, [{ op: 'add', path: '/a', value: null }], { a: null }],
];

const bad: [string, unknown, object[]][] = [
  ['a path to nothing', {}, [{ op: 'remove', path: '/a' }]],
  ['a parent that is not there', {}, [{ op: 'add', path: '/a/b', value: 1 }]],
  ['a place beyond the end', { a: [] }, [{ op: 'add', path: '/a/1', value: 1 }]],
  ['an index with zeros in front', { a: [1, 2] }, [{ op: 'remove', path: '/a/01' }]],
  ['a move into itself', { a: { b: {} } }, [{ op: 'move', from: '/a', path: '/a/b/c' }]],
  ['a test that fails', { a: 1 }, [{ op: 'test', path: '/a', value: '1' }]],
  ['an unknown operation', { a: 1 }, [{ op: 'spam', path: '/a' }]],
  ['what only the prototype has', {}, [{ op: 'copy', from: '/toString', path: '/a' }]],
  ['a path without a slash', { a: 1 }, [{ op: 'remove', path: 'a' }]],
];

const free = () => undefined;

describe('JSON Patch', () => {
  test.each(good)('%s', (_what, value, patch, expected) => {
    const before = structuredClone(value);
    expect(applyPatch(value, parsePatch(patch), free)).toEqual(expected);
    expect(value).toEqual(before);
  });

  test.each(bad)('refuses %s', (_what, value, patch) => {
    expect(() => applyPatch(value, parsePatch(patch), free)).toThrow();
  });

  test('ignores what an operation does not define, whatever it is', () => {
    for (const from of [1, null, {}, '/a']) {
      const operations = parsePatch([{ op: 'add', path: '/b', value: 2, from }]);
      expect(operations).toEqual([{ op: 'add', path: '/b', value: 2 }]);
      expect(applyPatch({ a: 1 }, operations, free)).toEqual({ a: 1, b: 2 });
    }
  });

  test('keeps the digits of numbers, its own too', () => {
    const patch = parseJson('[{"op":"add","path":"/b","value":2.50},{"op":"copy","from":"/a","path":"/c"}]');
    const patched = applyPatch(parseJson('{"a":1.10}'), parsePatch(patch), free);
    expect(stringifyJson(patched)).toBe('{"a":1.10,"b":2.50,"c":1.10}');
  });

  test('changes no prototype', () => {
    applyPatch({}, parsePatch([{ op: 'add', path: '/__proto__', value: { polluted: true } }]), free);
    applyPatch(
      { constructor: {} },
      parsePatch([{ op: 'add', path: '/constructor/prototype', value: 1 }]),
      free,
    );
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test('does not grow without end', () => {
    const doubling = Array.from({ length: 60 }, (_, n) => ({ op: 'copy', from: '', path: `/x${n}` }));
    expect(() => applyPatch({ a: 'x'.repeat(1000) }, parsePatch(doubling), free)).toThrow('4 MiB');
  });

  test('copies no more values than a body may hold, and pays for what is long', () => {
    const empties = { a: Array.from({ length: 20_000 }, () => ({})) };
    const copies = Array.from({ length: 3 }, (_, n) => ({ op: 'copy', from: '/a', path: `/b${n}` }));
    expect(() => applyPatch(empties, copies, free)).toThrow('copies more than 60000 values');
    let spent = 0;
    const spend = (values: number) => {
      spent += values;
    };
    applyPatch({ a: 'x'.repeat(100_000) }, copies.slice(0, 1), spend);
    expect(spent).toBeGreaterThan(20_000);
  });

  test('does not deepen without end', () => {
    const leaf = (levels: number) => '/a'.repeat(levels);
    const doubling = Array.from({ length: 16 }, (_, n) => ({
      op: 'copy',
      from: '/a',
      path: leaf(2 ** n + 1),
    }));
    const replacing = Array.from({ length: 400 }, (_, n) => ({
      op: 'replace',
      path: leaf(n * 100 + 1),
      value: JSON.parse(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`),
    }));
    for (const operations of [doubling, replacing])
      expect(() => applyPatch({ a: { a: {} } }, parsePatch(operations), free)).toThrow(
        'deeper than 128 levels',
      );
  });

  test.each([[{}], ['x'], [[{ path: '/a' }]], [[{ op: 'move', path: '/a' }]], [[null]]])(
    '%j is none',
    (body) => {
      expect(() => parsePatch(body)).toThrow('RFC 6902');
    },
  );
});
