import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { seal, unseal } from '../../shared/carry/keys/key-ring.ts';
import fc from '../setup/fast-check.ts';

const stage = randomBytes(32);
const at = { use: 'test', of: ['a', 'b'] };

describe('a sealed text', () => {
  test('opens again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(unseal(stage, at, seal(stage, at, text))).toBe(Buffer.from(text).toString());
      }),
    );
  });

  test('is never the same twice, and does not show what is inside', () => {
    const [one, two] = [seal(stage, at, 'secret'), seal(stage, at, 'secret')];
    expect(one).not.toBe(two);
    expect(Buffer.from(one, 'base64url').toString('latin1')).not.toContain('secret');
  });

  test('opens for its own use, belonging and stage only', () => {
    const sealed = seal(stage, at, 'secret');
    expect(unseal(stage, { ...at, use: 'other' }, sealed)).toBeUndefined();
    expect(unseal(stage, { ...at, of: ['a'] }, sealed)).toBeUndefined();
    expect(unseal(stage, { ...at, of: ['a,b'] }, sealed)).toBeUndefined();
    expect(unseal(randomBytes(32), at, sealed)).toBeUndefined();
  });

  test('does not open when a bit of it was changed, or a part is missing', () => {
    const bytes = Buffer.from(seal(stage, at, 'secret'), 'base64url');
    for (let position = 0; position < bytes.length; position++) {
      const changed = Buffer.from(bytes);
      changed[position] = (changed[position] ?? 0) ^ 1;
      expect(unseal(stage, at, changed.toString('base64url'))).toBeUndefined();
      expect(unseal(stage, at, bytes.subarray(0, position).toString('base64url'))).toBeUndefined();
    }
  });
});
