import { isDeepStrictEqual } from 'node:util';
import { rightsOf } from '../../shared/fhir/membership.ts';
import { changeMembership } from '../../shared/invitation/actions.ts';
import { countAdministrator } from '../../shared/invitation/administrators.ts';
import { featuresOff } from '../../shared/project-features.ts';
import { projectSettings } from '../../shared/project-settings.ts';
import { inlineResource, isStanding } from '../../shared/store/inline.ts';
import type { Item } from '../../shared/table/item.ts';
import { parseHead } from '../../shared/table/keys.ts';
import { ConditionFailed } from '../../shared/table/transact.ts';
import type { Prepared, Recovery, Step } from './recovery.ts';

/** A Project that was disabled or deleted since is disabled; of other settings since, these are told. */
export const endProject: Step = async ({ table, lost, now }, item, prepared) => {
  if (!lost) return;
  const since = (await lost.read([item])).get(item);
  const name = `Project/${parseHead(item)?.project}`;
  if (isStanding(since) && !isDeepStrictEqual(settingsOf(since), settingsOf(item))) {
    prepared.open.push(`${name} has had other settings since: ${JSON.stringify(settingsOf(since))}`);
  }
  if (since?.paused === true) prepared.open.push(`${name} was paused: resume it only when that is over`);
  if (isStanding(since) && since.disabledAtMs === undefined && since.deletion === undefined) return;
  await table.update({
    Key: { pk: item.pk, sk: item.sk },
    UpdateExpression: 'SET disabledAtMs = if_not_exists(disabledAtMs, :now)',
    ExpressionAttributeValues: { ':now': now() },
  });
  prepared.open.push(`${name} was disabled or deleted since: it is disabled`);
};

/** What bounds the people and Bots of a Project. */
function settingsOf(head: Item) {
  const { fetchHosts, idleMinutes, emergencyMinutes, concurrentRuns, treeRuns } = projectSettings(head);
  const { auditReads, invitesPerHour, subscriptions, schedules } = projectSettings(head);
  return {
    ...{ fetchHosts, idleMinutes, emergencyMinutes, concurrentRuns, treeRuns },
    ...{ auditReads, invitesPerHour, subscriptions, schedules, featuresOff: featuresOff(head) },
  };
}

/** A policy that was changed or deleted since is as it was: somebody has to decide. */
export const tellOfPolicy: Step = async ({ lost }, item, prepared) => {
  if (!lost || !isStanding(item)) return;
  const since = (await lost.read([item])).get(item);
  if (since?.versionId === item.versionId) return;
  const { project, id } = parseHead(item) ?? {};
  const what = isStanding(since) ? 'changed' : 'deleted';
  prepared.open.push(`AccessPolicy/${id} in Project/${project} was ${what} since: it is as it was`);
};

/** A membership that was removed or set inactive since is inactive. Of one that has other rights since, these are told. */
export async function endMembership(
  { table, lost, now, newId }: Recovery,
  item: Item,
  prepared: Prepared,
): Promise<void> {
  const membership = inlineResource('ProjectMembership', item);
  const project = parseHead(item)?.project;
  if (!lost || !membership || project === undefined) return;
  const since = inlineResource('ProjectMembership', (await lost.read([item])).get(item));
  const name = `ProjectMembership/${membership.id} in Project/${project}`;
  if (since && !isDeepStrictEqual(rightsOf(since), rightsOf(membership))) {
    prepared.open.push(`${name} has had other rights since: ${JSON.stringify(rightsOf(since))}`);
  }
  if (!membership.active || since?.active) return;
  const stamp = {
    ...{ project, versionId: newId(), nowMs: now(), trace: undefined },
    author: { reference: 'system' },
  };
  const isCounted = item.invitation !== undefined && membership.admin === true;
  try {
    await table.transact([
      ...changeMembership({ membership }, { rights: rightsOf(membership), active: false }, stamp).actions,
      ...countAdministrator(project, isCounted ? -1 : 0),
    ]);
    prepared.membershipsEnded += 1;
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    prepared.open.push(`${name} was removed since, and is the last administrator`);
  }
}
