import type { Resource } from '../fhir/resource.ts';
import { allows } from './access.ts';
import type { Actor } from './actor.ts';
import type { Interaction } from './policy.ts';

/** The reading interactions. */
type Reading = Extract<Interaction, 'read' | 'vread' | 'search' | 'history'>;

/** Whether the actor may see a resource, in whatever way it comes: every answer passes here. */
export async function visible(actor: Actor, interaction: Reading, resource: Resource): Promise<boolean> {
  return allows(actor, interaction, resource);
}
