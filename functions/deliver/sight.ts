import type { Actor } from '../../shared/access/actor.ts';
import { visible } from '../../shared/access/visible.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { matchesAll } from '../../shared/search/filter.ts';
import { standingState } from '../../shared/store/versions.ts';
import type { Delivery } from '../../shared/subscription/delivery.ts';
import type { Subscription } from '../../shared/subscription/subscription.ts';
import { keys } from '../../shared/table/keys.ts';
import type { DeliverServices } from './services.ts';

/**
 * A version as the author of a Subscription may see it now; undefined when not at all, or when what they
 * see of it does not match: else the Subscription would tell of what is hidden.
 */
export async function seenByAuthor(
  { table }: DeliverServices,
  actor: Actor,
  { subscription, delivery }: { subscription: Subscription; delivery: Delivery },
  current: Resource,
): Promise<Resource | undefined> {
  const { project, type, id } = delivery;
  const key = keys.resource(project, type, id);
  const head = (await table.read([key])).get(key);
  const isCurrent = head?.versionId === current.meta.versionId;
  const standing = head && !isCurrent ? await standingState(table, { project, type, id }, head) : undefined;
  const searched = subscription.filters.flatMap(({ parameters }) => parameters);
  const seen = await visible(actor, 'read', current, {
    searched,
    ...(standing ? { standing: standing.resource } : {}),
  });
  if (!seen || (seen !== current && !matchesAll(seen, subscription.filters))) return undefined;
  return seen;
}
