import type { Resource } from '../../base/resource.ts';
import { isAdministratorsOwn } from '../../bots/bot/bot.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import type { Action } from '../../carry/table/transact.ts';
import { isRoot, requireRoot } from '../../identity/gate/actor.ts';
import { changesSignIn, isAppOfPeople } from '../../identity/memberships/app-of-people.ts';
import {
  type Giver,
  givesNothing,
  requirePolicyWithin,
  requireWithinMembers,
} from '../../identity/policies/bounds.ts';
import { textOf } from '../../store/index/value.ts';
import { requireOwnBot } from '../subscriptions/own-bot.ts';
import { writerIn } from '../subscriptions/writer.ts';
import type { Located, Planned, Write } from './write.ts';

/**
 * Whoever writes a policy gives by it, and who writes a Bot, a client or the code of one acts through it. Records of
 * care give nothing, and a Subscription is held to its author's rights at each delivery.
 * @returns what must still hold when it is written
 * @throws {Refusal} forbidden
 */
export async function requireWritesWithin(
  services: Services,
  giver: Giver,
  writes: readonly Write[],
  { located, planned }: { located: readonly Located[]; planned: readonly Planned[] },
): Promise<Action[]> {
  const checks: Action[][] = [];
  givesNothing(giver.caller);
  for (const [i, { change, outcome }] of planned.entries()) {
    const { type, resource: after } = outcome;
    const { resource: before, head } = located[i] ?? {};
    const membershipId = textOf(head?.membershipId);
    const standing = after ?? before;
    // A deleted one too: whoever makes the next one with its identifiers is sent what callers send to it.
    if (change && standing && type === 'Bot')
      checks.push(await requireOwnBot(services, giver, { resource: standing, membershipId }));
    if (change && standing && type === 'AccessPolicy') {
      const writtenBy = before && (await lastWriter(services, giver, before));
      const isRevived = head !== undefined && !before;
      checks.push(requirePolicyWithin(giver, { before, after, writtenBy, isRevived }));
    }
    if (!change || !after) continue;
    if (type === 'ClientApplication' && membershipId !== undefined)
      checks.push(await requireWithinMembers(services, giver, [{ membershipId, of: `${type}/${after.id}` }]));
    if (movesPeople(before, after) || isCode(writes[i], before, after)) requireRoot(giver.actor);
  }
  return checks.flat();
}

/** The membership that wrote a policy last: its profile may be another member's by now. */
async function lastWriter(
  { table }: Services,
  { actor }: Giver,
  { id, meta }: Resource,
): Promise<string | undefined> {
  if (isRoot(actor)) return undefined;
  const key = keys.version(actor.project, 'AccessPolicy', id, meta);
  return writerIn((await table.read([key])).get(key))?.callers[0]?.membershipId;
}

/** People sign in by an app with rights of their own: where it has them sent, and who has its keys, is not within anybody's. */
function movesPeople(before: Resource | undefined, after: Resource): boolean {
  return [before, after].some((one) => one && isAppOfPeople(one)) && changesSignIn(before, after);
}

/** Any Bot may name it, also one that names what is not there yet. One that is created gets an id of ours. */
function isCode(write: Write | undefined, before: Resource | undefined, after: Resource): boolean {
  const states = [after, ...(before ? [before] : [])];
  return after.resourceType === 'Binary' && write?.kind !== 'create' && states.some(isAdministratorsOwn);
}
