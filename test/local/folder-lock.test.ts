import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { lockedBy, lockFolder } from '../../infra/local/folder-lock.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-lock-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('the lock of a data folder', () => {
  test('is held by one, also when several come at once, until it is freed', async () => {
    const tries = await Promise.allSettled([lockFolder(folder), lockFolder(folder), lockFolder(folder)]);
    const held = tries.filter((one) => one.status === 'fulfilled');
    expect(held).toHaveLength(1);
    expect(await lockedBy(folder)).toBe(process.pid);
    await expect(lockFolder(folder)).rejects.toThrow(`${folder} is in use by process ${process.pid}`);
    await held[0]?.value.stop();
    expect(await lockedBy(folder)).toBeUndefined();
    expect(await readdir(folder)).toEqual([]);
  });

  test('of a process that has ended is taken over', async () => {
    const { pid } = spawnSync('true');
    await writeFile(join(folder, 'lock'), JSON.stringify({ pid, startedAtTicks: '1' }));
    const lock = await lockFolder(folder);
    expect(await lockedBy(folder)).toBe(process.pid);
    await lock.stop();
  });

  test('of an earlier process with the same id is taken over', async () => {
    const lock = await lockFolder(folder);
    const holder = JSON.parse(await readFile(join(folder, 'lock'), 'utf8')) as { startedAtTicks?: string };
    await writeFile(join(folder, 'lock'), JSON.stringify({ ...holder, startedAtTicks: '1' }));
    expect(await lockedBy(folder)).toBeUndefined();
    await lock.stop();
  });
});

describe('npm run rotate-key', () => {
  const rotate = (step: string) => {
    const env = { ...process.env, NODE_OPTIONS: '', PORTICO_DATA_DIR: folder };
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['infra/local/operate/rotate-key.ts', step],
      { env, encoding: 'utf8' },
    );
    return { status, said: stdout, why: stderr.split('\n')[0] };
  };
  const keysNow = async () => JSON.parse(await readFile(join(folder, 'keys.json'), 'utf8'));

  test('says what it has done and what is next, and does nothing out of turn or beside a stack', async () => {
    const first = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
    await writeFile(join(folder, 'keys.json'), JSON.stringify({ privateKey: first, secret: 's' }));
    expect(rotate('sign')).toEqual({ status: 2, said: '', why: expect.stringContaining('prepare one') });
    expect(rotate('prepare')).toMatchObject({ status: 0, said: expect.stringMatching(/: sign\n$/) });
    const [next] = (await keysNow()).others;
    const lock = await lockFolder(folder);
    expect(rotate('sign')).toMatchObject({ status: 2, said: '' });
    await lock.stop();
    expect(rotate('sign')).toMatchObject({ status: 0, said: expect.stringMatching(/: retire\n$/) });
    expect(await keysNow()).toEqual({ privateKey: next, secret: 's', others: [first] });
    expect(rotate('retire')).toMatchObject({ status: 0, said: expect.stringContaining('last step') });
    expect(await keysNow()).toEqual({ privateKey: next, secret: 's' });
  });
});
