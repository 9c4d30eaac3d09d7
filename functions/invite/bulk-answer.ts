import type { Resource } from '../../shared/fhir/resource.ts';
import { failureOf } from '../../shared/http/errors.ts';
import type { OperationOutcome } from '../../shared/http/outcome.ts';
import type { Log } from '../../shared/log.ts';
import type { RowResult } from './invite-many.ts';

/** The answer of a bulk invite: each row with the status that it would have had alone. */
export interface BulkAnswer {
  invited: number;
  refused: number;
  results: { row: number; status: number; membership?: Resource; outcome?: OperationOutcome }[];
}

export function bulkAnswer(results: readonly RowResult[], log: Log, traceId: string): BulkAnswer {
  const rows = results.map((result) => {
    const { row } = result;
    if ('membership' in result) return { row, status: 200, membership: result.membership };
    const { status, outcome } = failureOf(result.error, log, traceId);
    return { row, status, outcome };
  });
  const invited = rows.filter(({ status }) => status === 200).length;
  return { invited, refused: rows.length - invited, results: rows };
}
