import { expect, test } from '@jest/globals';
import { EntryScanner } from '../../infra/import/read-entries.ts';
import fc from '../setup/fast-check.ts';

function scan(text: string, sizes: readonly number[] = []): { elements: unknown[]; head: object } {
  const scanner = new EntryScanner();
  const elements: string[] = [];
  let from = 0;
  for (const size of sizes) {
    elements.push(...scanner.push(text.slice(from, from + size)));
    from += size;
  }
  elements.push(...scanner.push(text.slice(from)));
  scanner.end();
  return { elements: elements.map((one) => JSON.parse(one)), head: Object.fromEntries(scanner.head) };
}

test('gives the entries of a Bundle, however it is written and wherever it is cut', () => {
  const text = fc.oneof(fc.string(), fc.constantFrom('"entry":[{', ']}', '\\', '\\"', '"', '{[', 'entry'));
  // After a key with a backslash V8 reads other escaped keys wrong (nodejs/node#63785): JSON.parse would be blamed on us.
  const key = text.filter((one) => !one.includes('\\'));
  const value = fc.oneof(
    text,
    fc.array(text),
    fc.dictionary(key, fc.array(text)),
    fc.integer(),
    fc.constant(null),
  );
  const entry = fc.record({ fullUrl: text, resource: fc.dictionary(key, value) });
  const bundle = fc.record({ type: text, link: fc.array(entry), entry: fc.array(entry), meta: value });
  const spaces = fc.constantFrom(undefined, 2, '\t');
  fc.assert(
    fc.property(bundle, spaces, fc.array(fc.nat({ max: 30 })), (one, space, sizes) => {
      const written = JSON.stringify(one, null, space);
      const { elements, head } = scan(written, sizes);
      expect(elements).toEqual(JSON.parse(written).entry);
      expect(JSON.parse(`"${(head as { type: string }).type}"`)).toBe(one.type);
    }),
  );
});

test.each(['{"entry":[{"a":1}', '{"entry":[{"a":"', '{"entry"', '{"entry":[]}}'])('%s is refused', (text) => {
  expect(() => scan(text)).toThrow(SyntaxError);
});

test('an entry inside something else is none of the Bundle', () => {
  expect(
    scan('{"a":{"entry":[{"b":1}]},"entry":{"c":[{}]},"text":"entry","x":[{"entry":[{}]}]}').elements,
  ).toEqual([]);
});
