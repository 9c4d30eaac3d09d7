import { randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type TOTP, URI } from 'otpauth';
import { answerCloudFormation } from '../../functions/stage-keys/answer-cloudformation.ts';
import { ensureKeys, type KeyServices } from '../../functions/stage-keys/ensure-keys.ts';
import { rotateKey } from '../../functions/stage-keys/rotate-key.ts';
import { lookAt } from '../../infra/check-table/rule.ts';
import { factorHasKey } from '../../infra/check-table/rules/bots.ts';
import { startTable } from '../../infra/local/table.ts';
import { prepareRestored } from '../../infra/recover/prepare-restored.ts';
import { connectKms, openEarlierSecret, openKmsWrapping } from '../../shared/aws/kms.ts';
import { fileKeyWrapping } from '../../shared/carry/keys/data-keys.ts';
import {
  isMac,
  type KeyPurpose,
  keyPurposes,
  macOf,
  sealWithRing,
  unsealWithRing,
} from '../../shared/carry/keys/key-ring.ts';
import {
  openKeyRings,
  stageKeyContext,
  stageKeyOf,
  writeStageKey,
} from '../../shared/carry/keys/stage-key.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import { openTable } from '../../shared/carry/table/table.ts';
import { mintRunToken, verifyRunToken } from '../../shared/identity/gate/access-token.ts';
import { configuredIssuer, issuerItem, issuerSecret } from '../../shared/identity/issuers/issuer.ts';
import { forgetEarlierSecret, retireStageKey } from '../../shared/identity/projects/retire-stage-key.ts';
import { addressLink, invitationLink, isLinkSecret, resetLink } from '../../shared/identity/sign-in/links.ts';
import { enrolAction, enrolment, useCodeAction } from '../../shared/identity/sign-in/second-factor.ts';
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

