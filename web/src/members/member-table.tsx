import type { ProjectMembership } from '@medplum/fhirtypes';
import { useState } from 'react';
import type { Pages } from '../api/use-pages.ts';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/loading.tsx';
import { Notice } from '../ui/notice.tsx';
import { useRowPlace } from '../ui/row-place.ts';
import { SortHeader } from '../ui/sort-header.tsx';
import { useWhenSeen } from '../ui/when-seen.ts';
import { columnsOf } from './member-columns.ts';
import { MemberRow } from './member-row.tsx';
import { SelectionBar } from './selection-bar.tsx';

interface Props {
  pages: Pages<ProjectMembership>;
  sort: string;
  onSort(sort: string): void;
  /** What is said of an empty list. */
  empty: string;
}

/** Members in columns; more of them as one scrolls. Open invitations can be selected. */
export function MemberTable({ pages, sort, onSort, empty }: Props) {
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
      {message !== undefined && (
        <Notice kind="bad">
          <p>{message}</p>
          <Button onPress={reload}>Try again</Button>
        </Notice>
      )}
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
