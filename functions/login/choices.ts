import { isMadeFor } from '../../shared/auth/person-login.ts';
import { type Standing, standingOf, stateOf } from '../../shared/invitation/state.ts';
import type { Services } from '../../shared/services.ts';
import { type Key, keys } from '../../shared/table/keys.ts';

/**
 * The memberships that a person who signed in with a password may choose: active ones, and
 * invitations that are still open. One that wants an issuer or a second factor is not among them.
 */
export async function choicesOf(
  services: Services,
  userId: string,
  project: string | undefined,
): Promise<Standing[]> {
  const wanted = await membershipKeysOf(services, userId, project);
  const found = await services.table.read(wanted);
  return wanted
    .flatMap((key) => standingOf(found.get(key)) ?? [])
    .filter((standing) => isChoosable(standing, services.now()));
}

function isChoosable({ membership, invitation }: Standing, nowMs: number): boolean {
  return isMadeFor({}, membership) && (membership.active || stateOf(invitation, nowMs) === 'pending');
}

async function membershipKeysOf(
  { table }: Services,
  userId: string,
  project: string | undefined,
): Promise<Key[]> {
  const { pk, sk } = keys.userMembership(userId, project ?? '', '');
  const { items } = await table.query({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': pk, ':prefix': project === undefined ? 'M#' : sk },
    Limit: 100,
  });
  return items.map((item) =>
    keys.resource(String(item.project), 'ProjectMembership', String(item.membershipId)),
  );
}
