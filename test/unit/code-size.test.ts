import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { requireSize } from '../../shared/bots/bot/deploy-bot.ts';

const most = 350 * 1024;
const random = randomBytes(most).toString('base64');

/** Code that is exactly so long once it is compressed. */
function codeOf(bytes: number): string {
  let length = bytes;
  for (let step = 0; step < 100; step++) {
    const code = random.slice(0, length);
    const missing = bytes - deflateRawSync(code).length;
    if (missing === 0) return code;
    length += missing;
  }
  throw new Error('No code of this length was found');
}

test('code of 350 KB compressed is taken, and a byte more is not', () => {
  const code = (text: string) => ({ version: 'v', format: 'esm' as const, filename: 'a.mjs', text });
  expect(() => requireSize(code(codeOf(most)))).not.toThrow();
  expect(() => requireSize(code(codeOf(most + 1)))).toThrow('The code is longer than 350 KB compressed');
});
