import type { KeyRing, KeyRings } from '../../shared/keys/key-ring.ts';
import { derivedKey, type KeyPurpose, keyPurposes } from '../../shared/keys/purposes.ts';
import { recordOf } from '../../shared/typed-keys.ts';

/** A ring of one version. */
export function ringOf(key: Uint8Array): KeyRing {
  const only = { version: 1, key };
  return {
    current: async () => only,
    find: async (version) => (version === only.version ? key : undefined),
    all: async () => [only],
  };
}

/** The first versions of a stage that had that secret for all purposes. */
export function keyRingsOf(secret: Uint8Array): KeyRings<KeyPurpose> {
  return recordOf(keyPurposes, (purpose) => ringOf(derivedKey(secret, purpose)));
}
