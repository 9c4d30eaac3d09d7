import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { cachedGuest } from '../../infra/guest/build.ts';
import {
  rehearse,
  rehearseClient,
  rehearseLibrary,
  rehearseRuntime,
} from '../../shared/sandbox/child/rehearsal.ts';

/** V8 remembers what it has compiled by text and name. */
const script = async (file: string, filename = file) =>
  new Script(await readFile(join(await cachedGuest(), file), 'utf8'), { filename });

describe('before the first run', () => {
  test('the runtime script has run a Bot to its end', async () => {
    expect(rehearse(await script('runtime.js'), rehearseRuntime)).toEqual([
      'returned',
      '{"a":1,"text":"text"}',
    ]);
  });

  test.each(['medplum-core.js', 'medplum-client.js'])(
    'the client of %s has made every call',
    async (file) => {
      const ended = rehearse(await script(file), rehearseClient) as string[];
      expect(ended.length).toBeGreaterThan(10);
      expect(new Set(ended)).toEqual(new Set(['fulfilled']));
    },
  );

  test('what is used goes into the cached data', async () => {
    const [used, unused] = [
      await script('medplum-core.js', 'used'),
      await script('medplum-core.js', 'unused'),
    ];
    rehearse(used, rehearseClient);
    rehearse(unused, rehearseLibrary);
    expect(used.createCachedData().length).toBeGreaterThan(unused.createCachedData().length);
  });
});
