/** What a run token says of its run. */
export interface Run {
  id: string;
  /** Id of the run that nobody's run started, from which this one follows; its own when it is that one. */
  root: string;
  /** 1 for a run that no Bot called. */
  depth: number;
  /** Ms since the epoch. */
  deadlineAtMs: number;
  /** Id of the call or tick that it all began with, where that is another than the root's. */
  origin?: string;
  /** Whose rights bound the run beside the Bot's own (`runAsUser`), the nearest caller first. */
  within?: readonly RunCaller[];
}

/** Who called, as far as rights follow from it. */
export interface RunCaller {
  membershipId: string;
  profile: string;
  scope: string;
  /** As `Claims.patient`. */
  patient?: string;
}
