import type { RunCaller } from '../../access/run.ts';
import { parseResourceScope } from '../../access/smart-scope.ts';

/** Whoever asks for a run, with those in whose name they run themselves. */
type Asking = RunCaller & { run?: { within?: readonly RunCaller[] } | undefined };

/** The caller, and those in whose name the caller itself runs: all who bound a Bot that runs as its user. */
export function callers({ membershipId, profile, scope, patient, run }: Asking): RunCaller[] {
  const own = { membershipId, profile, scope, ...(patient === undefined ? {} : { patient }) };
  return [own, ...(run?.within ?? [])];
}

/**
 * Tells apart what a Bot that runs as its user may be bound by for callers of one membership: their scopes for resources,
 * the patient they launched with, in whose name they run. Empty where only the membership bounds it.
 */
export function boundsText(asking: Asking): string {
  const all = callers(asking).map(({ membershipId, scope, patient = '' }) => ({
    membershipId,
    scopes: scope.split(' ').filter(parseResourceScope).sort(),
    patient,
  }));
  const isPlain = all.length === 1 && all[0]?.scopes.length === 0 && all[0].patient === '';
  return isPlain ? '' : JSON.stringify(all);
}
