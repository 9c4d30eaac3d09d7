import type { ProjectMembership } from '@medplum/fhirtypes';
import { useState } from 'react';
import type { ProfileType } from '../../../shared/base/resource.ts';
import { recordOf } from '../../../shared/base/values.ts';
import { queryOf } from '../api/fhir.ts';
import { messageOf, useAction, useApi } from '../api/use-api.ts';
import { useAddress, useSearch } from '../api/use-pages.ts';
import { emergencyOf } from '../emergency/emergency.ts';
import {
  ActionButton,
  Badge,
  Button,
  ButtonLink,
  counted,
  Link,
  Moment,
  Notice,
  number,
  Sentences,
} from '../ui/basics.tsx';
import { SearchField, Select } from '../ui/fields.tsx';
import { type Column, PagedTable } from '../ui/lists.tsx';
import { ConfirmedButton, Page } from '../ui/page.tsx';
import { columnsOf, lastSignInOf, openStates, standingOf } from './invitation.ts';

const people: Record<ProfileType, string> = {
  Practitioner: 'Practitioners',
  Patient: 'Patients',
  RelatedPerson: 'Related persons',
};
const everybody = Object.keys(people).join();
const kinds: Record<string, string> = {
  [everybody]: 'People',
  ...people,
  Bot: 'Bots',
  ClientApplication: 'API keys',
};
const states: Record<string, string> = { '': 'Any', accepted: 'Joined', ...openStates };
const roles: Record<string, string> = { '': 'Any', true: 'Administrators' };
const orders = ['name', 'address', 'kind', 'policy', 'role', 'state'];
const sorts = recordOf([...orders, ...orders.map((by) => `-${by}`)], String);
const filters = { kind: everybody, state: '', role: '', sort: 'name', text: '', policy: '' };

/** Everybody in the Project: searched, sorted and chosen from; all of it stands in the address. */
export function MembersPage() {
  const offered = { kind: kinds, state: states, role: roles, sort: sorts };
  const { values, change, field } = useAddress(filters, offered);
  const { kind, state, role, sort, text, policy } = values;
  const narrowing = { text, state, admin: role, 'access-policy': policy };
  const sorted = { 'profile-type': kind, _sort: sort, _count: '50', _total: 'accurate' };
  const query = queryOf({ ...sorted, ...narrowing });
  const isNarrowed = Object.values(narrowing).some(Boolean);
  return (
    <Page title="Members" actions={<ButtonLink label="Invite somebody" href="/invite" />}>
      <search className="filters">
        <SearchField label="Name or address" {...field('text')} />
        <Select label="Kind" options={kinds} {...field('kind')} />
        <Select label="State" options={states} {...field('state')} />
        <Select label="Role" options={roles} {...field('role')} />
      </search>
      {policy && (
        <p>
          Showing only those who have one access policy. <Link href="/members">Show all</Link>
        </p>
      )}
      <MemberTable
        key={String(query)}
        query={query}
        sort={sort}
        onSort={(next) => change({ sort: next })}
        empty={isNarrowed ? 'Nobody matches these filters' : 'No members yet'}
      />
    </Page>
  );
}

const name = {
  title: 'Name',
  by: 'name',
  cell: (member: ProjectMembership) => columnsOf(member).name,
  hrefOf: ({ id }: ProjectMembership) => `/members/${id}`,
  summaryOf(member: ProjectMembership) {
    const { address, type, role } = columnsOf(member);
    return [address, type, role === 'Member' ? '' : role].filter(Boolean).join(' · ');
  },
};

const columns: readonly Column<ProjectMembership>[] = [
  {
    title: 'Address',
    by: 'address',
    className: 'wide-only cell-address',
    cell: (member) => columnsOf(member).address,
  },
  { title: 'Kind', by: 'kind', className: 'wide-only', cell: (member) => columnsOf(member).type },
  {
    title: 'Policy',
    by: 'policy',
    className: 'wide-only cell-policy',
    cell(member) {
      const { policy } = columnsOf(member);
      return <span title={policy}>{policy}</span>;
    },
  },
  { title: 'Role', by: 'role', className: 'wide-only', cell: (member) => columnsOf(member).role },
  {
    title: 'State',
    by: 'state',
    cell(member) {
      const { label, kind } = standingOf(member);
      return (
        <>
          {!columnsOf(member).isProgram && <Badge kind={kind}>{label}</Badge>}
          {emergencyOf(member) && <Badge kind="bad">Emergency access</Badge>}
        </>
      );
    },
  },
  {
    title: 'Last sign-in',
    className: 'wide-only',
    cell: (member) => <Moment at={lastSignInOf(member)} or={columnsOf(member).isProgram ? '' : 'Never'} />,
  },
];

