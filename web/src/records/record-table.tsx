import type { Resource } from '@medplum/fhirtypes';
import { usePages } from '../api/use-pages.ts';
import { Button, Empty, Link, Moment, Notice } from '../ui/basics.tsx';
import { useRowPlace } from '../ui/paged-list.tsx';
import { columnsOf, elementOf, formatValue, nameOf } from './record-text.ts';
import type { Condition } from './registry.ts';
import { Value } from './value.tsx';

interface Props {
  type: string;
  conditions: readonly Condition[];
}

/** Records of a type that meet the conditions, in the columns of the type. */
export function RecordTable({ type, conditions }: Props) {
  const query = new URLSearchParams([
    ['_count', '20'],
    ...conditions.map(({ code, value }) => [code, value]),
  ]);
  const pages = usePages<Resource>(`fhir/R4/${type}?${query}`);
  const { path, resources, isLoading, message, loadMore, reload } = pages;
  const { list, follow } = useRowPlace<HTMLTableSectionElement>(path, resources !== undefined);
  const columns = columnsOf(type);
  const rows = resources ?? [];
  return (
    <div className="members">
      {message !== undefined && (
        <Notice kind="bad">
          <p>{message}</p>
          <Button onPress={reload}>Try again</Button>
        </Notice>
      )}
      <p className="count" role="status">
        {resources === undefined
          ? isLoading
            ? 'Loading'
            : ''
          : countOf(rows.length, loadMore !== undefined)}
      </p>
      {resources?.length === 0 && message === undefined && (
        <Empty
          title={conditions.length > 0 ? `No ${type} matches this search` : `No ${type} that you may see`}
        />
      )}
      {rows.length > 0 && (
        <table className="people" aria-label={type} aria-busy={isLoading}>
          <thead>
            <tr>
              <th scope="col">{type}</th>
              {columns.map(([title]) => (
                <th scope="col" className="wide-only" key={title}>
                  {title}
                </th>
              ))}
              <th scope="col" className="wide-only">
                Changed
              </th>
            </tr>
          </thead>
          <tbody ref={list}>
            {rows.map((resource) => (
              <tr key={resource.id} data-row={resource.id}>
                <th scope="row" onClickCapture={() => follow(resource.id ?? '')}>
                  <Link className="link" href={`/records/${type}/${resource.id}`}>
                    {nameOf(resource)}
                  </Link>
                  <span className="row-more narrow-only">{summaryOf(resource)}</span>
                </th>
                {columns.map(([title, element]) => (
                  <td className="wide-only cell-address" key={title}>
                    <Value value={elementOf(resource, element)} />
                  </td>
                ))}
                <td className="wide-only">
                  <Moment at={resource.meta?.lastUpdated} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {loadMore && (
        <div>
          <Button onPress={loadMore} isPending={isLoading}>
            Show more
          </Button>
        </div>
      )}
    </div>
  );
}

function countOf(shown: number, hasMore: boolean): string {
  if (hasMore) return `${shown} shown, there are more`;
  return shown === 1 ? '1 record' : `${shown} records`;
}

/** What the columns say, in a line, where there is no room for them. */
function summaryOf(resource: Resource): string {
  return columnsOf(resource.resourceType)
    .map(([, element]) => {
      const value = elementOf(resource, element);
      const { display } = (value ?? {}) as { display?: string };
      return display ?? formatValue(value);
    })
    .filter(Boolean)
    .join(' · ');
}
