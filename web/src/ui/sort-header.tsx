interface Props {
  label: string;
  /** What `_sort` calls the column. */
  by: string;
  /** The order that holds, `-` in front for descending. */
  sort: string;
  onSort(sort: string): void;
  className?: string;
}

/** The head of a column that the table can be sorted by; pressed again, the other way round. */
export function SortHeader({ label, by, sort, onSort, className = '' }: Props) {
  const order = sort === by ? 'ascending' : sort === `-${by}` ? 'descending' : undefined;
  return (
    <th scope="col" className={className} {...(order ? { 'aria-sort': order } : {})}>
      <button type="button" className="sort" onClick={() => onSort(sort === by ? `-${by}` : by)}>
        {label}
        <span aria-hidden="true">{order === undefined ? '' : order === 'ascending' ? ' ↑' : ' ↓'}</span>
      </button>
    </th>
  );
}
