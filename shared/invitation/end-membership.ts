import { deleteActions } from '../store/resource-item.ts';
import { keys } from '../table/keys.ts';
import type { Action } from '../table/transact.ts';
import type { Standing } from './state.ts';

/**
 * Ends a membership as it was seen: resource, mirror and unsent mail go; its profile stays where
 * it is and is free again.
 */
export function endMembershipActions(
  standing: Standing,
  stamp: { project: string; versionId: string; nowMs: number; trace: string | undefined },
): Action[] {
  const { membership, userId } = standing;
  const { project } = stamp;
  const [type = '', id = ''] = membership.profile.reference.split('/');
  return [
    ...deleteActions(
      project,
      { type: 'ProjectMembership', id: membership.id },
      stamp,
      { if: 'versionId = :seen', values: { ':seen': membership.meta.versionId } },
      membership,
    ),
    { name: 'ended mirror', remove: keys.userMembership(userId, project, membership.id) },
    { name: 'ended mail', remove: keys.outbox(project, membership.id) },
    {
      name: 'ended profile',
      update: keys.resource(project, type, id),
      set: 'ADD refs :less',
      values: { ':less': -1 },
    },
  ];
}
