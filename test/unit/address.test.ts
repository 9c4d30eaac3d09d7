import { describe, expect, test } from '@jest/globals';
import { normaliseAddress } from '../../shared/identity/mail/address.ts';
import fc from '../setup/fast-check.ts';

describe('normaliseAddress', () => {
  test.each([
    ['Bob@X.com', 'bob@x.com'],
    ['bob.smith+tag@x.com', 'bob.smith+tag@x.com'],
    ["o'brien@x.com", "o'brien@x.com"],
    ['jose\u0301@x.com', 'jos\u00e9@x.com'],
    ['bob@B\u00dcCHER.de', 'bob@xn--bcher-kva.de'],
    ['bob@bu\u0308cher.de', 'bob@xn--bcher-kva.de'],
    ['bob@xn--bcher-kva.de', 'bob@xn--bcher-kva.de'],
    ['bob@x\u3002com', 'bob@x.com'],
    ['\u0130\u0316@x.com', 'i\u0316\u0307@x.com'],
    ['b\u043eb@x.com', 'b\u043eb@x.com'],
  ])('knows %j as %j', (text, address) => {
    expect(normaliseAddress(text)).toBe(address);
  });

  test('keeps addresses apart that only look alike', () => {
    const alike = ['bob@x.com', 'b\u043eb@x.com', 'b.ob@x.com', 'bob+1@x.com', 'bob@x.co'];
    expect(new Set(alike.map(normaliseAddress)).size).toBe(alike.length);
  });

  test.each([
    '',
    'bob',
    '@x.com',
    'bob@',
    'a@b',
    'a@b@c.com',
    'a b@x.com',
    ' bob@x.com',
    'bob@x.com ',
    'a@x.com,b@x.com',
    'a@x.com;b@x.com',
    'Bob <bob@x.com>',
    '"bob"@x.com',
    'bob(x)@x.com',
    '.bob@x.com',
    'bob.@x.com',
    'b..ob@x.com',
    'bob@.com',
    'bob@x..com',
    'bob@x.com.',
    'bob@-x.com',
    'bob@x-.com',
    'bob@[127.0.0.1]',
    'bob@127.0.0.1',
    'bob@x.com\n',
    'bob@x.com\r\nBcc: eve@x.com',
    'bob\r\nBcc: eve@x.com',
    'bob@x.c\tom',
    'bob@x.com:25',
    'bob@x.com/path',
    'bob@x.com?cc=eve@x.com',
    'bob@x.com?cc',
    'bob@x.com#f',
    'bob@x.com\\a',
    'bob@ex%61mple.com',
    'bob\u0000@x.com',
    'bob\u200b@x.com',
    'bob\ud800@x.com',
    `${'a'.repeat(65)}@x.com`,
    `a@${'b'.repeat(64)}.com`,
    `${'a'.repeat(64)}@${'b.'.repeat(100)}com`,
  ])('refuses %j', (text) => {
    expect(normaliseAddress(text)).toBeUndefined();
  });

  test('is its own normal form, whatever was written', () => {
    const written = fc.tuple(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
      fc.constantFrom('com', 'de', '\u00fc', 'CO.UK'),
    );
    fc.assert(
      fc.property(written, ([local, domain, top]) => {
        const address = normaliseAddress(`${local}@${domain}.${top}`);
        fc.pre(address !== undefined);
        expect(normaliseAddress(String(address))).toBe(address);
      }),
      { numRuns: 2000 },
    );
  });

  test('never throws, and what it lets through is one line without an angle bracket, comma or quote', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.emailAddress()), (text) => {
        const address = normaliseAddress(text);
        if (address !== undefined) expect(address).not.toMatch(/[\s<>,;"\p{C}]/u);
      }),
      { numRuns: 2000 },
    );
  });
});
