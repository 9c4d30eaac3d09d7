import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ensureKeys, type KeyServices } from '../../functions/stage-keys/ensure-keys.ts';
import { mintRunToken, verifyRunToken } from '../../shared/access/run-token.ts';
import { isInvitationSecret } from '../../shared/invitation/link.ts';
import { fileKeyWrapping } from '../../shared/keys/data-keys.ts';
import { isMac, macOf } from '../../shared/keys/mac.ts';
import { openKeyRings } from '../../shared/keys/open-rings.ts';
import { type KeyPurpose, keyPurposes } from '../../shared/keys/purposes.ts';
import { sealWithRing, unsealWithRing } from '../../shared/keys/seal.ts';
import { stageKeyContext, stageKeyOf, writeStageKey } from '../../shared/keys/stage-key.ts';
import { isAddressSecret } from '../../shared/login/address-link.ts';
import { isResetSecret } from '../../shared/login/reset-link.ts';
import { enrolment } from '../../shared/login/totp.ts';
import { keys } from '../../shared/table/keys.ts';
import { callsOf, getItem, type Stage, startStage } from './stage.ts';

let stage: Stage;
const secret = Buffer.alloc(32, 7);
const wrapping = fileKeyWrapping(secret);
const run = { id: 'r', root: 'r', depth: 1, deadlineAtMs: Number.MAX_SAFE_INTEGER };
const identity = { project: 'p', botId: 'b', membershipId: 'm' };

beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.stop());
beforeEach(() => stage.services.table.write([], keyPurposes.map(keys.stageKey)));

/** @param earlier the secret of an earlier release, if there was one */
function making(earlier?: Uint8Array): KeyServices {
  const { table, now } = stage.services;
  return { table, now, wrapping: async () => wrapping, earlierSecret: async () => earlier };
}

function ringsOf<P extends KeyPurpose>(purposes: readonly P[], mayOpen?: readonly string[]) {
  const { table, now } = stage.services;
  return openKeyRings(table, async () => fileKeyWrapping(secret, mayOpen), purposes, now);
}

/** What release 0.1.0 made with that secret. */
const earlierMakings = {
  runToken:
    'run.eyJwcm9qZWN0IjoicCIsImJvdElkIjoiYiIsIm1lbWJlcnNoaXBJZCI6Im0iLCJydW4iOnsiaWQiOiJyIiwicm9vdCI6InIiLCJkZXB0aCI6MSwiZGVhZGxpbmVBdE1zIjo5MDAwMDAwMDAwMDAwMDAwfX0.MwIe3E5LWQRukdxRE0Dsh-Ne1Alf8X0i9HIc0o-tjPM',
  invitation: {
    of: { project: 'p', membershipId: 'm', generation: 1, expiresAtMs: 1e12 },
    secret: 'N2AKNUaHh-CiachTibKuYJ6jBXluD1Fo-CSaKZ2Xgfc',
  },
  reset: {
    of: { userId: 'u', expiresAtMs: 1e12, passwordHash: 'h', email: 'e@example.org' },
    secret: 'OM8Kb4_rafA-kdgAa4Ez_WZAik9TM17W8xzLf0vp5ZY',
  },
  address: {
    of: { userId: 'u', generation: 1e12, email: 'e@example.org' },
    secret: 'dDL1e-HZvXIqIc6WWDb1qbQeB5nU1fSrkRTgHzDNMIU',
  },
  totp: '2AEBXG2VD6MFBZ55ZTIP5ESZBXJPULHE',
  issuerSecret: '0fh0GxGyB2puT3xdkzwQksTSPQz39owFxRgLTdgQNCPYeA',
  flow: 'e5R8dFFRIvD5a1w4EpXYh2BiDrSsyWrd5NIWOwUskM3aRMU',
};

const stored = async (purpose: KeyPurpose) =>
  stageKeyOf(await getItem(stage.services, keys.stageKey(purpose)));

describe('the keys of the stage', () => {
  test('are made once, one for each purpose, by whoever of several comes first', async () => {
    const made = await Promise.all([1, 2, 3].map(() => ensureKeys(making())));
    expect(made.flat()).toEqual(expect.arrayContaining([...keyPurposes]));
    const before = await Promise.all(keyPurposes.map(stored));
    expect(await ensureKeys(making())).toEqual([]);
    expect(await Promise.all(keyPurposes.map(stored))).toEqual(before);
    const [mine, yours] = [ringsOf(keyPurposes), ringsOf(keyPurposes)];
    const opened = await Promise.all(keyPurposes.map(async (one) => (await mine[one].current()).key));
    expect(new Set(opened.map((key) => Buffer.from(key).toString('hex'))).size).toBe(keyPurposes.length);
    const token = await mintRunToken(mine['run-token'], identity, run);
    expect(await verifyRunToken(yours['run-token'], token, 0)).toMatchObject({ project: 'p' });
  });

  test('go on from the one secret of an earlier release, whose makings stay good', async () => {
    await ensureKeys(making(secret));
    const rings = ringsOf(keyPurposes);
    expect((await verifyRunToken(rings['run-token'], earlierMakings.runToken, 0)).project).toBe('p');
    const { invitation, reset, address } = earlierMakings;
    expect(await isInvitationSecret(rings['invitation-link'], invitation.of, invitation.secret)).toBe(true);
    expect(await isResetSecret(rings['reset-link'], reset.of, reset.secret)).toBe(true);
    expect(await isAddressSecret(rings['address-link'], address.of, address.secret)).toBe(true);
    const { key } = await rings.totp.current();
    const { enrollUri } = enrolment(key, { userId: 'u', seed: 'l.0' }, 'e@example.org');
    expect(new URL(enrollUri).searchParams.get('secret')).toBe(earlierMakings.totp);
    const { issuerSecret, flow } = earlierMakings;
    expect(await unsealWithRing(rings['issuer-secret'], ['i', 'c'], issuerSecret)).toBe('hidden');
    expect(await unsealWithRing(rings['external-sign-in'], ['s'], flow)).toBe('{"a":1}');
  });

  test('are whole after a crash between two of them, once it is done again', async () => {
    for (let writes = 0; writes < keyPurposes.length; writes++) {
      await stage.services.table.write([], keyPurposes.map(keys.stageKey));
      let left = writes;
      const { table } = stage.services;
      const failing: KeyServices = {
        ...making(secret),
        table: {
          ...table,
          putIf: (...args) => (left-- > 0 ? table.putIf(...args) : Promise.reject(new Error('cut off'))),
        },
      };
      await expect(ensureKeys(failing)).rejects.toThrow('cut off');
      expect(await ensureKeys(making(secret))).toHaveLength(keyPurposes.length - writes);
    }
    expect((await Promise.all(keyPurposes.map(stored))).every(Boolean)).toBe(true);
  });

  test('are not made anew where the earlier secret cannot be opened now', async () => {
    const unavailable = { ...making(), earlierSecret: () => Promise.reject(new Error('no KMS')) };
    await expect(ensureKeys(unavailable)).rejects.toThrow('no KMS');
    expect(await stored('totp')).toBeUndefined();
  });
});

