import { exactOptional, type InferInput, number, object, optional, string } from 'valibot';
import { signInMaxAgeSeconds } from '../../base/limits.ts';
import { Refusal } from '../../base/refusal.ts';
import { stored } from '../../base/schema.ts';
import type { Item } from '../../carry/table/item.ts';

const loginStart = object({
  kind: string(),
  createdAtMs: number(),
  /** When the person last showed who they are, where that was not when the login was made, or an issuer said when. */
  signedInAtMs: exactOptional(number()),
  issuer: optional(string()),
});
const read = stored('sign-in of a login', loginStart);

/** What a login says of how its person signed in, or its program got a token. */
type LoginStart = InferInput<typeof loginStart>;

/** Undefined where nobody knows: an issuer may vouch for somebody who signed in there a week ago. */
export function signedInAtMs({ issuer, createdAtMs, signedInAtMs }: LoginStart): number | undefined {
  return signedInAtMs ?? (issuer === undefined ? createdAtMs : undefined);
}

export function hasSignedInRecently(login: LoginStart, nowMs: number): boolean {
  const atMs = signedInAtMs(login);
  return atMs !== undefined && atMs + signInMaxAgeSeconds * 1000 > nowMs;
}

/**
 * For what can take or lock an account, or makes keys: whoever calls has signed in within the last five minutes.
 * Refreshing renews nothing; `POST auth/reauthenticate` does, for the same tokens.
 * @param actor.login as it was read with them; a run has none
 * @param of people: programs may do it with any token of theirs
 * @throws {Refusal} insufficient-user-authentication
 */
export function requireRecentSignIn(
  { login }: { login?: Item | undefined },
  nowMs: number,
  of: 'everybody' | 'people' = 'everybody',
): void {
  const start = read(login);
  const isProgram = start?.kind === 'client';
  if ((isProgram && of === 'people') || (start && hasSignedInRecently(start, nowMs))) return;
  const minutes = signInMaxAgeSeconds / 60;
  throw new Refusal(
    'insufficient-user-authentication',
    isProgram
      ? `This needs a token of the last ${minutes} minutes: ask for another`
      : `This needs a sign-in of the last ${minutes} minutes: show again who you are`,
  );
}
