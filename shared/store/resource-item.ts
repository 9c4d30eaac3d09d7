import type { Resource } from '../fhir/resource.ts';
import type { Action } from '../table/transact.ts';
import {
  actionsOf,
  type Change,
  createChange,
  type DeleteStamp,
  deleteChange,
  updateChange,
} from './change.ts';

/**
 * Creates a resource inside a transaction: its head, which must not exist, its first version and
 * its index items. For small resources: a transaction holds 100 actions.
 * @param extra further attributes of the head, such as `refs`
 */
export function createActions(
  project: string,
  resource: Resource,
  extra: Record<string, unknown> = {},
): Action[] {
  return actionsNamedByType(createChange(project, resource, extra));
}

/**
 * Changes a resource inside a transaction, when its head still has the version that was seen.
 * @param seen the resource as it was, so that index items of its old values go at once; with its
 *   version id alone they go when the stream is read
 */
export function updateActions(
  project: string,
  resource: Resource,
  seen: Resource | string,
  extra: Record<string, unknown> = {},
): Action[] {
  const state = typeof seen === 'string' ? seen : { versionId: seen.meta.versionId, resource: seen };
  return actionsNamedByType(updateChange(project, resource, state, extra));
}

/**
 * Deletes a resource inside a transaction; its head stays as a tombstone.
 * @param condition an ASCII ConditionExpression beside "it exists"; its values
 * @param seen the resource as it was, if known: its index items then go at once
 */
export function deleteActions(
  project: string,
  target: { type: string; id: string },
  stamp: DeleteStamp,
  condition: { if: string; values: Record<string, unknown> },
  seen?: Resource,
): Action[] {
  const state = seen && { versionId: seen.meta.versionId, resource: seen };
  return actionsNamedByType(deleteChange(project, target, stamp, condition, state));
}

/** Who asks for one resource of a type knows its head by the type. */
function actionsNamedByType(change: Change): Action[] {
  return actionsOf({ ...change, head: (untidy) => ({ ...change.head(untidy), name: change.type }) });
}
