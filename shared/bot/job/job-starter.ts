/** What the `jobs` function is told; everything else it reads. */
export interface JobEvent {
  project: string;
  jobId: string;
}

export interface JobStarter {
  /** `refused`: certainly not started. Whether it was is otherwise seen at the job. */
  start(event: JobEvent): Promise<'started' | 'refused'>;
}