interface MemberTableProps {
  query: URLSearchParams;
  sort: string;
  onSort(sort: string): void;
  empty: string;
}

function MemberTable({ query, ...props }: MemberTableProps) {
  const { admin } = useApi();
  const pages = useSearch<ProjectMembership>(`${admin}/members?${query}`);
  const [chosen, setChosen] = useState<ReadonlySet<string | undefined>>(new Set());
  const open = (pages.value ?? []).filter((one) => columnsOf(one).isOpen);
  const selected = open.filter(({ id }) => chosen.has(id));
  const choose = (some: readonly ProjectMembership[], isChosen: boolean) => {
    const ids = new Set(some.map(({ id }) => id));
    const others = [...chosen].filter((id) => !ids.has(id));
    setChosen(new Set(isChosen ? [...others, ...ids] : others));
  };
  const head = open.length > 0 && (
    <input
      type="checkbox"
      aria-label="Select all open invitations shown"
      checked={selected.length === open.length}
      onChange={({ target }) => choose(open, target.checked)}
    />
  );
  const box = (member: ProjectMembership) =>
    columnsOf(member).isOpen && (
      <input
        type="checkbox"
        aria-label={`Select ${columnsOf(member).name}`}
        checked={chosen.has(member.id)}
        onChange={({ target }) => choose([member], target.checked)}
      />
    );
  return (
    <PagedTable
      pages={pages}
      label="Members"
      countOf={countOf}
      name={name}
      columns={columns}
      check={{ head, cell: box }}
      isEager
      {...props}
    >
      <SelectionBar selected={selected} onClear={() => setChosen(new Set())} onDone={pages.reload} />
    </PagedTable>
  );
}

function countOf(shown: number, total: number | undefined, hasMore: boolean): string {
  const all = hasMore ? total : shown;
  if (all === undefined) return `${number.format(shown)} shown, there are more`;
  const members = counted(all, 'member');
  return hasMore ? `${members}, ${number.format(shown)} shown` : members;
}

interface SelectionBarProps {
  selected: readonly ProjectMembership[];
  onClear(): void;
  onDone(): void;
}

function SelectionBar({ selected, onClear, onDone }: SelectionBarProps) {
  const { admin, send } = useApi();
  const [outcome, setOutcome] = useState<{ done: string; refused: readonly string[] }>();
  const revocable = selected.filter((one) => columnsOf(one).isRevocable);
  const forEach = async (method: string, some: readonly ProjectMembership[], done: string) => {
    setOutcome(undefined);
    const refused: string[] = [];
    for (const one of some) {
      await send(method, `${admin}/members/${one.id}/invitation`).catch((error: unknown) =>
        refused.push(`${columnsOf(one).name}: ${messageOf(error)}`),
      );
    }
    setOutcome({ done: `${done}: ${some.length - refused.length} of ${some.length}.`, refused });
    onClear();
    onDone();
  };
  const resend = useAction(() =>
    forEach('POST', selected, 'New links are on their way; earlier links no longer work'),
  );
  return (
    <>
      {outcome && (
        <Notice kind={outcome.refused.length > 0 ? 'bad' : 'good'}>
          <p>{outcome.done}</p>
          {outcome.refused.length > 0 && <Sentences of={outcome.refused} />}
        </Notice>
      )}
      {selected.length > 0 && (
        <fieldset className="selection">
          <legend>{selected.length} selected</legend>
          <ActionButton label="Send new links" action={resend} />
          {revocable.length > 0 && (
            <ConfirmedButton
              label="Revoke"
              title={`Revoke ${counted(revocable.length, 'invitation')}?`}
              deed="Revoke them"
              act={() => forEach('DELETE', revocable, 'Invitations revoked')}
            >
              <p>The links in the mails stop working at once. The people can be invited again at any time.</p>
            </ConfirmedButton>
          )}
          <Button kind="quiet" onPress={onClear}>
            Clear the selection
          </Button>
        </fieldset>
      )}
    </>
  );
}
