import { describe, expect, test } from '@jest/globals';
import { parseJson, requireModest, stringifyJson } from '../../shared/base/json.ts';
import fc from '../setup/fast-check.ts';

describe('numbers in JSON', () => {
  const digits = fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 25 })
    .map((all) => all.join(''));
  const whole = fc.tuple(
    fc.constantFrom('', '-'),
    fc.oneof(
      fc.constant('0'),
      digits.map((text) => text.replace(/^0+(?=.)/, '')),
    ),
  );
  const number = fc
    .tuple(
      whole,
      fc.option(digits),
      fc.option(
        fc.tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.integer({ min: 0, max: 30 })),
      ),
    )
    .map(
      ([[sign, int], fraction, exponent]) =>
        `${sign}${int}${fraction ? `.${fraction}` : ''}${exponent?.join('') ?? ''}`,
    );

  test('keep their digits, whatever they are', () => {
    fc.assert(
      fc.property(number, (text) => {
        expect(stringifyJson(parseJson(text))).toBe(text);
        expect(stringifyJson(parseJson(`{"a":[${text},"b"]}`))).toBe(`{"a":[${text},"b"]}`);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    '1.0',
    '1.50',
    '-0',
    '-0.0',
    '0.0000001',
    '1e5',
    '1E+2',
    '9007199254740993',
    '9007199254.7409931',
    '123456789012.12345',
    '100000000000000000000000',
  ])('%s', (text) => {
    expect(stringifyJson(parseJson(text))).toBe(text);
  });
});

describe('characters in JSON', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\ud83d', '\ude00', '\ud83d\ude00', '\\', '\\ud83d', '"', 'u'),
  );

  test('are whole: who sends half of one is refused, escaped as it may be', () => {
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('');
        // Surrogates, as clients may send them: each as an escape, whole pairs too.
        const sent = JSON.stringify({ [text]: text }).replaceAll(
          /[\ud800-\udfff]/g,
          (half) => `\\u${half.charCodeAt(0).toString(16)}`,
        );
        const ask = () => requireModest(sent);
        if (text.isWellFormed()) expect(ask).not.toThrow();
        else expect(ask).toThrow('half of a surrogate pair');
      }),
    );
  });
});
