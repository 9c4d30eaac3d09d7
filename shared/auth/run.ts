/** What a run token says of its run. */
export interface Run {
  id: string;
  /** 1 for a run that no Bot called. */
  depth: number;
  /** Ms since the epoch. */
  deadlineAtMs: number;
}
