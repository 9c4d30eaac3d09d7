import { hkdfSync } from 'node:crypto';
import { typedKeys } from '../typed-keys.ts';

/**
 * What the stage has secret keys for: each purpose its own, which no other opens. With each the words under which the
 * first version of its key derives from the one secret that earlier releases had for all of them.
 */
const derivations = {
  /** The tokens of Bots that run. */
  'run-token': 'portico run token',
  /** What is mailed: links of invitations, of password resets, of changes of address. */
  'invitation-link': 'portico invitation link',
  'reset-link': 'portico password reset',
  'address-link': 'portico new address',
  /** Second factors. */
  totp: 'portico totp',
  /** The keys under which the app seals unsaved work on a person's device. */
  drafts: 'portico drafts',
  /** What our client at an issuer is given there, sealed. */
  'issuer-secret': 'portico seal issuer secret',
  /** The cookie of a sign-in that is on its way through an issuer. */
  'external-sign-in': 'portico seal external sign-in',
} as const;

export type KeyPurpose = keyof typeof derivations;

export const keyPurposes: readonly KeyPurpose[] = typedKeys(derivations);

/** The first version of a purpose's key on a stage that had one secret for all. 32 bytes. */
export function derivedKey(secret: Uint8Array, purpose: KeyPurpose): Uint8Array {
  return Buffer.from(hkdfSync('sha256', secret, '', derivations[purpose], 32));
}
