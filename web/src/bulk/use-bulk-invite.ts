import type { AccessPolicy, Bundle, ProjectMembership } from '@medplum/fhirtypes';
import { useCallback, useState } from 'react';
import type { OperationOutcome } from '../../../client/src/index.ts';
import { bulkColumn } from '../../../shared/identity/invitations/bulk-columns.ts';
import { useAction, useApi, useLoad } from '../api/use-api.ts';
import { type NamedPolicy, type Table, writeTable } from './table.ts';

/** What `invite/bulk` answers: each row with the status that it would have had alone. */
interface BulkAnswer {
  invited: number;
  refused: number;
  results: { row: number; status: number; membership?: ProjectMembership; outcome?: OperationOutcome }[];
}

/** An answer, and the rows that it is about: its row 1 is the first of `sent`. */
export interface Sent {
  answer: BulkAnswer;
  table: Table;
  sent: number[];
}

/**
 * Sends rows of a file. Who was invited from this page is not sent again: that would be a second mail, whose
 * link kills the first one.
 */
export function useBulkInvite() {
  const api = useApi();
  const [done, setDone] = useState<ReadonlySet<string>>(new Set());
  const [last, setLast] = useState<Sent>();
  const action = useAction(async ({ table, rows }: { table: Table; rows: number[] }) => {
    setLast(undefined);
    const answered = await api.fetch(`${api.admin}/invite/bulk`, {
      method: 'POST',
      body: writeTable(table, rows),
      contentType: 'text/csv; charset=utf-8',
    });
    const answer = (await answered.json()) as BulkAnswer;
    const invited = answer.results.flatMap(({ row, status }) => {
      const person = personIn(table, rows[row - 1] ?? -1);
      return status === 200 && person ? [person] : [];
    });
    setDone((before) => new Set([...before, ...invited]));
    setLast({ answer, table, sent: rows });
  });
  /** The rows that are still to be invited. */
  const openRows = (table: Table): number[] =>
    table.rows.flatMap((_cells, row) => (done.has(personIn(table, row)) ? [] : [row]));
  const clear = () => {
    setLast(undefined);
    action.clear();
  };
  return { ...action, last, openRows, clear };
}

/** Who a row is about, in one spelling; empty when it does not say. */
function personIn({ header, rows }: Table, row: number): string {
  const cell = (name: string) =>
    rows[row]?.[header.findIndex((one) => bulkColumn(one) === name)]?.trim() ?? '';
  const type = cell('resourceType');
  const person = cell('email').normalize('NFC').toLowerCase() || cell('externalId');
  return person && `${type} ${person}`;
}

/** The policies of the Project, by which a file may name them; none before it is wanted. */
export function usePolicies(isWanted: boolean) {
  const api = useApi();
  const load = useCallback(
    async (signal: AbortSignal): Promise<NamedPolicy[]> => {
      if (!isWanted) return [];
      const path = 'fhir/R4/AccessPolicy?_count=1000&_elements=name';
      const { entry = [] } = await api.get<Bundle<AccessPolicy>>(path, signal);
      return entry.map(({ resource }) => ({
        name: resource?.name ?? '',
        reference: `AccessPolicy/${resource?.id}`,
      }));
    },
    [api, isWanted],
  );
  return useLoad(load);
}
