import { hash } from 'node:crypto';
import { array, exactOptional, type InferInput, object, picklist, string } from 'valibot';
import { messageBody } from '../../base/schema.ts';
import type { Item } from '../../carry/table/item.ts';
import type { Message } from '../../carry/work/queue.ts';
import { versionName } from '../../store/fhir/stored-resource.ts';
import { newState } from '../../store/items/versions.ts';

/** One name for several parts, of 40 letters and digits; other parts have another. */
export function nameOfParts(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts)).slice(0, 40);
}

export const interactions = ['create', 'update', 'delete'] as const;
export type ChangeInteraction = (typeof interactions)[number];

/** A version of a record that was written. It names the record and holds nothing of it. */
export const changeEntries = {
  project: string(),
  type: string(),
  id: string(),
  interaction: picklist(interactions),
  version: versionName,
  /** The state before: of an update and a deletion. */
  previous: exactOptional(versionName),
};
export type RecordChange = Omit<ChangeCandidate, 'subscriptions' | 'resend'>;

const candidateSchema = object({
  ...changeEntries,
  /** Those to its type. */
  subscriptions: array(string()),
  /** Asked for by hand: it names this asking, and stands outside the order. */
  resend: exactOptional(string()),
});
export type ChangeCandidate = InferInput<typeof candidateSchema>;

/** What a write of a head was, of a record that Subscriptions may be about; undefined for all other writes. */
export function changeOf(before: Item | undefined, after: Item | undefined): RecordChange | undefined {
  const state = newState(before, after);
  if (!state) return undefined;
  const { target, version } = state;
  const previous = before?.deleted === true ? undefined : state.previous;
  if (!previous) return after?.deleted === true ? undefined : { ...target, interaction: 'create', version };
  return { ...target, interaction: after?.deleted === true ? 'delete' : 'update', version, previous };
}

/** Versions of one record are looked at one after the other. */
export function candidateMessage(candidate: ChangeCandidate): Message {
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
export const parseCandidate = messageBody('change', candidateSchema);
