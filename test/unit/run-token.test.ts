import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { isRunToken, mintRunToken, verifyRunToken } from '../../shared/identity/gate/access-token.ts';
import fc from '../setup/fast-check.ts';
import { ringOf } from '../setup/key-rings.ts';

const ring = ringOf(randomBytes(32));
const identity = { project: 'p', botId: 'b', membershipId: 'm' };
const run = { id: 'r', root: 'r', depth: 2, deadlineAtMs: 1000 };
const token = await mintRunToken(ring, identity, run);

describe('a run token', () => {
  test('names the Bot and the run until the deadline', async () => {
    expect(isRunToken(token)).toBe(true);
    expect(await verifyRunToken(ring, token, 999)).toMatchObject({
      project: 'p',
      membershipId: 'm',
      profile: 'Bot/b',
      run,
    });
  });

  test('is worth nothing from the deadline on', async () => {
    await expect(verifyRunToken(ring, token, 1000)).rejects.toThrow('Unauthorized');
  });

  test('is worth nothing under another secret', async () => {
    await expect(verifyRunToken(ringOf(randomBytes(32)), token, 0)).rejects.toThrow('Unauthorized');
  });

  test('is worth nothing once a character has changed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(token.length - 1), fc.constantFrom(...'AZaz09-_.'), async (at, character) => {
        const changed = token.slice(0, at) + character + token.slice(at + 1);
        fc.pre(changed !== token && changed.startsWith('run.'));
        // The last character of a base64url text has bits that mean nothing.
        fc.pre(at < token.length - 1);
        await expect(verifyRunToken(ring, changed, 0)).rejects.toThrow('Unauthorized');
      }),
    );
  });
});
