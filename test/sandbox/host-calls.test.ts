import { createHash, getHashes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { hostCall } from '../../shared/bots/sandbox/child/host-calls.ts';
import { hashes } from '../../shared/bots/sandbox/modules.ts';

describe('a hash that the host is asked for', () => {
  test.each(hashes)('%s is computed', (name) => {
    const sum = createHash(name).update('data').digest().toString('latin1');
    expect(hostCall('hash', name, 'data', '', '')).toBe(`+${sum}`);
  });

  // The guest asks for none of these unless it has been taken over.
  test('is refused when it is not on the list, although the host knows it', () => {
    const others = getHashes().filter((name) => !hashes.includes(name));
    expect(others.length).toBeGreaterThan(0);
    for (const name of others) {
      expect(hostCall('hash', name, 'data', '', '')).toBe(`-Unknown hash: ${name}`);
      expect(hostCall('hmac', name, 'key', 'data', '')).toBe(`-Unknown hash: ${name}`);
    }
  });
});
