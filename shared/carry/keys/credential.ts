import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  array,
  boolean,
  exactOptional,
  type InferOutput,
  looseObject,
  number,
  object,
  string,
} from 'valibot';
import { stored } from '../../base/schema.ts';

/** 256 random bits: too many to guess, so a fast hash is enough to store. */
export function newClientSecret(): string {
  return randomBytes(32).toString('base64url');
}

export function hashClientSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Compares in constant time; an unknown client (`hash` undefined) takes the same time and is never equal. */
export function matchesClientSecret(secret: string, hash: string | undefined): boolean {
  const given = Buffer.from(hashClientSecret(secret), 'hex');
  const stored = Buffer.from(hash ?? '0'.repeat(64), 'hex');
  return timingSafeEqual(given, stored) && hash !== undefined;
}

const credentialSchema = object({
  project: string(),
  membershipId: string(),
  secretHash: exactOptional(string()),
  isPublic: exactOptional(boolean()),
  jwks: exactOptional(looseObject({ keys: array(looseObject({})) })),
  /** When the secret was last replaced. */
  rotatedAtMs: exactOptional(number()),
  /** The secret before, which is still good for a while. */
  retiring: exactOptional(object({ secretHash: string(), untilMs: number() })),
  /** From then on it opens nothing. */
  expiresAtMs: exactOptional(number()),
  /** When it was last used, to the hour. */
  usedAtMs: exactOptional(number()),
});

export type Credential = InferOutput<typeof credentialSchema>;

/** What a client authenticates with, under its id alone: the hash of a secret, or public keys (RFC 7517). */
export const credentialOf = stored('credential', credentialSchema);

/** Whether a secret is the client's own now, or was until it was replaced and is not over yet; in constant time. */
export function isSecretOf(credential: Credential | undefined, secret: string, nowMs: number): boolean {
  const { secretHash, retiring } = credential ?? {};
  const isCurrent = matchesClientSecret(secret, secretHash);
  const isRetiring = matchesClientSecret(secret, retiringOf({ retiring }, nowMs)?.secretHash);
  return isCurrent || isRetiring;
}

/** The secret before, while it is good. */
export function retiringOf({ retiring }: { retiring?: Credential['retiring'] | undefined }, nowMs: number) {
  return retiring && retiring.untilMs > nowMs ? retiring : undefined;
}

export function hasExpired(credential: Credential | undefined, nowMs: number): boolean {
  return (credential?.expiresAtMs ?? Number.POSITIVE_INFINITY) <= nowMs;
}