describe('CloudFormation', () => {
  /** What it was answered, and by which kind of content. */
  async function answered(RequestType: 'Create' | 'Delete', work: () => Promise<unknown>, status = 200) {
    const got = Promise.withResolvers<{ type: string | undefined; body: string }>();
    const server = createServer(async (request, response) => {
      got.resolve({ type: request.headers['content-type'], body: await text(request) });
      response.writeHead(status).end();
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const ResponseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/answer?Signature=s`;
    const named = { StackId: 'stack', RequestId: 'request', LogicalResourceId: 'Made' };
    try {
      await answerCloudFormation({ RequestType, ResponseURL, ...named }, work);
      const { type, body } = await got.promise;
      return { type, size: Buffer.byteLength(body), ...JSON.parse(body) };
    } finally {
      server.close();
    }
  }
  const named = {
    StackId: 'stack',
    RequestId: 'request',
    LogicalResourceId: 'Made',
    PhysicalResourceId: 'Made',
  };

  test('is told that the keys are there, by a request without a content type, which its signature leaves out', async () => {
    expect(await answered('Create', () => ensureKeys(making()))).toEqual({
      ...{ type: undefined, size: expect.any(Number), Status: 'SUCCESS' },
      ...named,
    });
    expect(await stored('totp')).toBeDefined();
  });

  test.each([
    ['in the words of the failure', 'no table', 'no table'],
    ['in as many of them as it takes', 'x'.repeat(9_000), 'x'.repeat(1_000)],
    ['that there are none', '', expect.stringMatching(/log of the function/)],
  ])('is told why they are not, %s', async (_, message, Reason) => {
    const failed = await answered('Create', () => Promise.reject(new Error(message)));
    expect(failed).toMatchObject({ Status: 'FAILED', Reason, ...named });
    expect(failed.size).toBeLessThan(4_096);
  });

  test('has nothing done when the stack goes', async () => {
    const asked = jest.fn(() => Promise.reject(new Error('gone')));
    expect(await answered('Delete', asked)).toMatchObject({ Status: 'SUCCESS' });
    expect(asked).not.toHaveBeenCalled();
  });

  test('calls again when it did not take the answer', async () => {
    await expect(answered('Create', async () => undefined, 403)).rejects.toThrow(
      'did not take the answer: 403',
    );
  });
});

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

  test('are those of the first writer, also for who began before and writes after', async () => {
    const slow: KeyServices = {
      ...making(),
      wrapping: async () => ({
        ...wrapping,
        async makeWrapped(context) {
          await ensureKeys(making());
          return wrapping.makeWrapped(context);
        },
      }),
    };
    const written = ensureKeys(slow).then(() => Promise.all(keyPurposes.map(stored)));
    const { table, now } = stage.services;
    const first = openKeyRings(table, async () => wrapping, keyPurposes, now);
    await ensureKeys(making());
    const before = await Promise.all(keyPurposes.map(stored));
    const mac = await macOf(first.totp, 'text');
    expect(await written).toEqual(before);
    expect(await isMac(ringsOf(['totp']).totp, 'text', mac)).toBe(true);
  });

  test('go on from the one secret of an earlier release, whose makings stay good', async () => {
    await ensureKeys(making(secret));
    const rings = ringsOf(keyPurposes);
    expect((await verifyRunToken(rings['run-token'], earlierMakings.runToken, 0)).project).toBe('p');
    const { invitation, reset, address } = earlierMakings;
    expect(
      await isLinkSecret(rings['invitation-link'], invitationLink(invitation.of), invitation.secret),
    ).toBe(true);
    expect(await isLinkSecret(rings['reset-link'], resetLink(reset.of), reset.secret)).toBe(true);
    expect(await isLinkSecret(rings['address-link'], addressLink('verify', address.of), address.secret)).toBe(
      true,
    );
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

describe('replacing a key', () => {
  const day = 86_400_000;
  const step = (purpose: KeyPurpose, name: 'prepare' | 'use') =>
    rotateKey(making(secret), { purpose, step: name });
  const retire = (purpose: KeyPurpose) => {
    const { services, clock } = stage;
    const keyRings = ringsOf(['issuer-secret']);
    return retireStageKey({ ...services, keyRings }, { retireKey: purpose }, clock.nowMs + 1_000);
  };
  const later = (ms: number) => {
    stage.clock.nowMs += ms;
  };
  const replaced = async (purpose: KeyPurpose) => {
    await step(purpose, 'prepare');
    later(3_600_000);
    await step(purpose, 'use');
  };

  test.each(keyPurposes)(
    '%s: what either version made is good, until the first is retired',
    async (purpose) => {
      await ensureKeys(making(secret));
      const [maker, reader] = [ringsOf([purpose])[purpose], ringsOf([purpose])[purpose]];
      const first = await macOf(maker, 'text');
      const sealed = await sealWithRing(maker, ['a'], 'hidden');
      await expect(step(purpose, 'use')).rejects.toThrow('prepare it first');
      expect(await step(purpose, 'prepare')).toMatchObject({ current: 1, versions: [1, 2] });
      expect(await step(purpose, 'prepare')).toMatchObject({ current: 1, versions: [1, 2] });
      expect(await macOf(ringsOf([purpose])[purpose], 'text')).toBe(first);
      await expect(step(purpose, 'use')).rejects.toThrow(/can be used from 20/);
      await expect(retire(purpose)).rejects.toThrow('no earlier version');
      later(purpose === 'totp' ? 660_000 : 30_000);
      expect(await step(purpose, 'use')).toMatchObject({ current: 2, versions: [1, 2] });
      const next = await macOf(ringsOf([purpose])[purpose], 'text');
      expect(next).toBe(`${next.slice(0, 43)}.2`);
      for (const mac of [first, next]) expect(await isMac(reader, 'text', mac)).toBe(true);
      expect(await isMac(reader, 'text', `${first}.2`)).toBe(false);
      expect(await isMac(reader, 'text', next.slice(0, 43))).toBe(false);
      expect(await unsealWithRing(reader, ['a'], sealed)).toBe('hidden');
      expect(await unsealWithRing(reader, ['a'], `${sealed}.2`)).toBeUndefined();
      later(600_000);
      expect(await macOf(maker, 'text')).toBe(next);
      await expect(retire(purpose)).rejects.toThrow(/can be retired from 20/);
      later(31 * day);
      expect((await retire(purpose)).retirement).toMatchObject({ done: true, standing: 0, versions: [2] });
      expect(await isMac(reader, 'text', first)).toBe(false);
      expect(await isMac(reader, 'text', next)).toBe(true);
      expect(await step(purpose, 'prepare')).toMatchObject({ current: 2, versions: [2, 3] });
    },
  );

  test('of two who do the same at once one does it; cut off before its write it is as it was', async () => {
    await ensureKeys(making(secret));
    const both = await Promise.allSettled([step('drafts', 'prepare'), step('drafts', 'prepare')]);
    expect(both.filter(({ status }) => status === 'fulfilled')).not.toEqual([]);
    expect((await stored('drafts'))?.versions).toHaveLength(2);
    const meanwhile: KeyServices = {
      ...making(),
      wrapping: async () => ({
        ...wrapping,
        async makeWrapped(context) {
          await step('reset-link', 'prepare');
          return wrapping.makeWrapped(context);
        },
      }),
    };
    const late = rotateKey(meanwhile, { purpose: 'reset-link', step: 'prepare' });
    await expect(late).rejects.toThrow('Somebody else');
    expect((await stored('reset-link'))?.versions).toHaveLength(2);
    later(30_000);
    const { table } = stage.services;
    const cutOff = { ...table, putIf: () => Promise.reject(new Error('cut off')) };
    const before = await stored('drafts');
    await expect(
      rotateKey({ ...making(), table: cutOff }, { purpose: 'drafts', step: 'use' }),
    ).rejects.toThrow('cut off');
    expect(await stored('drafts')).toEqual(before);
    expect(await step('drafts', 'use')).toMatchObject({ current: 2 });
  });

  test('second factors of before go on, and keep their version until none is left', async () => {
    const { table } = stage.services;
    await ensureKeys(making(secret));
    const rings = ringsOf(['totp']);
    const userId = randomUUID();
    const factor = { userId, seed: undefined, earlier: 0, enrolledAtMs: 0, recovery: new Set<string>() };
    const codeFor = async (seed: string, version: number) => {
      const key = await rings.totp.find(version);
      const { enrollUri } = enrolment(key ?? Buffer.alloc(0), { userId, seed }, 'a');
      return (URI.parse(enrollUri) as TOTP).generate({ timestamp: stage.clock.nowMs });
    };
    const enrol = async (loginId: string, earlier: number, code: string) => {
      const of = { loginId, code, nowMs: stage.clock.nowMs };
      await table.transact([await enrolAction(rings.totp, { ...factor, earlier }, of)]);
      return String((await getItem(stage.services, keys.mfa(userId)))?.seed);
    };
    const use = async (seed: string, code: string) =>
      table.transact([
        await useCodeAction(rings.totp, { ...factor, seed }, { code, nowMs: stage.clock.nowMs }),
      ]);
    const first = await enrol('one', 0, await codeFor('one.0', 1));
    expect(first).toBe('one.0');
    await replaced('totp');
    later(601_000);
    await use(first, await codeFor(first, 1));
    later(31 * day);
    expect((await retire('totp')).retirement).toMatchObject({ done: true, standing: 1, versions: [1, 2] });
    await use(first, await codeFor(first, 1));

    await table.write([], [keys.mfa(userId)]);
    await expect(enrol('two', 1, await codeFor('two.1', 1))).rejects.toThrow();
    const second = await enrol('two', 1, await codeFor('two.1.2', 2));
    expect(second).toBe('two.1.2');
    expect((await retire('totp')).retirement).toMatchObject({ standing: 0, versions: [2] });
    later(600_000);
    await use(second, await codeFor(second, 2));
    const look = lookAt(table, 0);
    expect(await factorHasKey({ ...keys.mfa(userId), seed: second }, [], look)).toEqual([]);
    expect(await factorHasKey({ ...keys.mfa(userId), seed: first }, [], look)).toHaveLength(1);
    await table.write([], [keys.mfa(userId)]);
  });

  test('a second factor that was shown just before the change is enrolled just after it', async () => {
    await ensureKeys(making(secret));
    const { key } = await ringsOf(['totp']).totp.current();
    await replaced('totp');
    const userId = randomUUID();
    const { enrollUri } = enrolment(key, { userId, seed: 'l.0' }, 'a');
    const code = (URI.parse(enrollUri) as TOTP).generate({ timestamp: stage.clock.nowMs });
    const of = { loginId: 'l', code, nowMs: stage.clock.nowMs };
    const { values } = (await enrolAction(
      ringsOf(['totp']).totp,
      { userId, seed: undefined, earlier: 0 },
      of,
    )) as {
      values?: Record<string, unknown>;
    };
    expect(values?.[':seed']).toBe('l.0');
  });

  test('secrets of issuers are sealed anew, of every Project, also when that is cut off', async () => {
    const { table } = stage.services;
    await ensureKeys(making(secret));
    const ring = ringsOf(['issuer-secret'])['issuer-secret'];
    const configured = [undefined, 'p1', 'p2'].map((project, i) => ({
      ...{ project, issuer: `https://issuer${i}.example`, clientId: 'c' },
      secret: i === 2 ? undefined : `hidden ${i}`,
    }));
    const items = await Promise.all(configured.map((one) => issuerItem(ring, one)));
    await table.write(items);
    await replaced('issuer-secret');
    later(day);
    let left = 1;
    const failing = {
      ...table,
      updateIf: (...args: Parameters<typeof table.updateIf>) =>
        left-- > 0 ? table.updateIf(...args) : Promise.reject(new Error('cut off')),
    };
    const services = { ...stage.services, keyRings: ringsOf(['issuer-secret']) };
    const event = { retireKey: 'issuer-secret' } as const;
    await expect(
      retireStageKey({ ...services, table: failing }, event, Number.POSITIVE_INFINITY),
    ).rejects.toThrow('cut off');
    expect((await stored('issuer-secret'))?.versions).toHaveLength(2);
    const fresh = ringsOf(['issuer-secret'])['issuer-secret'];
    const [ofStage] = configured;
    const setSince: typeof table = {
      ...table,
      async scan(page) {
        const found = await table.scan(page);
        if (ofStage) await table.put(await issuerItem(fresh, { ...ofStage, secret: 'set since' }));
        return found;
      },
    };
    const { retirement } = await retireStageKey(
      { ...services, table: setSince },
      event,
      Number.POSITIVE_INFINITY,
    );
    expect(retirement).toMatchObject({ done: true, standing: 0, versions: [2] });
    if (ofStage) ofStage.secret = 'set since';
    for (const [i, item] of items.entries()) {
      const now = configuredIssuer(await getItem(stage.services, item));
      expect(now && (await issuerSecret(fresh, now))).toBe(configured[i]?.secret);
    }
    await table.write([], items);
  });

  test('the secret of an earlier release is removed when every purpose has a key of its own', async () => {
    const { table } = stage.services;
    await table.put({ ...keys.stageSecret(), ciphertext: Buffer.alloc(1) });
    await expect(forgetEarlierSecret(stage.services)).rejects.toThrow('no key for');
    await ensureKeys(making(secret));
    await forgetEarlierSecret(stage.services);
    expect(await getItem(stage.services, keys.stageSecret())).toBeUndefined();
  });

  test('a table that is put back to before has the versions of both, and makes with the last', async () => {
    await ensureKeys(making(secret));
    const kept = await Promise.all(keyPurposes.map((one) => getItem(stage.services, keys.stageKey(one))));
    const { endpoint, client } = stage;
    await startTable({ endpoint, tableName: 'keys-restored' });
    const table = openTable(client, 'keys-restored', stage.services.now);
    await table.write(kept.flatMap((item) => item ?? []));
    const before = ringsOf(['reset-link'])['reset-link'];
    const mac = await macOf(before, 'text');
    await replaced('reset-link');
    later(31 * day);
    await retire('reset-link');
    const { now, newId } = stage.services;
    const scan = async () => ({ items: [], next: undefined });
    await prepareRestored({ table, scan, lost: stage.services.table, atMs: now(), now, newId });
    const ring = openKeyRings(table, async () => wrapping, ['reset-link'], now)['reset-link'];
    expect((await ring.current()).version).toBe(2);
    expect(await isMac(ring, 'text', mac)).toBe(true);
    expect(await isMac(ring, 'text', await macOf(ringsOf(['reset-link'])['reset-link'], 'text'))).toBe(true);
  });
});

