import { recordOf } from '../../shared/base/values.ts';
import {
  derivedKey,
  type KeyPurpose,
  type KeyRing,
  type KeyRings,
  keyPurposes,
} from '../../shared/carry/keys/key-ring.ts';

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
