import type { EmergencyGrant } from '../../../shared/access/emergency.ts';
import type { MailKind } from '../../../shared/email/mail-kind.ts';
import type { ProjectMembership } from '../../../shared/fhir/membership.ts';
import { listAdministrators } from '../../../shared/invitation/list-administrators.ts';
import { keys } from '../../../shared/table/keys.ts';
import type { Table } from '../../../shared/table/table.ts';
import type { Action } from '../../../shared/table/transact.ts';

/** So many administrators are told: their mails are in the transaction of the claim, which holds a hundred actions. */
const mostTold = 50;
const keptSeconds = 7 * 86_400;

/** The mails by which administrators, and the person, learn of it at once; for the transaction of the claim. */
export async function emergencyMails(
  table: Table,
  { project, membership, grant }: { project: string; membership: ProjectMembership; grant: EmergencyGrant },
): Promise<Action[]> {
  const { startedAtMs, untilMs } = grant;
  const takenBy = { membershipId: membership.id, name: membership.profile.display ?? 'A member' };
  const told = new Set([membership.id, ...(await listAdministrators(table, project, mostTold))]);
  return [...told].map((toldId) => ({
    name: 'mail',
    put: {
      ...keys.emergencyMail(project, { membershipId: membership.id, startedAtMs }, toldId),
      kind: 'emergency-access' satisfies MailKind,
      ...{ project, takenBy, toldId, untilMs, generation: startedAtMs },
      ttl: Math.ceil(startedAtMs / 1000) + keptSeconds,
    },
  }));
}
