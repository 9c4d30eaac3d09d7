import type { ProjectMembership } from '@medplum/fhirtypes';
import { useState } from 'react';
import { messageOf, useAction, useApi } from '../api/use-api.ts';
import type { Pages } from '../api/use-pages.ts';
import { emergencyOf } from '../emergency/emergency.ts';
import { Badge, Button, Empty, Link, Moment, Notice, Retry } from '../ui/basics.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { SortHeader, useRowPlace, useWhenSeen } from '../ui/paged-list.tsx';
import { columnsOf, profileType, standingOf } from './invitation.ts';

interface MemberTableProps {
  pages: Pages<ProjectMembership>;
  sort: string;
  onSort(sort: string): void;
  /** What is said of an empty list. */
  empty: string;
}

/** Members in columns; more of them as one scrolls. Open invitations can be selected. */
export function MemberTable({ pages, sort, onSort, empty }: MemberTableProps) {
  const { path, resources = [], isLoading, message, loadMore, total, reload } = pages;
  const { list, follow } = useRowPlace<HTMLTableSectionElement>(path, pages.resources !== undefined);
  const more = useWhenSeen(message === undefined && !isLoading ? loadMore : undefined);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const open = resources.filter((one) => columnsOf(one).isOpen);
  const selected = open.filter(({ id = '' }) => chosen.has(id));
  const choose = (id: string, isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  return (
    <div className="members">
      <p className="count" role="status">
        {pages.resources === undefined ? 'Loading' : countOf(resources.length, total, loadMore !== undefined)}
      </p>
      <SelectionBar selected={selected} onClear={() => setChosen(new Set())} onDone={reload} />
      {message !== undefined && <Retry message={message} onPress={reload} />}
      {pages.resources?.length === 0 && message === undefined && <Empty title={empty} />}
      {resources.length > 0 && (
        <table className="people" aria-label="Members" aria-busy={isLoading}>
          <thead>
            <tr>
              <td className="cell-check">
                {open.length > 0 && (
                  <input
                    type="checkbox"
                    aria-label="Select all open invitations shown"
                    checked={selected.length === open.length}
                    onChange={({ target }) =>
                      setChosen(new Set(target.checked ? open.map(({ id = '' }) => id) : []))
                    }
                  />
                )}
              </td>
              <SortHeader label="Name" by="name" sort={sort} onSort={onSort} />
              <SortHeader label="Address" by="address" sort={sort} onSort={onSort} className="wide-only" />
              <SortHeader label="Kind" by="kind" sort={sort} onSort={onSort} className="wide-only" />
              <SortHeader label="Policy" by="policy" sort={sort} onSort={onSort} className="wide-only" />
              <SortHeader label="Role" by="role" sort={sort} onSort={onSort} className="wide-only" />
              <SortHeader label="State" by="state" sort={sort} onSort={onSort} />
              <th scope="col" className="wide-only">
                Last sign-in
              </th>
            </tr>
          </thead>
          <tbody ref={list}>
            {resources.map((membership) => (
              <MemberRow
                key={membership.id}
                membership={membership}
                isSelected={chosen.has(membership.id ?? '')}
                onSelect={(isSelected) => choose(membership.id ?? '', isSelected)}
                onFollow={() => follow(membership.id ?? '')}
              />
            ))}
          </tbody>
        </table>
      )}
      {loadMore && (
        <div ref={more}>
          <Button onPress={loadMore} isPending={isLoading}>
            Show more
          </Button>
        </div>
      )}
    </div>
  );
}

const number = new Intl.NumberFormat();

function countOf(shown: number, total: number | undefined, hasMore: boolean): string {
  const all = hasMore ? total : shown;
  if (all === undefined) return `${number.format(shown)} shown, there are more`;
  const members = `${number.format(all)} ${all === 1 ? 'member' : 'members'}`;
  return hasMore ? `${members}, ${number.format(shown)} shown` : members;
}

interface MemberRowProps {
  membership: ProjectMembership;
  isSelected: boolean;
  onSelect(isSelected: boolean): void;
  onFollow(): void;
}

/** A member in the table. On a phone the name stands over the rest of it. */
function MemberRow({ membership, isSelected, onSelect, onFollow }: MemberRowProps) {
  const { name, address, policy, role, lastSignIn, isOpen, isProgram } = columnsOf(membership);
  const { label, kind } = standingOf(membership);
  const type = profileType(membership.profile?.reference);
  return (
    <tr data-row={membership.id}>
      <td className="cell-check">
        {isOpen && (
          <input
            type="checkbox"
            aria-label={`Select ${name}`}
            checked={isSelected}
            onChange={(event) => onSelect(event.target.checked)}
          />
        )}
      </td>
      <th scope="row" className="cell-name" onClickCapture={onFollow}>
        <Link className="link" href={`/members/${membership.id}`}>
          {name}
        </Link>
        <span className="row-more narrow-only">
          {[address, type, ...(role === 'Member' ? [] : [role])].filter(Boolean).join(' · ')}
        </span>
      </th>
      <td className="wide-only cell-address">{address}</td>
      <td className="wide-only">{type}</td>
      <td className="wide-only cell-policy" title={policy}>
        {policy}
      </td>
      <td className="wide-only">{role}</td>
      <td>
        {!isProgram && <Badge kind={kind}>{label}</Badge>}
        {emergencyOf(membership) && <Badge kind="bad">Emergency access</Badge>}
      </td>
      <td className="wide-only">{lastSignIn ? <Moment at={lastSignIn} /> : isProgram ? '' : 'Never'}</td>
    </tr>
  );
}

interface SelectionBarProps {
  /** Members whose invitation is open. */
  selected: readonly ProjectMembership[];
  onClear(): void;
  onDone(): void;
}

interface Outcome {
  done: string;
  /** A sentence for each that was refused. */
  refused: readonly string[];
}

/** What can be done with the invitations that are selected, and what came of it. */
function SelectionBar({ selected, onClear, onDone }: SelectionBarProps) {
  const { admin, send } = useApi();
  const [outcome, setOutcome] = useState<Outcome>();
  const [isAsking, setAsking] = useState(false);
  const revocable = selected.filter((one) => columnsOf(one).isRevocable);
  const forEach = async (method: string, some: readonly ProjectMembership[], done: string) => {
    setOutcome(undefined);
    const refused: string[] = [];
    for (const one of some) {
      await send(method, `${admin}/members/${one.id}/invitation`).catch((error: unknown) =>
        refused.push(`${columnsOf(one).name}: ${messageOf(error)}`),
      );
    }
    setAsking(false);
    setOutcome({ done: `${done}: ${some.length - refused.length} of ${some.length}.`, refused });
    onClear();
    onDone();
  };
  const resend = useAction(() =>
    forEach('POST', selected, 'New links are on their way; earlier links no longer work'),
  );
  const revoke = useAction(() => forEach('DELETE', revocable, 'Invitations revoked'));
  return (
    <>
      {outcome && (
        <Notice kind={outcome.refused.length > 0 ? 'bad' : 'good'}>
          <p>{outcome.done}</p>
          {outcome.refused.length > 0 && (
            <ul>
              {outcome.refused.map((text) => (
                <li key={text}>{text}</li>
              ))}
            </ul>
          )}
        </Notice>
      )}
      {selected.length > 0 && (
        <fieldset className="selection">
          <legend>{selected.length} selected</legend>
          <Button isPending={resend.isBusy} onPress={() => resend.run()}>
            Send new links
          </Button>
          {revocable.length > 0 && (
            <Button kind="danger" onPress={() => setAsking(true)}>
              Revoke
            </Button>
          )}
          <Button kind="quiet" onPress={onClear}>
            Clear the selection
          </Button>
        </fieldset>
      )}
      <Confirm
        isOpen={isAsking}
        title={`Revoke ${revocable.length} ${revocable.length === 1 ? 'invitation' : 'invitations'}?`}
        deed="Revoke them"
        isBusy={revoke.isBusy}
        message={revoke.message}
        onConfirm={() => revoke.run()}
        onClose={() => setAsking(false)}
      >
        <p>The links in the mails stop working at once. The people can be invited again at any time.</p>
      </Confirm>
    </>
  );
}
