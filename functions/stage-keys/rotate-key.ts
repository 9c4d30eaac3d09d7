import { stageKeyLookAgainMs, stageKeyRereadMs } from '../../shared/base/limits.ts';
import type { KeyPurpose } from '../../shared/carry/keys/key-ring.ts';
import {
  type KeyState,
  keyStateOf,
  readStageKey,
  type StageKey,
  stageKeyContext,
  writeStageKey,
} from '../../shared/carry/keys/stage-key.ts';
import type { KeyServices } from './ensure-keys.ts';

/** The event that replaces the key of a purpose, a step at a time. */
export interface RotateRequest {
  purpose: KeyPurpose;
  step: 'prepare' | 'use';
}

/** What operators ask of the function. */
export type StageKeysRequest = { ensure: true } | { show: true } | RotateRequest;

/**
 * `prepare` makes the next version, which opens what is shown from now on and makes nothing yet; done again it changes
 * nothing. `use` has it make what is new; what the one before made stays good until that is retired.
 * @throws {Error} when there is nothing to use, when functions may not know of it yet, or when somebody else changes it
 */
export async function rotateKey(services: KeyServices, { purpose, step }: RotateRequest): Promise<KeyState> {
  const before = await readStageKey(services.table, purpose);
  const [next] = before.versions.filter(({ version }) => version > before.current);
  if (step === 'prepare' && next) return keyStateOf(purpose, before);
  const after =
    step === 'prepare' ? await withNext(services, purpose, before) : used(services, purpose, before);
  if (!(await writeStageKey(services.table, purpose, after, before))) {
    throw new Error('Somebody else is changing this key: look at it, and try again');
  }
  return keyStateOf(purpose, after);
}

async function withNext(
  { wrapping, now }: KeyServices,
  purpose: KeyPurpose,
  { versions, current, currentSinceMs }: StageKey,
): Promise<Omit<StageKey, 'revision'>> {
  const version = Math.max(...versions.map((one) => one.version)) + 1;
  const wrapped = await (await wrapping()).makeWrapped(stageKeyContext(purpose, version));
  return { versions: [...versions, { version, wrapped, madeAtMs: now() }], current, currentSinceMs };
}

function used(
  { now }: KeyServices,
  purpose: KeyPurpose,
  { versions, current }: StageKey,
): Omit<StageKey, 'revision'> {
  const next = versions.find(({ version }) => version > current);
  if (!next) throw new Error('There is no next version: prepare it first');
  const fromMs = knownFromMs(purpose, next.madeAtMs);
  if (now() < fromMs) {
    throw new Error(
      `Functions may not know of it yet: it can be used from ${new Date(fromMs).toISOString()}`,
    );
  }
  return { versions, current: next.version, currentSinceMs: now() };
}

/**
 * Since when every function finds a version: what names the version that made it has it looked for at once, codes of a
 * second factor name none.
 */
function knownFromMs(purpose: KeyPurpose, madeAtMs: number): number {
  return madeAtMs + (purpose === 'totp' ? stageKeyRereadMs + 60_000 : 3 * stageKeyLookAgainMs);
}
