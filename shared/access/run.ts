import { array, boolean, exactOptional, type InferInput, number, object, string } from 'valibot';

const callerEntries = {
  membershipId: string(),
  profile: string(),
  scope: string(),
  /** As `Claims.patient`. */
  patient: exactOptional(string()),
};
export const runCaller = object(callerEntries);

/** Who called, as far as rights follow from it. */
export type RunCaller = InferInput<typeof runCaller>;

export const runSchema = object({
  id: string(),
  /** Id of the run that nobody's run started, from which this one follows; its own when it is that one. */
  root: string(),
  /** 1 for a run that no Bot called. */
  depth: number(),
  /** Ms since the epoch. */
  deadlineAtMs: number(),
  /** Id of the call or tick that it all began with, where that is another than the root's. */
  origin: exactOptional(string()),
  /** Whether who asked for it had emergency access, which it has not: what it does is marked so. */
  isEmergency: exactOptional(boolean()),
  /** By any of these it is cancelled: its own, and those of the runs that wait for it. */
  cancelKeys: exactOptional(array(string())),
  /** Whose rights bound the run beside the Bot's own (`runAsUser`), the nearest caller first. */
  within: exactOptional(array(runCaller)),
});

/** A run of a Bot, as its token names it. */
export type Run = InferInput<typeof runSchema>;

/** `Claims`, where they are stored. */
export const claimsSchema = object({
  ...callerEntries,
  loginId: string(),
  project: string(),
  clientId: string(),
  subject: string(),
  run: exactOptional(runSchema),
});
