import { describe, expect, test } from '@jest/globals';
import {
  hashClientSecret,
  matchesClientSecret,
  newClientSecret,
} from '../../shared/carry/keys/credential.ts';
import { hashPassword, verifyPassword } from '../../shared/identity/sign-in/password.ts';
import fc from '../setup/fast-check.ts';

describe('a client secret', () => {
  test('is 256 random bits, each time others', () => {
    const secrets = Array.from({ length: 100 }, newClientSecret);
    expect(new Set(secrets).size).toBe(100);
    for (const secret of secrets) expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
  });

  test('matches its own hash and no other', () => {
    const hash = hashClientSecret('s');
    expect(hash).not.toContain('s1');
    expect(matchesClientSecret('s', hash)).toBe(true);
    fc.assert(
      fc.property(fc.string(), (given) => {
        expect(matchesClientSecret(given, hash)).toBe(given === 's');
      }),
    );
  });

  test.each(['', '0'.repeat(64), hashClientSecret('')])('of an unknown client never matches %j', (given) => {
    expect(matchesClientSecret(given, undefined)).toBe(false);
  });
});

describe('a password', () => {
  test('matches its own argon2id hash, which says how it was made', async () => {
    const hash = await hashPassword('correct horse battery');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(await verifyPassword('correct horse battery', hash)).toBe(true);
    expect(await verifyPassword('correct horse batterz', hash)).toBe(false);
    expect(await verifyPassword('', hash)).toBe(false);
  });

  test('hashes differently each time', async () => {
    expect(await hashPassword('same')).not.toBe(await hashPassword('same'));
  });

  test('is the same from every keyboard', async () => {
    const hash = await hashPassword('caf\u00e9 \ufb01');
    expect(await verifyPassword('cafe\u0301 fi', hash)).toBe(true);
  });

  test('is never matched by a hash of another form', async () => {
    for (const hash of [
      '',
      'x',
      '$argon2i$v=19$m=8,t=1,p=1$YQ$YQ',
      '$2b$10$abcdefghijklmnopqrstuv',
      'correct',
    ]) {
      expect(await verifyPassword('correct', hash)).toBe(false);
    }
  });
});
