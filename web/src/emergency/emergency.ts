import type { ProjectMembership } from '@medplum/fhirtypes';
import { fieldsOf } from '../../../shared/fields-of.ts';

/** `emergency` of `GET auth/me`: what an administrator has prepared. */
export interface Emergency {
  /** How long it lasts. */
  minutes: number;
  policy: { reference: string; display?: string };
  /** Sentences. */
  opens: string[];
  active?: EmergencyGrant | undefined;
}

export interface EmergencyGrant {
  /** Instants. */
  since: string;
  until: string;
  reason: string;
}

/** The emergency access that a member has, as administrators see it. */
export function emergencyOf({ extension }: ProjectMembership): EmergencyGrant | undefined {
  const parts = extension?.find(({ url }) => url === 'urn:portico:extension:emergency-access')?.extension;
  const part = (name: string) => parts?.find(({ url }) => url === name);
  const [since, until] = [part('since')?.valueInstant, part('until')?.valueInstant];
  if (since === undefined || until === undefined) return undefined;
  return { since, until, reason: part('reason')?.valueString ?? '' };
}

/** The policy that is prepared for a member, which R4's own type of a membership does not know. */
export function emergencyPolicyOf(membership: object): string | undefined {
  const { reference } = fieldsOf(fieldsOf(membership).emergencyPolicy);
  return typeof reference === 'string' ? reference : undefined;
}
