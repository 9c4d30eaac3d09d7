import { object, string } from 'valibot';
import type { KeyRing } from '../keys/key-ring.ts';
import { isMac, macOf } from '../keys/mac.ts';
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

/** Mints the token of one run: an HMAC under a key that the function holds, so no network call. */
export async function mintRunToken(ring: KeyRing, identity: RunIdentity, run: Run): Promise<string> {
  const payload = Buffer.from(JSON.stringify({ ...identity, run })).toString('base64url');
  return `${prefix}${payload}.${await macOf(ring, payload)}`;
}

const readPayload = stored(
  'run token',
  object({ project: string(), botId: string(), membershipId: string(), run: runSchema }),
);

/** The Bot as caller, until the run's deadline. @throws {Refusal} unauthorized */
export async function verifyRunToken(ring: KeyRing, token: string, nowMs: number): Promise<Claims> {
  const [payload = '', ...given] = token.slice(prefix.length).split('.');
  if (!(await isMac(ring, payload, given.join('.')))) throw unauthorized('run token is not ours');
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
