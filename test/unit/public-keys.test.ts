import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { publishedKeys } from '../../shared/carry/keys/signing-keys.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import { Found, type Table } from '../../shared/carry/table/table.ts';

const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const jwk = publicKey.export({ format: 'jwk' });

/** A stage that publishes the keys of these ids, and counts how often it is asked. */
function stage(...kids: string[]) {
  const clock = { nowMs: 0 };
  const state = { kids, reads: 0, isDown: false };
  const table = {
    async read() {
      state.reads += 1;
      await Promise.resolve();
      if (state.isDown) throw new Error('down');
      const jwks = state.kids.map((kid) => ({ ...jwk, kid }));
      const item = { ...keys.publicKeys(), jwks, revision: jwks.length };
      return new Found(new Map([[`${item.pk}\n${item.sk}`, item]]));
    },
  } as Partial<Table> as Table;
  return { clock, state, published: publishedKeys(table, () => clock.nowMs) };
}

describe('publishedKeys', () => {
  test('reads once, then knows', async () => {
    const { published, state } = stage('a');
    expect(await published.find('a')).toBeDefined();
    expect(await published.find('a')).toBeDefined();
    expect(state.reads).toBe(1);
  });

  test('asks for unknown ids at most once a minute, however many come', async () => {
    const { published, state, clock } = stage('a');
    for (let i = 0; i < 100; i++) expect(await published.find(`x${i}`)).toBeUndefined();
    expect(state.reads).toBe(1);
    clock.nowMs += 60_000;
    await Promise.all(Array.from({ length: 100 }, (_, i) => published.find(`y${i}`)));
    expect(state.reads).toBe(2);
  });

  test('finds a new key for all who ask at once', async () => {
    const { published, state, clock } = stage('a');
    await published.find('a');
    state.kids.push('b');
    clock.nowMs += 60_000;
    const found = await Promise.all([published.find('b'), published.find('b'), published.find('b')]);
    expect(found.map((key) => key !== undefined)).toEqual([true, true, true]);
    expect(state.reads).toBe(2);
  });

  test('tries again at once after a read that failed', async () => {
    const { published, state, clock } = stage('a');
    await published.find('a');
    state.kids.push('b');
    clock.nowMs += 60_000;
    state.isDown = true;
    await expect(published.find('b')).rejects.toThrow('down');
    state.isDown = false;
    expect(await published.find('b')).toBeDefined();
  });

  test('asks again at once where there was none', async () => {
    const { published, state } = stage();
    expect(await published.list()).toEqual([]);
    state.kids.push('a');
    expect(await published.find('a')).toBeDefined();
  });

  test('never finds what is no id of a key', async () => {
    const { published } = stage('a');
    for (const kid of ['', '__proto__', 'constructor', 'A'])
      expect(await published.find(kid)).toBeUndefined();
  });
});
