import { type EmergencyGrant, emergencyMinutesOf } from '../../../shared/access/emergency.ts';
import { policyWords } from '../../../shared/access/words/policy-words.ts';
import type { ProjectMembership } from '../../../shared/fhir/membership.ts';
import { parseReference, type Reference, type Resource } from '../../../shared/fhir/resource.ts';
import { inlineResource } from '../../../shared/store/inline.ts';
import type { Item } from '../../../shared/table/item.ts';
import { keys } from '../../../shared/table/keys.ts';
import type { Table } from '../../../shared/table/table.ts';

/** What a member may learn of the emergency access that is prepared for them. */
export interface EmergencyState {
  /** How long it would last, in minutes. */
  minutes: number;
  policy: Reference;
  /** What it opens, a sentence for each entry of the policy. */
  opens: string[];
  /** While it goes on; instants. */
  active?: { since: string; until: string; reason: string };
}

/** The policy that a membership names for emergencies; undefined when it names none, or one that is gone. */
export async function emergencyPolicyOf(
  table: Table,
  project: string,
  { emergencyPolicy }: ProjectMembership,
): Promise<Resource | undefined> {
  const id = parseReference(emergencyPolicy?.reference ?? '')?.id;
  if (id === undefined) return undefined;
  const key = keys.resource(project, 'AccessPolicy', id);
  return inlineResource('AccessPolicy', (await table.read([key])).get(key));
}

/** @param projectHead of the membership's Project */
export function emergencyState(
  policy: Resource,
  { grant, projectHead }: { grant: EmergencyGrant | undefined; projectHead: Item | undefined },
): EmergencyState {
  const { id, name } = policy;
  return {
    minutes: emergencyMinutesOf(projectHead),
    policy: { reference: `AccessPolicy/${id}`, ...(typeof name === 'string' ? { display: name } : {}) },
    opens: policyWords(policy, { isAdministrator: false }).map(({ text }) => text),
    ...(grant ? { active: activeOf(grant) } : {}),
  };
}

function activeOf({ startedAtMs, untilMs, reason }: EmergencyGrant) {
  const [since, until] = [startedAtMs, untilMs].map((ms) => new Date(ms).toISOString());
  return { since: String(since), until: String(until), reason };
}
