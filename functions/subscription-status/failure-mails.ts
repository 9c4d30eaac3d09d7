import type { MailKind } from '../../shared/email/mail-kind.ts';
import { parseReference, type Resource } from '../../shared/fhir/resource.ts';
import { fieldsOf } from '../../shared/fields-of.ts';
import type { Reader } from '../../shared/search/reader.ts';
import { runSearch } from '../../shared/search/run-search.ts';
import { parseSearch } from '../../shared/search/search-request.ts';
import { keys } from '../../shared/table/keys.ts';
import type { Table } from '../../shared/table/table.ts';
import type { Action } from '../../shared/table/transact.ts';

/** So many administrators are told; a Project with more of them has a few who look. */
const mostTold = 20;
const keptSeconds = 7 * 86_400;

/** Bots and clients read no mail. */
function isOfPerson({ user }: Resource): boolean {
  return parseReference(fieldsOf(user).reference)?.type === 'User';
}

/** The mails by which a Project's administrators learn that a Subscription turned `error`, for that very write. */
export async function failureMails(
  table: Table,
  { project, subscriptionId, nowMs }: { project: string; subscriptionId: string; nowMs: number },
): Promise<Action[]> {
  const reader: Reader = {
    table,
    project,
    see: async (membership) => (isOfPerson(membership) ? membership : undefined),
  };
  const search = new URLSearchParams({ admin: 'true', active: 'true', _count: String(mostTold) });
  const { resources } = await runSearch(reader, parseSearch('ProjectMembership', search));
  return resources.map(({ id: membershipId }) => ({
    name: 'mail',
    put: {
      ...keys.failureMail(project, subscriptionId, membershipId),
      kind: 'subscription-failed' satisfies MailKind,
      ...{ project, subscriptionId, membershipId, generation: nowMs },
      ttl: Math.ceil(nowMs / 1000) + keptSeconds,
    },
  }));
}
