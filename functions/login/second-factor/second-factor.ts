import { exactOptional, number, object, string } from 'valibot';
import type { StageSecret } from '../../../shared/keys/signer.ts';
import { stepOfCode } from '../../../shared/login/totp.ts';
import { invalidField, type Refusal } from '../../../shared/refusal.ts';
import { stored } from '../../../shared/schema/stored.ts';
import { type Key, keys } from '../../../shared/table/keys.ts';
import type { Found } from '../../../shared/table/table.ts';
import type { Action } from '../../../shared/table/transact.ts';

/** What is stored of a person's second factor. */
export interface SecondFactor {
  userId: string;
  /** Of the secret that is enrolled; undefined when none is. */
  seed: string | undefined;
  /** How many were enrolled before. */
  earlier: number;
}

const factorOf = stored(
  'second factor',
  object({ seed: exactOptional(string()), earlier: exactOptional(number()) }),
);

export function secondFactorOf(userId: string, found: Found): SecondFactor {
  const { seed, earlier = 0 } = factorOf(found.get(keys.mfa(userId))) ?? {};
  return { userId, seed, earlier };
}

/**
 * A login enrols a secret of its own, and every time another: whoever else has begun to enrol for this
 * person, knowing the password, has seen another one.
 */
export function newSeed(loginId: string, { earlier }: SecondFactor): string {
  return `${loginId}.${earlier}`;
}

/**
 * Uses a code up: it is good for the secret that is enrolled, and later than the last one.
 * @throws {Refusal} invalid for a wrong code
 */
export function useCodeAction(
  stage: StageSecret,
  { userId, seed }: SecondFactor,
  { code, nowMs, set = 'SET lastStep = :step' }: { code: string; nowMs: number; set?: string },
): Action {
  const step = seed === undefined ? undefined : stepOfCode(stage, { userId, seed }, code, nowMs);
  if (step === undefined) throw wrongCode();
  return {
    name: 'second factor',
    update: keys.mfa(userId),
    set,
    if: 'seed = :seed AND lastStep < :step',
    values: { ':seed': seed, ':step': step },
  };
}

/**
 * Enrols the secret that this login was shown; the code proves that the phone has it.
 * @throws {Refusal} invalid for a wrong code
 */
export function enrolAction(
  stage: StageSecret,
  factor: SecondFactor,
  { loginId, code, nowMs }: { loginId: string; code: string; nowMs: number },
): Action {
  const { userId, earlier } = factor;
  const seed = newSeed(loginId, factor);
  const step = stepOfCode(stage, { userId, seed }, code, nowMs);
  if (step === undefined) throw wrongCode();
  return {
    name: 'second factor',
    update: keys.mfa(userId),
    set: 'SET seed = :seed, lastStep = :step, earlier = :next',
    if: 'attribute_not_exists(seed) AND (attribute_not_exists(earlier) OR earlier = :earlier)',
    values: { ':seed': seed, ':step': step, ':earlier': earlier, ':next': earlier + 1 },
  };
}

/** Notes in a login that its person has shown a second factor. */
export function provenAction({ pk, sk }: Key): Action {
  return {
    name: 'login',
    update: { pk, sk },
    set: 'SET mfa = :true',
    if: 'attribute_exists(pk) AND attribute_not_exists(revoked)',
    values: { ':true': true },
  };
}

export function wrongCode(): Refusal {
  return invalidField('token', 'The code is not right');
}
