import type { ProjectMembership } from '@medplum/fhirtypes';
import { fieldsOf } from '../../../shared/base/values.ts';
import { saysIt } from '../idle/idle-watch.ts';
import { observable } from '../session/observable.ts';

/** `emergency` of `GET auth/me`: what an administrator has prepared. */
export interface Emergency {
  /** How long it lasts. */
  minutes: number;
  policy: { reference: string; display?: string };
  /** Sentences. */
  opens: string[];
  active?: EmergencyAccess | undefined;
}

export interface EmergencyAccess {
  /** Instants. */
  since: string;
  until: string;
  reason: string;
}

/** The emergency access that a member has, as administrators see it. */
export function emergencyOf({ extension }: ProjectMembership): EmergencyAccess | undefined {
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

/** Whether the person has emergency access, as the service's last answer says: it may be taken or ended elsewhere. */
export function emergencyWatch() {
  const isOn = observable(false);
  return {
    isOn,
    /** What an answer says of emergency access. */
    heed(path: string, { headers }: Response) {
      if (saysIt.test(path)) isOn.set(headers.has('x-emergency-seconds'));
    },
  };
}
