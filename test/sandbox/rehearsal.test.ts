import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { cachedGuest } from '../../infra/guest/build.ts';
import { rehearse } from '../../shared/bots/sandbox/child/rehearsal.ts';
import { scriptFile, scriptNames } from '../../shared/bots/sandbox/modules.ts';

let guestDir: string;
beforeAll(async () => {
  guestDir = await cachedGuest();
});
const textOf = (name: string) => readFileSync(join(guestDir, scriptFile(name)), 'utf8');

describe('before the first run', () => {
  test.each(scriptNames)('%s has been used by a Bot that ran to its end', (name) => {
    const { ended, scripts } = rehearse(textOf, name);
    expect([ended?.[0], scripts.has(name)]).toEqual(['returned', true]);
  });

  test.each(['@medplum/core', 'portico:medplum-client'])('the client of %s has made every call', (name) => {
    const { ended } = rehearse(textOf, name);
    const calls = JSON.parse(ended?.[1] ?? '[]') as string[];
    expect(calls.length).toBeGreaterThan(10);
    expect(new Set(calls)).toEqual(new Set(['fulfilled']));
  });

  test('what is used goes into the cached data', () => {
    const used = rehearse(textOf, '@medplum/core').scripts.get('@medplum/core');
    // V8 remembers what it has compiled by text and name.
    const unused = new Script(textOf('@medplum/core'), { filename: 'unused' });
    unused.runInThisContext();
    expect(used?.createCachedData().length).toBeGreaterThan(unused.createCachedData().length);
  });
});