describe('a key of one purpose', () => {
  test('opens nothing of another, and to nobody whose role has another', async () => {
    await ensureKeys(making(secret));
    const rings = ringsOf(keyPurposes);
    for (const one of keyPurposes) {
      const mac = await macOf(rings[one], 'text');
      const sealed = await sealWithRing(rings[one], [], 'text');
      for (const other of keyPurposes) {
        expect(await isMac(rings[other], 'text', mac)).toBe(one === other);
        expect((await unsealWithRing(rings[other], [], sealed)) === 'text').toBe(one === other);
      }
    }
    const executing = ringsOf(['run-token', 'totp'], ['run-token']);
    expect((await executing['run-token'].current()).version).toBe(1);
    await expect(executing.totp.current()).rejects.toThrow('does not allow kms:Decrypt of the key for totp');
  });

  test('does not open in the place of another purpose or version', async () => {
    await ensureKeys(making());
    const link = await stored('reset-link');
    const totp = await stored('totp');
    const [one] = link?.versions ?? [];
    if (!one || !totp) throw new Error('not made');
    await writeStageKey(stage.services.table, 'totp', { ...totp, versions: [one] }, totp);
    await expect(ringsOf(['totp']).totp.current()).rejects.toThrow();
    const moved = { ...totp, versions: [{ ...(totp.versions[0] ?? one), version: 2 }], current: 2 };
    await writeStageKey(stage.services.table, 'totp', moved, await stored('totp'));
    await expect(ringsOf(['totp']).totp.current()).rejects.toThrow();
  });

  test('takes one read for all purposes of a function, and opens what is needed, once', async () => {
    await ensureKeys(making());
    let opened = 0;
    const { table, now } = stage.services;
    const counting = async () => ({
      open: (...args: Parameters<typeof wrapping.open>) => {
        opened += 1;
        return wrapping.open(...args);
      },
    });
    const rings = openKeyRings(table, counting, keyPurposes, now);
    const calls = await callsOf(stage.client, () =>
      Promise.all([rings.totp, rings.totp, rings.drafts].map((ring) => ring.current())),
    );
    expect([calls, opened]).toEqual([['BatchGetItem'], 2]);
    expect(await callsOf(stage.client, () => rings['reset-link'].current())).toEqual([]);
    stage.clock.nowMs += 600_000;
    expect(await callsOf(stage.client, () => rings.totp.current())).toEqual(['BatchGetItem']);
    expect(opened).toBe(3);
  });

  test('is looked for again when something names a later version, at most every ten seconds', async () => {
    await ensureKeys(making());
    const mine = ringsOf(['run-token']);
    const first = await mintRunToken(mine['run-token'], identity, run);
    const before = await stored('run-token');
    const wrapped = await wrapping.wrap(randomBytes(32), stageKeyContext('run-token', 2));
    const versions = [...(before?.versions ?? []), { version: 2, wrapped, madeAtMs: 0 }];
    await writeStageKey(
      stage.services.table,
      'run-token',
      { versions, current: 2, currentSinceMs: 0 },
      before,
    );
    const token = await mintRunToken(ringsOf(['run-token'])['run-token'], identity, run);
    expect(token).toMatch(/^run\.[\w-]+\.[\w-]{43}\.2$/);
    const verify = (one: string) => verifyRunToken(mine['run-token'], one, 0);
    await expect(verify(token)).rejects.toThrow('Unauthorized');
    stage.clock.nowMs += 10_000;
    expect(await verify(token)).toMatchObject({ project: 'p' });
    expect(await verify(first)).toMatchObject({ project: 'p' });
    const forged = [first, token.slice(0, -2), token.replace(/2$/, '3'), `${first}.1`, `${token}.2`].slice(1);
    for (const one of forged) await expect(verify(one)).rejects.toThrow('Unauthorized');
    const made = token.replace(/2$/, '9');
    expect(await callsOf(stage.client, () => verify(made).catch(() => undefined))).toEqual([]);
  });
});
