import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(argon2);

/** OWASP Password Storage Cheat Sheet, argon2id: 19 MiB, two passes, one lane. */
const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };
export const shortestPassword = 8;
export const longestPassword = 256;

/** One form for what is the same password to a person; hashes differ by case all the same. */
export function normalisePassword(password: string): string {
  return password.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ');
}

/** Hashes a password with argon2id, as a PHC string. NFKC first, so that keyboards agree. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const tag = await run(password, { ...cost, nonce });
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(nonce)}$${base64(tag)}`;
}

/** Whether `password` is the one that was hashed; false for a hash of unknown form. */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(hash);
  if (!match) return false;
  const [memory = 0, passes = 0, parallelism = 0] = match.slice(1, 4).map(Number);
  const expected = Buffer.from(match[5] ?? '', 'base64');
  const nonce = Buffer.from(match[4] ?? '', 'base64');
  const tag = await run(password, { memory, passes, parallelism, tagLength: expected.length, nonce });
  return timingSafeEqual(tag, expected);
}

function run(password: string, cost: Omit<Argon2Parameters, 'message'>): Promise<Buffer> {
  return derive('argon2id', { message: password.normalize('NFKC'), ...cost });
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '');
}
