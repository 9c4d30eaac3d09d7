import { createHash } from 'node:crypto';
import { hashClientSecret, newClientSecret } from '../keys/client-secret.ts';

/** A code is good for one exchange within this time. */
export const codeMs = 5 * 60_000;

/** What a person who signed in hands to the token endpoint; only the hash is stored. */
export function newLoginCode(loginId: string): { code: string; hash: string } {
  const secret = newClientSecret();
  return { code: `${loginId}.${secret}`, hash: hashClientSecret(secret) };
}

/** The parts of a code; undefined when it has not the form of one. */
export function parseLoginCode(code: string | undefined): { loginId: string; secret: string } | undefined {
  const [, loginId, secret] = /^([A-Za-z0-9-]{1,64})\.([A-Za-z0-9_-]{43})$/.exec(code ?? '') ?? [];
  return loginId && secret ? { loginId, secret } : undefined;
}

/** RFC 7636 section 4.2: the challenge that a verifier answers. */
export function challengeOf(verifier: string, method: unknown): string {
  return method === 'plain' ? verifier : createHash('sha256').update(verifier).digest('base64url');
}
