import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliDecompressSync } from 'node:zlib';
import { object, string } from 'valibot';
import { Gate } from '../../base/gate.ts';
import { invalidField } from '../../base/refusal.ts';
import { stored } from '../../base/schema.ts';
import { normalised } from '../../base/values.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import type { Action } from '../../carry/table/transact.ts';
import { aliveAction, endAll, endLogins, idOfLogin, type Login, loginsOf, noticeActions } from './logins.ts';

const derive = promisify(argon2);

/** So many at once in a process: half of the threads that Node has for it, on which tokens are verified too. */
const hashing = new Gate(2);

/** Whose turn it is: those who wait are let in by turns of their sources. */
export interface HashingTurn {
  source?: string;
  /** Called when it has come. */
  begins?(): void;
}

/** OWASP Password Storage Cheat Sheet, argon2id: 19 MiB, two passes, one lane. */
const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };
export const shortestPassword = 8;
export const longestPassword = 256;

/** One form for what is the same password to a person; hashes differ by case all the same. */
export function normalisePassword(password: string): string {
  return normalised(password, 'NFKC').toLowerCase().replaceAll('ς', 'σ');
}

/** Hashes a password with argon2id, as a PHC string. NFKC first, so that keyboards agree. */
export async function hashPassword(password: string, turn: HashingTurn = {}): Promise<string> {
  const nonce = randomBytes(16);
  const tag = await run(password, { ...cost, nonce }, turn);
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(nonce)}$${base64(tag)}`;
}

/** Whether `password` is the one that was hashed; false for a hash of unknown form. */
export async function verifyPassword(
  password: string,
  hash: string,
  turn: HashingTurn = {},
): Promise<boolean> {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(hash);
  if (!match) return false;
  const [memory = 0, passes = 0, parallelism = 0] = match.slice(1, 4).map(Number);
  const expected = Buffer.from(match[5] ?? '', 'base64');
  const nonce = Buffer.from(match[4] ?? '', 'base64');
  const tag = await run(password, { memory, passes, parallelism, tagLength: expected.length, nonce }, turn);
  return timingSafeEqual(tag, expected);
}

async function run(
  password: string,
  cost: Omit<Argon2Parameters, 'message'>,
  { source = '', begins }: HashingTurn,
): Promise<Buffer> {
  const leave = await hashing.enter({ owner: source });
  try {
    begins?.();
    return await derive('argon2id', { message: normalised(password, 'NFKC'), ...cost });
  } finally {
    leave();
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '');
}

const read = stored('password', object({ hash: string() }));

/** The hash of a person's password; undefined for one who has none. */
export function passwordHashOf(item: Item | undefined): string | undefined {
  return read(item)?.hash;
}

/**
 * For a transaction of who has shown their password: of it and a change of the password at the same time, it loses.
 * Named `password` when it fails.
 */
export function unchangedPassword(userId: string, hash: string): Action {
  return { name: 'password', check: keys.password(userId), ...stillHash(hash) };
}

function stillHash(seen: string) {
  return { if: '#hash = :seen', names: { '#hash': 'hash' }, values: { ':seen': seen } };
}

/** Words that come to mind in this place first: docs/identity.md. */
const wordsOfThePlace =
  /^(?:portico|fhir|health|medical|hospital|clinic|ward|patient|practitioner|doctor|nurse|admin(?:istrator)?|password|welcome)+$/;

let remembered: ReadonlySet<string> | undefined;

/**
 * Whether a password is among the first that an attacker tries (NIST SP 800-63B section 3.1.1.2): on a list of
 * common and breached ones, with or without digits and signs after it, a short pattern over and over, a run
 * of the alphabet or of digits, nothing but words of this place, or the person's own address.
 * @param email of the person who chooses it, normalised
 */
export async function isCommonPassword(password: string, email?: string): Promise<boolean> {
  const text = normalisePassword(password);
  if (text === email || text === email?.slice(0, email.lastIndexOf('@'))) return true;
  if (wordsOfThePlace.test(text.replace(/[^\p{L}]+/gu, ''))) return true;
  remembered ??= await unpack();
  const list = remembered;
  return [password, text, text.replace(/[^\p{L}\p{N}]+$/u, ''), text.replace(/[^\p{L}]+$/u, '')]
    .filter((one) => one.length >= shortestPassword)
    .some((one) => list.has(one) || isPattern(one));
}

/** Imported when the first password is chosen: a cold start does not parse it. */
async function unpack(): Promise<ReadonlySet<string>> {
  const { commonPasswords } = await import('./common-password-list.ts');
  return new Set(brotliDecompressSync(Buffer.from(commonPasswords, 'base64')).toString('ascii').split('\n'));
}

function isPattern(text: string): boolean {
  return /^(.{1,4})\1+$/su.test(text) || isRun(text, 1) || isRun(text, -1);
}

/** Each character follows the one before: `abcdefgh`, `87654321`. */
function isRun(text: string, step: 1 | -1): boolean {
  const codes = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  return codes.every((code, i) => i === 0 || code === (codes[i - 1] ?? 0) + step);
}

/**
 * A password that somebody chooses.
 * @param of.field what to name in a refusal
 * @param of.email of the person, where it is known
 * @throws {Refusal} invalid when it is too short, too long or too common
 */
export async function parseNewPassword(
  value: unknown,
  { field = 'password', email }: { field?: string; email?: string | undefined } = {},
): Promise<string> {
  const isText = typeof value === 'string';
  if (!isText || value.length < shortestPassword || value.length > longestPassword) {
    throw invalidField(field, `Password must be ${shortestPassword} to ${longestPassword} characters`);
  }
  if (await isCommonPassword(value, email)) {
    throw invalidField(field, 'Password is on lists of common or breached passwords: choose another');
  }
  return value;
}

interface NewPassword {
  password: string;
  seenHash: string | undefined;
  email: unknown;
  keep?: string;
  /** What else must still hold. */
  provided?: readonly Action[];
}

/** A transaction holds 100 actions. */
const mostInOne = 90;

/**
 * Replaces a password, when it is still the one that was seen or there is none, and ends the person's logins with it, but
 * for the one to keep. Who has more logins than fit the transaction loses the others before. The person is
 * told by mail.
 * @param of.email of the person, when they have one
 * @param of.keep the login that changes it, which must not have ended
 * @throws {ConditionFailed} when the password was changed meanwhile, naming `password`; `login` when the one to keep has
 *   ended
 */
export async function replacePassword(
  services: Services,
  userId: string,
  { password, seenHash, email, keep, provided = [] }: NewPassword,
): Promise<void> {
  const hash = await hashPassword(password);
  const others = (await loginsOf(services, userId)).filter((login) => idOfLogin(login) !== keep);
  const most = mostInOne - provided.length;
  await endAll(services, others.slice(most));
  const seen = seenHash === undefined ? { if: 'attribute_not_exists(pk)' } : stillHash(seenHash);
  await services.table.transact([
    { name: 'password', put: { ...keys.password(userId), hash }, ...seen },
    ...(keep === undefined ? [] : [aliveAction(keep)]),
    ...provided,
    ...noticeActions('password-changed', { userId, email, nowMs: services.now() }),
    ...others.slice(0, most).map(endAction),
  ]);
  // A sign-in with the old password may have come between the look and the change; none can after it.
  await endLogins(services, userId, keep);
}

/**
 * For a transaction: the password of a person who has one is replaced by one that nobody knows. Not by none: a reset is
 * mailed only to who has one, and its earlier links are bound to the hash that goes. Named `password` when they have none.
 */
export async function invalidPasswordAction(userId: string): Promise<Action> {
  return {
    name: 'password',
    update: keys.password(userId),
    set: 'SET #hash = :hash',
    if: 'attribute_exists(pk)',
    names: { '#hash': 'hash' },
    values: { ':hash': await hashPassword(randomBytes(32).toString('base64url')) },
  };
}

/** No condition: a login that was swept meanwhile must not hold up the change. */
function endAction({ pk, sk, ttl }: Login): Action {
  return {
    name: 'ended login',
    update: { pk, sk },
    set: 'SET revoked = :true, #ttl = :ttl',
    names: { '#ttl': 'ttl' },
    values: { ':true': true, ':ttl': ttl },
  };
}
