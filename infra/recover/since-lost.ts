import { isDeepStrictEqual } from 'node:util';
import { rightsOf } from '../../shared/fhir/membership.ts';
import { changeMembership } from '../../shared/invitation/actions.ts';
import { countAdministrator } from '../../shared/invitation/administrators.ts';
import { inlineResource, isStanding } from '../../shared/store/inline.ts';
import type { Item } from '../../shared/table/item.ts';
import { type Key, parseHead } from '../../shared/table/keys.ts';
import { ConditionFailed } from '../../shared/table/transact.ts';
import type { Prepared, Recovery } from './recovery.ts';

/** A password, second factor or secret that was changed since stays changed. */
export async function keepCredential(
  { table, lost }: Recovery,
  item: Item,
  prepared: Prepared,
): Promise<void> {
  if (!lost) return;
  const since = (await lost.read([item])).get(item);
  if (isDeepStrictEqual(since, item)) return;
  // Whose client was deleted since has its membership ended; without a second factor one would need less.
  if (!since) return;
  await table.put(since);
  prepared.credentialsKept += 1;
}

/** A Project that was disabled or deleted since is disabled. */
export async function endProject(
  { table, lost, now }: Recovery,
  key: Key,
  prepared: Prepared,
): Promise<void> {
  if (!lost) return;
  const since = (await lost.read([key])).get(key);
  if (isStanding(since) && since.disabledAtMs === undefined && since.deletion === undefined) return;
  await table.update({
    Key: key,
    UpdateExpression: 'SET disabledAtMs = if_not_exists(disabledAtMs, :now)',
    ExpressionAttributeValues: { ':now': now() },
  });
  const project = parseHead(key)?.project;
  prepared.open.push(`Project/${project} was disabled or deleted since: it is disabled`);
}

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
