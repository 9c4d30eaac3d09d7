import { describe, expect, test } from '@jest/globals';
import { Recent } from '../../shared/base/recent.ts';
import {
  openSecrets,
  type SealedSecret,
  type SecretHolder,
  sealSecrets,
} from '../../shared/bots/bot/secrets.ts';
import { fileDataKeys } from '../../shared/carry/keys/data-keys.ts';
import { useCodeAction } from '../../shared/identity/sign-in/second-factor.ts';
import { ringOf } from '../setup/key-rings.ts';

const dataKeys = fileDataKeys(Buffer.alloc(32, 7));
const holder: SecretHolder = { project: 'p1', botId: 'b1' };
const secret = { name: 'TOKEN', valueString: 'hunter2' };

describe.each([
  ['that has never opened it', false],
  ['that remembers its data key', true],
])('a sealed secret, in a process %s', (_process, isKnown) => {
  /** @param change how it was moved in the table */
  async function open(of: SecretHolder, change: Partial<SealedSecret> = {}) {
    const sealed = await sealSecrets(dataKeys, holder, [secret]);
    const known = new Recent<Uint8Array>(10);
    const key = async () => dataKeys;
    if (isKnown) await openSecrets(key, known, holder, sealed);
    return openSecrets(
      key,
      known,
      of,
      sealed.map((one) => ({ ...one, ...change })),
    );
  }

  test('opens for its holder', async () => {
    expect(await open(holder)).toEqual([secret]);
  });

  test.each<[string, SecretHolder, Partial<SealedSecret>]>([
    ['another Project', { ...holder, project: 'p2' }, {}],
    ['another Bot', { ...holder, botId: 'b2' }, {}],
    ['all Bots of the Project', { project: 'p1' }, {}],
    ['another name', holder, { name: 'SHOWN' }],
  ])('does not open for %s', async (_whom, of, change) => {
    await expect(open(of, change)).rejects.toThrow();
  });
});

test('a code of a second factor whose version of the key is gone is a wrong one', async () => {
  const factor = { userId: 'u', seed: 'seed.x.2', earlier: 0, enrolledAtMs: 0, recovery: new Set<string>() };
  const used = useCodeAction(ringOf(Buffer.alloc(32, 7)), factor, { code: '123456', nowMs: 0 });
  await expect(used).rejects.toMatchObject({ kind: 'invalid' });
});
