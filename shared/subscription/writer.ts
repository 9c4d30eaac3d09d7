import { array, exactOptional, type InferInput, literal, number, object, string } from 'valibot';
import type { Actor } from '../access/actor.ts';
import { type RunCaller, runCaller } from '../access/run.ts';
import { stored } from '../schema/stored.ts';
import type { Item } from '../table/item.ts';

/** Who wrote a version, as far as what follows from it has to know: kept beside the version. */
const writerSchema = object({
  /** Whose rights bounded the write, the writer first. */
  callers: array(runCaller),
  /** Of the run that wrote it: how deep it was, and the call or tick that it all follows from. */
  run: exactOptional(object({ depth: number(), origin: string() })),
  /** An administrator asked that no Subscription is woken: data that are loaded are no news. */
  isQuiet: exactOptional(literal(true)),
});
export type Writer = InferInput<typeof writerSchema>;

const readVersion = stored('version', object({ by: exactOptional(writerSchema) }));

/** Everybody in whose name an actor acts, the actor first. */
export function callersOf({ membershipId, profile, scope, patient, run }: Actor): RunCaller[] {
  const own = { membershipId, profile, scope, ...(patient === undefined ? {} : { patient }) };
  return [own, ...(run?.within ?? [])];
}

export function writerOf(actor: Actor, isQuiet: boolean): Writer {
  const { run } = actor;
  return {
    callers: callersOf(actor),
    ...(run ? { run: { depth: run.depth, origin: run.origin ?? run.root } } : {}),
    ...(isQuiet ? { isQuiet } : {}),
  };
}

/** Undefined for a version that the system wrote, or an earlier release. */
export function writerIn(version: Item | undefined): Writer | undefined {
  return readVersion(version)?.by;
}
