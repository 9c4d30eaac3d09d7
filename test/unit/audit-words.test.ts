import { expect, test } from '@jest/globals';
import { subtypes } from '../../shared/audit/subtypes.ts';
import { deeds } from '../../web/src/audit/deeds.ts';

test('the app has words for all that the audit log tells of', () => {
  const words = deeds.map(({ value }) => value).filter((value) => value !== '');
  expect([...words].sort()).toEqual([...subtypes].sort());
  expect(new Set(deeds.map(({ label }) => label)).size).toBe(deeds.length);
});
