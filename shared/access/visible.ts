import { noteWhole } from '../disclosure.ts';
import { touches, withoutFields } from '../fhir/fields.ts';
import type { Resource } from '../fhir/resource.ts';
import { invalidField, Refusal } from '../refusal.ts';
import { hiddenFields, mayInteract, unsearchableFields } from './access.ts';
import type { Actor } from './actor.ts';
import type { Interaction } from './rule.ts';

/** The reading interactions. */
export type Reading = Extract<Interaction, 'read' | 'vread' | 'search' | 'history'>;

/** A search parameter, as far as it matters what it looks at. */
interface Searched {
  code: string;
  paths: readonly { steps: readonly { element: string }[] }[];
}

interface Looking {
  /**
   * How the resource stands now, when `resource` is one of its versions: who may not see it as it stands
   * sees no version of it. Of a deleted resource its last state stands.
   */
  standing?: Resource;
  /**
   * What a search looks at: a resource that hides any of it is not seen, whatever it holds, for else
   * the search would tell.
   */
  searched?: readonly Searched[];
}

/**
 * A state of a resource as the actor may see it, without hidden elements; undefined when not at all.
 * Every answer passes here: read, version, history, search, `$everything`, `_include`, Bundles.
 */
export async function visible(
  actor: Actor,
  interaction: Reading,
  resource: Resource,
  { standing, searched = [] }: Looking = {},
): Promise<Resource | undefined> {
  const hiddenNow = standing ? await hiddenFields(actor, interaction, standing) : [];
  const hiddenThen = hiddenNow && (await hiddenFields(actor, interaction, resource));
  if (!hiddenThen) return undefined;
  const hidden = [...new Set([...hiddenNow, ...hiddenThen])];
  if (searched.some((parameter) => looksAt(parameter, hidden))) return undefined;
  noteWhole(actor.disclosure, resource);
  return hidden.length > 0 ? withoutFields(resource, hidden) : resource;
}

/**
 * Refuses at once what could never have a hit.
 * @throws {Refusal} forbidden, when the actor may not search the type, or not by one of the parameters
 */
export function requireSearchableBy(actor: Actor, type: string, searched: readonly Searched[]): void {
  if (!mayInteract(actor, 'search', type)) throw new Refusal('forbidden', 'Forbidden');
  const never = unsearchableFields(actor, type);
  const closed = searched.find((parameter) => looksAt(parameter, never));
  if (!closed) return;
  const { issues } = invalidField(closed.code, `You may not search by ${closed.code}`);
  throw new Refusal('forbidden', 'Forbidden', { issues });
}

function looksAt({ paths }: Searched, hidden: readonly string[]): boolean {
  return paths.some(({ steps }) => {
    const names = steps.map(({ element }) => element);
    return hidden.some((path) => touches(path, names));
  });
}
