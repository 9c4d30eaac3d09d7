import type { Caller } from '../../shared/access/access-token.ts';
import { type Actor, admit } from '../../shared/access/actor.ts';
import { isId, type Resource } from '../../shared/fhir/resource.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import { type Key, keys } from '../../shared/table/keys.ts';
import type { Found } from '../../shared/table/table.ts';

/** @throws {Refusal} forbidden, not-found */
export async function requireSubscription(
  services: Services,
  caller: Caller<'administrator'>,
  id: string,
  wanted: readonly Key[] = [],
): Promise<{ actor: Actor; found: Found; subscription: Resource }> {
  if (!isId(id)) throw new Refusal('not-found', 'Not found');
  const key = keys.resource(caller.project, 'Subscription', id);
  const { actor, found } = await admit(services, caller, [key, ...wanted]);
  const subscription = inlineResource('Subscription', found.get(key));
  if (!subscription) throw new Refusal('not-found', 'Not found');
  return { actor, found, subscription };
}
