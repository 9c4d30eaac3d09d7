import type { Actor } from '../access/actor.ts';
import type { Run, RunCaller } from '../access/run.ts';
import type { Item } from '../table/item.ts';

/** Who wrote a version, as far as what follows from it has to know: kept beside the version. */
export interface Writer {
  /** Whose rights bounded the write, the writer first. */
  callers: readonly RunCaller[];
  /** Of the run that wrote it: how deep it was, and the call or tick that it all follows from. */
  run?: Pick<Run, 'depth'> & { origin: string };
  /** An administrator asked that no Subscription is woken: data that are loaded are no news. */
  isQuiet?: true;
}

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
  return version?.by as Writer | undefined;
}
