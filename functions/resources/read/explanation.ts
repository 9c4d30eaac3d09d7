import { hiddenFields } from '../../../shared/access/access.ts';
import type { Actor } from '../../../shared/access/actor.ts';
import { type MemberEyes, reasonsFor } from '../../../shared/access/member-eyes.ts';
import type { Reading } from '../../../shared/access/visible.ts';
import type { ProjectMembership } from '../../../shared/fhir/membership.ts';
import { noteWhole } from '../../../shared/disclosure.ts';
import { plainMeta } from '../../../shared/fhir/plain-meta.ts';
import type { Resource } from '../../../shared/fhir/resource.ts';
import type { Services } from '../../../shared/services.ts';

/** A member's rights, looked at by an administrator. */
export interface View extends MemberEyes {
  services: Services;
  asker: Actor;
}

/** A resource as the member sees it. */
export interface Seen {
  resource: Resource;
  /** Elements that their rules hide from them. */
  hidden: readonly string[];
  /** The rules that let them see it, in words. */
  rules: readonly string[];
}

export interface Explanation {
  seen: readonly Seen[];
  /** Why nothing is seen. */
  why?: string;
  /** The search of the next page. */
  next?: string;
}

/** @param whole with what is hidden: the rules are matched against it, and it says whose it is */
export async function seenAs(
  { own, services }: View,
  interaction: Reading,
  whole: Resource,
  resource: Resource,
): Promise<Seen> {
  noteWhole(services.disclosure, whole);
  const hidden = (await hiddenFields(own, interaction, whole)) ?? [];
  return { resource, hidden, rules: await reasonsFor(own, interaction, whole) };
}

/** The answer of `$explain`. */
export function parametersOf(
  { id, profile, active }: ProjectMembership,
  { seen, why, next }: Explanation,
): Resource {
  const text = (name: string) => (valueString: string) => ({ name, valueString });
  const parameters = {
    resourceType: 'Parameters',
    parameter: [
      { name: 'member', valueReference: { reference: `ProjectMembership/${id}`, display: profile.display } },
      { name: 'active', valueBoolean: active !== false },
      ...(why === undefined ? [] : [text('why')(why)]),
      ...(next === undefined ? [] : [text('next')(next)]),
      ...seen.map(({ resource, hidden, rules }) => ({
        name: 'seen',
        part: [
          { name: 'resource', resource: { ...resource, meta: plainMeta(resource.meta) } },
          ...hidden.map(text('hidden')),
          ...rules.map(text('rule')),
        ],
      })),
    ],
  };
  return parameters as unknown as Resource;
}
