import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { listModule, path } from '../../infra/passwords/generate.ts';
import { isCommonPassword, parseNewPassword } from '../../shared/identity/sign-in/password.ts';
import fc from '../setup/fast-check.ts';

const email = 'ann.lee-jones@example.com';

describe('a password that an attacker tries first is refused', () => {
  test.each([
    'password',
    'Password',
    'PASSWORD1',
    'password2026!',
    'Football99',
    'trustno1',
    'ｐａｓｓｗｏｒｄ',
    'aaaaaaaa',
    'abababab',
    '12341234',
    'ßßßßßßßß',
    'ΣΣΣΣΣΣΣΣ',
    'σσσσΣΣΣΣ',
    'abcdefgh',
    '87654321',
    '12345678!',
    'Hospital2026!',
    'portico-Clinic.1',
    'ann.lee-jones',
    'Ann.Lee-Jones@example.com',
  ])('%s', async (password) => {
    expect(await isCommonPassword(password, email)).toBe(true);
    await expect(parseNewPassword(password, { email })).rejects.toMatchObject({ kind: 'invalid' });
  });

  test.each([
    'correct horse battery',
    'Xk7_pQ2z',
    'ann.lee-jones!',
    'hospital by the sea',
    '日本語のパスワード',
    '😀😁😂🤣😃😄🙃😅',
  ])('and %s is not', async (password) => {
    expect(await isCommonPassword(password, email)).toBe(false);
    expect(await parseNewPassword(password, { email })).toBe(password);
  });

  test('without an address too', async () => {
    expect(await isCommonPassword('ann.lee-jones')).toBe(false);
  });
});

test('any short pattern over and over is refused, whatever is in it', async () => {
  const pattern = fc.string({ unit: 'grapheme-composite', minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(pattern, fc.integer({ min: 8, max: 20 }), async (unit, times) => {
      const password = unit.repeat(times);
      fc.pre([...unit].length <= 4);
      expect(await isCommonPassword(password)).toBe(true);
    }),
  );
});

test('any text is judged, in time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 256 }), async (text) => {
      expect(typeof (await isCommonPassword(text))).toBe('boolean');
    }),
  );
  const began = process.cpuUsage();
  for (let turn = 0; turn < 10; turn++) await isCommonPassword(`${'ab1!'.repeat(60)}ab1?`);
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(500);
});

test('the list is what npm run passwords writes', () => {
  const stored = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  expect(stored === listModule() ? path : `${path} is out of date`).toBe(path);
});