describe('on AWS', () => {
  /** Wraps as KMS does: what is wrapped opens in its context only. */
  const server = createServer(async (request, response) => {
    const asked = JSON.parse(await text(request));
    const named = asked.EncryptionContext;
    const bytesOf = (given: string) => Buffer.from(given, 'base64');
    const said = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
    const operations: Record<string, () => Promise<object>> = {
      Encrypt: async () => ({ CiphertextBlob: said(await wrapping.wrap(bytesOf(asked.Plaintext), named)) }),
      GenerateDataKeyWithoutPlaintext: async () => ({
        CiphertextBlob: said(await wrapping.makeWrapped(named)),
      }),
      Decrypt: async () => ({ Plaintext: said(await wrapping.open(bytesOf(asked.CiphertextBlob), named)) }),
    };
    const operation = operations[String(request.headers['x-amz-target']).replace('TrentService.', '')];
    const answer = await (operation?.() ?? Promise.reject(new Error('not allowed'))).catch(() => undefined);
    response.statusCode = answer ? 200 : 400;
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    response.end(JSON.stringify(answer ?? { __type: 'InvalidCiphertextException' }));
  });
  beforeAll(() => new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening)));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  test.each([true, false])(
    'KMS wraps the keys, with an earlier secret in the table: %s',
    async (isEarlier) => {
      const { port } = server.address() as AddressInfo;
      const kms = connectKms(`http://127.0.0.1:${port}`);
      const { table, now } = stage.services;
      const ciphertext = await wrapping.wrap(secret, { use: 'portico-stage-secret' });
      if (isEarlier) await table.put({ ...keys.stageSecret(), ciphertext });
      const services = {
        ...{ table, now, wrapping: async () => openKmsWrapping('key', kms) },
        earlierSecret: () => openEarlierSecret(table, 'key', kms),
      };
      await ensureKeys(services);
      await table.write([], [keys.stageSecret()]);
      const rings = openKeyRings(table, services.wrapping, keyPurposes, now);
      const { invitation } = earlierMakings;
      expect(
        await isLinkSecret(rings['invitation-link'], invitationLink(invitation.of), invitation.secret),
      ).toBe(isEarlier);
      expect(await isMac(ringsOf(['totp']).totp, 'text', await macOf(rings.totp, 'text'))).toBe(true);
      const totp = await stored('totp');
      const [one] = (await stored('drafts'))?.versions ?? [];
      if (!totp || !one) throw new Error('not made');
      await writeStageKey(table, 'totp', { ...totp, versions: [one] }, totp);
      const moved = openKeyRings(table, services.wrapping, ['totp'], now);
      await expect(moved.totp.current()).rejects.toMatchObject({ name: 'InvalidCiphertextException' });
    },
  );
});
