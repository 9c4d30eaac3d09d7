import { hash } from 'node:crypto';
import { array, exactOptional, type InferInput, is, object, picklist, string } from 'valibot';
import type { Item } from '../../carry/table/item.ts';
import { parseHead } from '../../carry/table/keys.ts';
import type { Message } from '../../carry/work/queue.ts';
import { isResourceType } from '../../store/index/registry.ts';

/** One name for several parts, of 40 letters and digits; other parts have another. */
export function nameOfParts(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts)).slice(0, 40);
}

export const interactions = ['create', 'update', 'delete'] as const;
export type Interaction = (typeof interactions)[number];

/** A version of a record: all that its key needs. */
const versionSchema = object({ versionId: string(), lastUpdated: string() });
type VersionName = InferInput<typeof versionSchema>;

/** A version of a record that was written. It names the record and holds nothing of it. */
export const changeEntries = {
  project: string(),
  type: string(),
  id: string(),
  interaction: picklist(interactions),
  version: versionSchema,
  /** The state before: of an update and a deletion. */
  previous: exactOptional(versionSchema),
};
const changeSchema = object(changeEntries);
export type RecordChange = InferInput<typeof changeSchema>;

/** A change that Subscriptions may be about. */
const candidateSchema = object({
  ...changeEntries,
  /** Ids of Subscriptions to its type. */
  subscriptions: array(string()),
  /** Asked for by hand: it names this asking, and stands outside the order. */
  resend: exactOptional(string()),
});
export type Candidate = InferInput<typeof candidateSchema>;

/** What a write of a head was, of a record that Subscriptions may be about; undefined for all other writes. */
export function changeOf(before: Item | undefined, after: Item | undefined): RecordChange | undefined {
  const target = after && parseHead(after);
  if (!after || !target || !isResourceType(target.type) || target.type === 'AuditEvent') return undefined;
  if (before?.versionId === after.versionId) return undefined;
  const version = versionName(after);
  const stood = before && before.deleted !== true ? versionName(before) : undefined;
  if (!version) return undefined;
  if (after.deleted === true) {
    return stood && { ...target, interaction: 'delete', version, previous: stood };
  }
  return stood
    ? { ...target, interaction: 'update', version, previous: stood }
    : { ...target, interaction: 'create', version };
}

/** Versions of one record are looked at one after the other. */
export function candidateMessage(candidate: Candidate): Message {
  const { project, type, id, version, resend = '' } = candidate;
  return {
    body: candidate,
    group: {
      id: nameOfParts(project, type, id, resend),
      message: nameOfParts(project, type, id, version.versionId, resend),
    },
  };
}

/** @throws {Error} when the body is none */
export function parseCandidate(body: unknown): Candidate {
  if (is(candidateSchema, body)) return body;
  throw new Error('The message names no change');
}

function versionName({ versionId, lastUpdated }: Item): VersionName | undefined {
  const isName = typeof versionId === 'string' && typeof lastUpdated === 'string';
  return isName ? { versionId, lastUpdated } : undefined;
}
