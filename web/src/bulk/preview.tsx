import type { Findings } from './check-table.ts';
import type { Table } from './read-table.ts';

const mostShown = 200;

/** What the file says, before anything is sent. */
export function Preview({ table: { header, rows }, findings }: { table: Table; findings: Findings }) {
  if (rows.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className="card table-frame" aria-label="Preview" tabIndex={0}>
      <table className="table">
        <caption>Preview: nobody is invited yet</caption>
        <thead>
          <tr>
            <th scope="col">Row</th>
            {findings.rows.size > 0 && <th scope="col">Mistakes</th>}
            {header.map((name, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a file may name a column twice
              <th scope="col" key={index}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, mostShown).map((cells, row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows are known by their place in the file
            <tr key={row}>
              <th scope="row">{row + 1}</th>
              {findings.rows.size > 0 && <td className="field-error">{findings.rows.get(row)?.join(' ')}</td>}
              {header.map((_name, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: as above
                <td key={index}>{cells[index]}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
