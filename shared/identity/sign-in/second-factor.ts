import { createHash, createHmac, randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { renderSVG } from 'uqr';
import { exactOptional, number, object, set, string } from 'valibot';
import { invalidField, type Refusal } from '../../base/refusal.ts';
import { stored } from '../../base/schema.ts';
import type { KeyRing, KeyRings } from '../../carry/keys/key-ring.ts';
import type { Services } from '../../carry/services.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import type { Found } from '../../carry/table/table.ts';
import type { Action } from '../../carry/table/transact.ts';
import { inlineResource } from '../../store/items/content.ts';
import { countAttempt } from './attempts.ts';
import { endLogin, idOfLogin, isAlive, type Login, signInAgain } from './logins.ts';

/** One enrolment of one person; another seed makes another secret. */
export interface TotpOf {
  userId: string;
  seed: string;
}

const periodMs = 30_000;

/**
 * RFC 6238 with what every authenticator app supports: SHA-1, six digits, 30 s. The secret is an HMAC under
 * a key of the stage for nothing else: it is stored nowhere.
 */
function totpOf(key: Uint8Array, { userId, seed }: TotpOf, label: string): TOTP {
  const mac = createHmac('sha256', key)
    .update(JSON.stringify([userId, seed]))
    .digest();
  const secret = new Secret({ buffer: Uint8Array.from(mac.subarray(0, 20)).buffer });
  return new TOTP({ issuer: 'Portico', label, secret, period: periodMs / 1000 });
}

/** What hands the secret to a phone: an `otpauth:` URI, and the same as an SVG image in a data URL. */
export function enrolment(
  key: Uint8Array,
  of: TotpOf,
  label: string,
): { enrollUri: string; enrollQrCode: string } {
  const enrollUri = totpOf(key, of, label).toString();
  const svg = Buffer.from(renderSVG(enrollUri)).toString('base64');
  return { enrollUri, enrollQrCode: `data:image/svg+xml;base64,${svg}` };
}

/**
 * The step of time that a code is of, one earlier or later tolerated (RFC 6238 section 5.2); undefined
 * for a wrong one.
 */
function stepOfCode(key: Uint8Array, of: TotpOf, code: string, nowMs: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined;
  const delta = totpOf(key, of, '').validate({ token: code, timestamp: nowMs, window: 1 });
  return delta === null ? undefined : stepAt(nowMs) + delta;
}

function stepAt(nowMs: number): number {
  return Math.floor(nowMs / periodMs);
}

/** Which version of the stage's key an enrolled secret derives from: of the first a seed says nothing. */
export function keyVersionOf(seed: string): number {
  return Number(seed.split('.')[2] ?? 1);
}

/** How many a person is given at a time. */
const howMany = 10;

/** Crockford's: no letter is taken for a digit. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const length = 24;

/** The codes as they are answered, once. */
export interface NewRecoveryCodes {
  recoveryCodes: string[];
}

/**
 * What opens a sign-in when the phone is gone, each code once.
 * @returns as a person writes them down, six groups of four characters with dashes between them, 120 random bits each;
 *   and what is stored of them
 */
export function newRecoveryCodes(userId: string): { codes: string[]; hashes: Set<string> } {
  const plain = Array.from({ length: howMany }, () =>
    Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join(''),
  );
  return {
    codes: plain.map((code) => code.replace(/(.{4})(?=.)/g, '$1-')),
    hashes: new Set(plain.map((code) => hashOf(userId, code))),
  };
}

/**
 * The hash of what was typed, dashes, spaces and case left aside; undefined for what cannot be such a code: earlier ones
 * had 16 characters. A fast hash is enough: there is too much to guess.
 */
export function recoveryHash(userId: string, typed: string): string | undefined {
  if (typed.length > 64) return undefined;
  const plain = typed.replace(/[\s-]/g, '').toUpperCase().replace(/O/g, '0').replace(/[IL]/g, '1');
  return /^(?:[0-9A-HJKMNP-TV-Z]{8}){2,3}$/.test(plain) ? hashOf(userId, plain) : undefined;
}

function hashOf(userId: string, plain: string): string {
  return createHash('sha256').update(`${userId} ${plain}`).digest('hex');
}

/** What is stored of a person's second factor. */
export interface SecondFactor {
  userId: string;
  /** Of the secret that is enrolled; undefined when none is. */
  seed: string | undefined;
  /** How many were enrolled before. */
  earlier: number;
  /** When it was enrolled, ms since the epoch; 0 for one of long ago. */
  enrolledAtMs: number;
  /** Hashes of the recovery codes that are not used yet. */
  recovery: ReadonlySet<string>;
}

const factorOf = stored(
  'second factor',
  object({
    seed: exactOptional(string()),
    earlier: exactOptional(number()),
    enrolledAtMs: exactOptional(number()),
    recovery: exactOptional(set(string())),
  }),
);

export function secondFactorOf(userId: string, found: Found): SecondFactor {
  const stored = factorOf(found.get(keys.mfa(userId)));
  const { seed, earlier = 0, enrolledAtMs = 0, recovery = new Set<string>() } = stored ?? {};
  return { userId, seed, earlier, enrolledAtMs, recovery };
}

/**
 * A login enrols a secret of its own, and every time another: whoever else has begun to enrol for this
 * person, knowing the password, has seen another one.
 */
function newSeed(loginId: string, { earlier }: Pick<SecondFactor, 'earlier'>, version: number): string {
  return `${loginId}.${earlier}${version === 1 ? '' : `.${version}`}`;
}

/** What becomes of the second factor with the code: nothing else, its removal, or other recovery codes. */
export type Change = 'none' | 'removal' | { recovery: ReadonlySet<string> };

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
  const step = await shownStep(ring, { userId, seed }, shown);
  return {
    name: 'second factor',
    update: keys.mfa(userId),
    ...changeOf('SET lastStep = :step', shown.change, { ':seed': seed, ':step': step }),
    if: 'seed = :seed AND lastStep < :step',
  };
}

