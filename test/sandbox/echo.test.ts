import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { cachedGuest } from '../../infra/guest/build.ts';
import { createSandbox, type Sandbox } from '../../shared/bots/sandbox/supervisor.ts';
import fc from '../setup/fast-check.ts';
import { bot, returned, runOf } from './bot-runs.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = createSandbox({ guestDir: await cachedGuest() });
});
afterAll(() => sandbox.close());

test('any JSON value goes in and comes out the same', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json({ stringUnit: 'binary', maxDepth: 8 }), async (text) => {
      const { outcome } = await sandbox.run(
        runOf(bot('return event.input'), { input: { kind: 'json', text } }),
      );
      const parsed: unknown = JSON.parse(text);
      const value =
        typeof parsed === 'string'
          ? { type: 'string', text: parsed }
          : { type: 'json', text: JSON.stringify(parsed) };
      expect(outcome).toEqual({ kind: 'returned', value });
    }),
    { numRuns: 150 },
  );
});

test('any text goes in and comes out the same', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 300 }), async (text) => {
      expect(
        returned(await sandbox.run(runOf(bot('return event.input'), { input: { kind: 'text', text } }))),
      ).toBe(text);
    }),
    { numRuns: 50 },
  );
});

test('any bytes survive each encoding of Buffer as in Node', async () => {
  const body = `const b = Buffer.from(event.input); const d = new TextDecoder();
    return [b.toString(), b.toString('hex'), b.toString('base64'), b.toString('latin1'), d.decode(b),
      [...Buffer.from(b.toString('base64'), 'base64')], [...Buffer.from(b.toString('hex'), 'hex')], [...new TextEncoder().encode(b.toString())]]`;
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (bytes) => {
      const b = Buffer.from(bytes);
      const input = { kind: 'json', text: JSON.stringify([...bytes]) } as const;
      expect(returned(await sandbox.run(runOf(bot(body), { input })))).toEqual([
        b.toString(),
        b.toString('hex'),
        b.toString('base64'),
        b.toString('latin1'),
        new TextDecoder().decode(b),
        [...bytes],
        [...bytes],
        [...Buffer.from(b.toString())],
      ]);
    }),
    { numRuns: 60 },
  );
});
