import { exactOptional, number, object, set, string } from 'valibot';
import type { KeyRing } from '../../../shared/keys/key-ring.ts';
import { keyVersionOf, stepOfCode } from '../../../shared/login/totp.ts';
import { invalidField, type Refusal } from '../../../shared/refusal.ts';
import { stored } from '../../../shared/schema/stored.ts';
import { type Key, keys } from '../../../shared/table/keys.ts';
import type { Found } from '../../../shared/table/table.ts';
import type { Action } from '../../../shared/table/transact.ts';
import { recoveryHash } from './recovery-codes.ts';

/** What is stored of a person's second factor. */
export interface SecondFactor {
  userId: string;
  /** Of the secret that is enrolled; undefined when none is. */
  seed: string | undefined;
  /** How many were enrolled before. */
  earlier: number;
  /** How many recovery codes are not used yet. */
  recoveryCodes: number;
}

const factorOf = stored(
  'second factor',
  object({
    seed: exactOptional(string()),
    earlier: exactOptional(number()),
    recovery: exactOptional(set(string())),
  }),
);

export function secondFactorOf(userId: string, found: Found): SecondFactor {
  const { seed, earlier = 0, recovery } = factorOf(found.get(keys.mfa(userId))) ?? {};
  return { userId, seed, earlier, recoveryCodes: recovery?.size ?? 0 };
}

/**
 * A login enrols a secret of its own, and every time another: whoever else has begun to enrol for this
 * person, knowing the password, has seen another one.
 */
export function newSeed(
  loginId: string,
  { earlier }: Pick<SecondFactor, 'earlier'>,
  version: number,
): string {
  return `${loginId}.${earlier}${version === 1 ? '' : `.${version}`}`;
}

/** What becomes of the second factor with the code: nothing else, its removal, or other recovery codes. */
type Change = 'none' | 'removal' | { recovery: ReadonlySet<string> };

interface Shown {
  code: string;
  nowMs: number;
  change?: Change;
}

/**
 * Uses a code up: six digits that are good for the secret that is enrolled and later than the last ones, or a
 * recovery code.
 * @throws {Refusal} invalid for a wrong code
 */
export async function useCodeAction(ring: KeyRing, factor: SecondFactor, shown: Shown): Promise<Action> {
  const { userId, seed } = factor;
  if (seed === undefined) throw wrongCode();
  const hash = recoveryHash(userId, shown.code);
  if (hash !== undefined) return useRecoveryAction(factor, hash, shown.change);
  const key = await ring.find(keyVersionOf(seed));
  const step = key && stepOfCode(key, { userId, seed }, shown.code, shown.nowMs);
  if (step === undefined) throw wrongCode();
  return {
    name: 'second factor',
    update: keys.mfa(userId),
    ...changeOf('SET lastStep = :step', shown.change, { ':seed': seed, ':step': step }),
    if: 'seed = :seed AND lastStep < :step',
  };
}

function useRecoveryAction({ userId, seed }: SecondFactor, hash: string, change?: Change): Action {
  const used = { ':seed': seed, ':hash': hash };
  const all = change === undefined || change === 'none' ? { ...used, ':used': new Set([hash]) } : used;
  return {
    name: 'second factor',
    update: keys.mfa(userId),
    ...changeOf('DELETE recovery :used', change, all),
    if: 'seed = :seed AND contains(recovery, :hash)',
  };
}

function changeOf(usual: string, change: Change = 'none', values: Record<string, unknown>) {
  if (change === 'none') return { set: usual, values };
  if (change === 'removal') return { set: 'REMOVE seed, lastStep, recovery', values };
  const step = ':step' in values ? ', lastStep = :step' : '';
  return { set: `SET recovery = :recovery${step}`, values: { ...values, ':recovery': change.recovery } };
}

/**
 * Enrols the secret that this login was shown; the code proves that the phone has it.
 * @param of.recovery hashes of the recovery codes that come with it
 * @throws {Refusal} invalid for a wrong code
 */
export async function enrolAction(
  ring: KeyRing,
  factor: Omit<SecondFactor, 'recoveryCodes'>,
  of: { loginId: string; code: string; nowMs: number; recovery?: ReadonlySet<string> },
): Promise<Action> {
  const { userId, earlier } = factor;
  const { loginId, code, nowMs, recovery } = of;
  // It was shown a while ago, perhaps with the version before.
  const proven = (await ring.all()).flatMap(({ key, version }) => {
    const seed = newSeed(loginId, factor, version);
    const step = stepOfCode(key, { userId, seed }, code, nowMs);
    return step === undefined ? [] : { seed, step };
  });
  const [found] = proven;
  if (!found) throw wrongCode();
  const { seed, step } = found;
  return {
    name: 'second factor',
    update: keys.mfa(userId),
    set: `SET seed = :seed, lastStep = :step, earlier = :next${recovery ? ', recovery = :recovery' : ''}`,
    if: 'attribute_not_exists(seed) AND (attribute_not_exists(earlier) OR earlier = :earlier)',
    values: {
      ...{ ':seed': seed, ':step': step, ':earlier': earlier, ':next': earlier + 1 },
      ...(recovery ? { ':recovery': recovery } : {}),
    },
  };
}

/** Notes in a login that its person has shown a second factor, and whether it was a recovery code. */
export function provenAction({ pk, sk }: Key, isRecovered = false): Action {
  return {
    name: 'login',
    update: { pk, sk },
    set: isRecovered ? 'SET mfa = :true, recovered = :true' : 'SET mfa = :true',
    if: 'attribute_exists(pk) AND attribute_not_exists(revoked)',
    values: { ':true': true },
  };
}

export function wrongCode(): Refusal {
  return invalidField('token', 'The code is not right');
}
