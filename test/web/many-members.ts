import type { Item } from '../../shared/carry/table/item.ts';
import type { Table } from '../../shared/carry/table/table.ts';
import {
  createMembershipActions,
  issueInvitation,
} from '../../shared/identity/invitations/membership-actions.ts';

const given = ['Ada', 'Grace', 'Rosa', 'Alan', 'Edith', 'Emil', 'Olga', 'Nora', 'Luis', 'Mina'];

/**
 * A member of many: `Nora Family07321 <nora7321@example.org>`; one in twenty has not accepted, one in fifty
 * administers, and of three in turn two have one of the policies.
 */
export async function seedMembers(
  table: Table,
  project: string,
  count: number,
  policies: readonly [string, string],
): Promise<void> {
  const items = Array.from({ length: count }, (_, n) => itemsOf(project, n, policies[n % 3])).flat();
  await table.write(items);
}

/** The head and what lists of members read: versions and the rest of the index make no difference to them. */
function itemsOf(project: string, n: number, policy: string | undefined): Item[] {
  const first = given[n % given.length] ?? 'Ada';
  const display = `${first} Family${String(n).padStart(5, '0')}`;
  const isOpen = n % 20 === 0;
  const invitation = issueInvitation(0, false, Date.now());
  const { actions } = createMembershipActions(
    {
      id: `seeded-${n}`,
      project: { reference: `Project/${project}` },
      user: { reference: `User/seeded-${n}`, display },
      profile: { reference: `${n % 3 === 0 ? 'Practitioner' : 'Patient'}/seeded-${n}`, display },
      rights: {
        ...(n % 50 === 1 ? { admin: true } : {}),
        ...(policy ? { accessPolicy: { reference: policy } } : {}),
      },
      active: !isOpen,
      externalId: undefined,
      userName: `${first.toLowerCase()}${n}@example.org`,
      invitedBy: { reference: 'Practitioner/nobody' },
    },
    {
      userId: `seeded-${n}`,
      login: `E:${first.toLowerCase()}${n}@example.org`,
      profileType: n % 3 === 0 ? 'Practitioner' : 'Patient',
      invitation: isOpen ? invitation : { ...invitation, state: 'accepted' },
    },
    { project, versionId: `v${n}`, nowMs: Date.now() },
  );
  return actions.flatMap((action) => ('put' in action && isRead(action.put) ? [action.put as Item] : []));
}

function isRead({ pk, sk }: { pk: string; sk: string }): boolean {
  return sk === 'HEAD' || /#IX#ProjectMembership#(profile-type|active|admin|access-policy)#/.test(pk);
}
