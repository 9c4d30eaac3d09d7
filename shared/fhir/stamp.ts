import type { Meta, Reference } from './resource.ts';

/** Who writes, when, and into which Project: the same for all resources of one transaction. */
export interface Stamp {
  project: string;
  nowMs: number;
  author: Reference;
  newId(): string;
}

/** Meta of a new version. */
export function newMeta({ project, nowMs, author, newId }: Stamp): Meta {
  return { versionId: newId(), lastUpdated: new Date(nowMs).toISOString(), project, author };
}
