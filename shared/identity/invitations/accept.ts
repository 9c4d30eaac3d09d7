import { Refusal } from '../../base/refusal.ts';
import { parseReference } from '../../base/resource.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import type { Table } from '../../carry/table/table.ts';
import type { Action } from '../../carry/table/transact.ts';
import { isUnbounded, type ProjectMembership, projectIdOf } from '../../store/fhir/membership.ts';
import { inlineResource } from '../../store/items/content.ts';
import { candidatesMerged, inBatches } from '../../store/items/read-ranges.ts';
import { readHeads } from '../../store/items/versions.ts';
import { parseSearch } from '../../store/search/search-request.ts';
import { auditAction, targetOf } from '../audit/audit-event.ts';
import { type Actor, requireRoot } from '../gate/actor.ts';
import { changeMembership, stampOf } from './membership-actions.ts';
import type { Standing } from './state.ts';

const administratorsAction = 'administrators';

/**
 * Counts active, accepted, human administrators: `+1` when one is added, `-1` when one goes,
 * which fails for the last. Nothing when `change` is 0.
 */
export function countAdministrator(project: string, change: 1 | 0 | -1): Action[] {
  if (change === 0) return [];
  const action = {
    name: administratorsAction,
    update: keys.administrators(project),
    set: 'ADD #count :change',
    names: { '#count': 'count' },
  };
  return change > 0
    ? [{ ...action, values: { ':change': 1 } }]
    : [{ ...action, if: '#count > :one', values: { ':change': -1, ':one': 1 } }];
}

/**
 * What a change of a person's membership does to the count. Who administers without a policy, or is invited to, is
 * changed and removed by their like alone: else whoever they gave a part of the Project could take all of it from them.
 * @param after undefined where the membership ends
 * @throws {Refusal} forbidden
 */
export function changeAdministrator(
  actor: Actor,
  before: ProjectMembership,
  after: ProjectMembership | undefined,
): Action[] {
  if (isUnbounded(before)) requireRoot(actor);
  const [was, is] = [before, after].map((one) => one?.active === true && one.admin === true);
  return countAdministrator(actor.project, was === is ? 0 : is ? 1 : -1);
}

/**
 * Not where the membership changed as well: it may be counted no more.
 * @param failed actions of a transaction whose condition did not hold
 * @throws {Refusal} invalid
 */
export function refuseLastAdministrator(failed: ReadonlySet<string>): void {
  if (failed.size > 1 || !failed.has(administratorsAction)) return;
  throw new Refusal('invalid', 'The last administrator of a project cannot be removed or demoted');
}

/**
 * The person joins: membership active, invitation accepted, an administrator counted. The membership
 * must still have the version that was seen, so that of two who accept one succeeds.
 * @param options.signsIn whether they are signed in by it too
 */
export function acceptActions(
  services: Pick<Services, 'now' | 'newId' | 'traceId'>,
  standing: Standing,
  { signsIn = false }: { signsIn?: boolean } = {},
): Action[] {
  const { membership, invitation } = standing;
  const project = projectIdOf(membership);
  const stamp = stampOf(services, { project, profile: membership.profile.reference });
  const { actions } = changeMembership(
    standing,
    {
      rights: membership,
      invitation: { ...invitation, state: 'accepted' },
      active: true,
      ...(signsIn ? { signedInAtMs: stamp.nowMs } : {}),
    },
    stamp,
  );
  const entities = [targetOf(membership), membership.user];
  const event = { subtype: 'accept', action: 'U', entities } as const;
  return [
    ...actions,
    ...countAdministrator(project, membership.admin === true ? 1 : 0),
    auditAction(services, { project, agent: membership.profile }, event, stamp.nowMs),
  ];
}

/** Notes when a person or a program has last signed in to this Project: on the head alone, it is no new version. */
export function signedInAction(project: string, membershipId: string, nowMs: number): Action {
  return {
    name: 'signed in',
    update: keys.resource(project, 'ProjectMembership', membershipId),
    set: 'SET signedInAtMs = :now',
    if: 'attribute_exists(pk) AND attribute_not_exists(deleted)',
    values: { ':now': nowMs },
  };
}

const type = 'ProjectMembership';

/** The ids of the memberships of active administrators who read mail: Bots and clients do not. @param most of them */
export async function listAdministrators(table: Table, project: string, most: number): Promise<string[]> {
  const [filter] = parseSearch(type, new URLSearchParams({ admin: 'true' }), undefined).filters;
  const candidates = candidatesMerged({ table, project, type }, filter?.keyRanges ?? [], most, {
    newestFirst: false,
  });
  const found = new Set<string>();
  for await (const some of inBatches(candidates, () => most)) {
    const ids = some.map(({ id }) => id);
    const heads = await readHeads({ table, project }, type, ids);
    for (const id of ids) {
      const membership = inlineResource(type, heads.get(id));
      const isOfPerson = parseReference(membership?.user.reference ?? '')?.type === 'User';
      if (membership?.active && membership.admin && isOfPerson && found.size < most) found.add(id);
    }
    if (found.size >= most) break;
  }
  return [...found];
}
