import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import { object, string } from 'valibot';
import type { StageSecret } from '../keys/signer.ts';
import { stored } from '../schema/stored.ts';
import { type Claims, unauthorized } from './access-token.ts';
import { type Run, runSchema } from './run.ts';

interface RunIdentity {
  project: string;
  botId: string;
  /** The Bot's own: its rights are the run's rights. */
  membershipId: string;
}

const prefix = 'run.';

export function isRunToken(token: string): boolean {
  return token.startsWith(prefix);
}

/** Mints the token of one run: an HMAC under a key of the stage, so no network call. */
export function mintRunToken(secret: StageSecret, identity: RunIdentity, run: Run): string {
  const payload = Buffer.from(JSON.stringify({ ...identity, run })).toString('base64url');
  return `${prefix}${payload}.${mac(secret, payload).toString('base64url')}`;
}

const readPayload = stored(
  'run token',
  object({ project: string(), botId: string(), membershipId: string(), run: runSchema }),
);

/** The Bot as caller, until the run's deadline. @throws {Refusal} unauthorized */
export function verifyRunToken(secret: StageSecret, token: string, nowMs: number): Claims {
  const [payload = '', given = '', ...more] = token.slice(prefix.length).split('.');
  const expected = mac(secret, payload);
  const actual = Buffer.from(given, 'base64url');
  if (more.length > 0 || actual.length !== expected.length || !timingSafeEqual(actual, expected)) {
    throw unauthorized('run token is not ours');
  }
  const { project, botId, membershipId, run } = readPayload(
    JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')),
  );
  if (run.deadlineAtMs <= nowMs) throw unauthorized('the run is over');
  return {
    loginId: `run-${run.id}`,
    project,
    membershipId,
    profile: `Bot/${botId}`,
    clientId: botId,
    subject: botId,
    scope: '',
    run,
  };
}

/** A key of its own from each secret: deriving it takes longer than using it. */
const derived = new WeakMap<StageSecret, KeyObject>();

function keyOf(secret: StageSecret): KeyObject {
  const known = derived.get(secret);
  if (known) return known;
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'portico run token', 32)));
  derived.set(secret, key);
  return key;
}

function mac(secret: StageSecret, payload: string): Buffer {
  return createHmac('sha256', keyOf(secret)).update(payload).digest();
}