async function shownStep(
  ring: KeyRing,
  { userId, seed }: { userId: string; seed: string },
  { code, nowMs }: Shown,
): Promise<number> {
  const key = await ring.find(keyVersionOf(seed));
  const step = key && stepOfCode(key, { userId, seed }, code, nowMs);
  if (step === undefined) throw wrongCode();
  return step;
}

/** A second factor as it was once, and a code of it. */
interface EarlierFactor extends Pick<SecondFactor, 'seed' | 'recovery'> {
  code: string;
  nowMs: number;
}

/**
 * A code of the second factor that a person had once: where they have it still it is used up.
 * @throws {Refusal} invalid for a wrong code
 */
export async function proveEarlier(
  ring: KeyRing,
  factor: SecondFactor,
  earlier: EarlierFactor,
): Promise<Action[]> {
  const { userId } = factor;
  const { seed, recovery, code } = earlier;
  if (seed === undefined) return [];
  if (seed === factor.seed) return [await useCodeAction(ring, factor, earlier)];
  const hash = recoveryHash(userId, code);
  if (hash === undefined) await shownStep(ring, { userId, seed }, earlier);
  else if (!recovery.has(hash)) throw wrongCode();
  return [];
}

/** Makes a person's second factor the one that they had once, which may be none; nothing where it is that one. */
export function restoreActions(
  { userId, seed: now }: SecondFactor,
  { seed, recovery, code, nowMs }: EarlierFactor,
): Action[] {
  if (seed === now) return [];
  const left = new Set([...recovery].filter((hash) => hash !== recoveryHash(userId, code)));
  const found = {
    name: 'second factor',
    update: keys.mfa(userId),
    if: now === undefined ? 'attribute_not_exists(seed)' : 'seed = :now',
  };
  const values = now === undefined ? {} : { ':now': now };
  if (seed === undefined) return [{ ...found, set: 'REMOVE seed, lastStep, recovery', values }];
  return [
    {
      ...found,
      set: `SET seed = :seed, lastStep = :step${left.size > 0 ? ', recovery = :left REMOVE enrolledAtMs' : ' REMOVE enrolledAtMs, recovery'}`,
      values: {
        ...{ ...values, ':seed': seed, ':step': stepAt(nowMs) },
        ...(left.size > 0 ? { ':left': left } : {}),
      },
    },
  ];
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
  factor: Omit<SecondFactor, 'recovery' | 'enrolledAtMs'>,
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
    set: `SET seed = :seed, lastStep = :step, earlier = :next, enrolledAtMs = :now${recovery ? ', recovery = :recovery' : ''}`,
    if: 'attribute_not_exists(seed) AND (attribute_not_exists(earlier) OR earlier = :earlier)',
    values: {
      ...{ ':seed': seed, ':step': step, ':earlier': earlier, ':next': earlier + 1, ':now': nowMs },
      ...(recovery ? { ':recovery': recovery } : {}),
    },
  };
}

