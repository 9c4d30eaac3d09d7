import { array, boolean, exactOptional, looseObject, number, object, string } from 'valibot';
import { stored } from '../schema/stored.ts';

/** What a client authenticates with, under its id alone: the hash of a secret, or public keys (RFC 7517). */
export const credentialOf = stored(
  'credential',
  object({
    project: string(),
    membershipId: string(),
    secretHash: exactOptional(string()),
    isPublic: exactOptional(boolean()),
    jwks: exactOptional(looseObject({ keys: array(looseObject({})) })),
    /** When the secret was last replaced. */
    rotatedAtMs: exactOptional(number()),
  }),
);
