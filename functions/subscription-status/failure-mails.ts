import type { MailKind } from '../../shared/email/mail-kind.ts';
import { listAdministrators } from '../../shared/invitation/list-administrators.ts';
import { keys } from '../../shared/table/keys.ts';
import type { Table } from '../../shared/table/table.ts';
import type { Action } from '../../shared/table/transact.ts';

/** So many administrators are told; a Project with more of them has a few who look. */
const mostTold = 20;
const keptSeconds = 7 * 86_400;

/** The mails by which a Project's administrators learn that a Subscription turned `error`, for that very write. */
export async function failureMails(
  table: Table,
  { project, subscriptionId, nowMs }: { project: string; subscriptionId: string; nowMs: number },
): Promise<Action[]> {
  const told = await listAdministrators(table, project, mostTold);
  return told.map((membershipId) => ({
    name: 'mail',
    put: {
      ...keys.failureMail(project, subscriptionId, membershipId),
      kind: 'subscription-failed' satisfies MailKind,
      ...{ project, subscriptionId, membershipId, generation: nowMs },
      ttl: Math.ceil(nowMs / 1000) + keptSeconds,
    },
  }));
}