/**
 * Notes in a login that its person has a second factor.
 * @param shown that they have shown it just now, and whether it was a recovery code
 */
export function provenAction({ pk, sk }: Key, shown?: { atMs: number; isRecovered: boolean }): Action {
  const set = [
    'mfa = :true',
    ...(shown ? ['signedInAtMs = :at'] : []),
    ...(shown?.isRecovered ? ['recovered = :true'] : []),
  ];
  const values = { ':true': true, ...(shown ? { ':at': shown.atMs } : {}) };
  return { name: 'login', update: { pk, sk }, set: `SET ${set.join(', ')}`, if: isAlive, values };
}

export function wrongCode(): Refusal {
  return invalidField('token', 'The code is not right');
}

/** What hands the secret that this login may enrol to a phone. */
export async function enrolmentOf(
  services: Pick<Services, 'table'> & { keyRings: KeyRings<'totp'> },
  login: { id: string; userId: string },
) {
  const { id, userId } = login;
  const userKey = keys.user(userId);
  const [found, { key, version }] = await Promise.all([
    services.table.read([userKey, keys.mfa(userId)]),
    services.keyRings.totp.current(),
  ]);
  const label = String(inlineResource('User', found.get(userKey))?.email ?? userId);
  const seed = newSeed(id, secondFactorOf(userId, found), version);
  return enrolment(key, { userId, seed }, label);
}

/** A login that is not finished may try so often; after that the password has to be given again. */
const mostInOneLogin = 5;

/**
 * Counts a try of a person's second factor, from wherever it comes: a code has six digits only. Each way has its own
 * tries: who has a session uses up none of a sign-in's, which wants the password, and neither of a mailed link's.
 * @returns takes the try back: it was the right code
 * @throws {Refusal} throttled
 */
export function countCode(
  services: Services,
  userId: string,
  way: 'sign-in' | 'session' | 'link',
): Promise<() => Promise<void>> {
  return countAttempt(services, `second factor ${way} ${userId}`, 'anywhere');
}

/** The same in a login that waits for it, which ends with the sixth. @throws {Refusal} invalid, throttled */
export async function countCodeOfLogin(services: Services, login: Login): Promise<() => Promise<void>> {
  const counted = await services.table.updateIf({
    Key: { pk: login.pk, sk: login.sk },
    UpdateExpression: 'ADD codes :one',
    // One that was erased since it was read does not come back as a number.
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':one': 1 },
    ReturnValues: 'UPDATED_NEW',
  });
  if (!counted.held) throw signInAgain();
  if (Number(counted.attributes.codes) > mostInOneLogin) {
    await endLogin(services.table, idOfLogin(login));
    throw signInAgain();
  }
  return countCode(services, login.subject, 'sign-in');
}
