import type { ProjectMembership } from '@medplum/fhirtypes';
import type { OperationOutcome } from '../../../client/src/index.ts';
import { outcomeSentence } from '../invite/sentences.ts';
import { invitationOf } from '../members/invitation.ts';
import { Badge } from '../ui/badge.tsx';
import { Link } from '../ui/link.tsx';
import { Notice } from '../ui/notice.tsx';
import type { Table } from './read-table.ts';

/** What `invite/bulk` answers: each row with the status that it would have had alone. */
export interface BulkAnswer {
  invited: number;
  refused: number;
  results: { row: number; status: number; membership?: ProjectMembership; outcome?: OperationOutcome }[];
}

export function BulkResult({ answer, table }: { answer: BulkAnswer; table: Table }) {
  const { invited, refused, results } = answer;
  return (
    <>
      <Notice kind={refused === 0 ? 'good' : 'bad'}>
        {invited} invited, {refused} refused.{' '}
        {refused > 0 && 'Put these rows right and send the file again: what stands stays as it is.'}
      </Notice>
      <ul className="rows" aria-label="Results">
        {results.map(({ row, status, membership, outcome }) => (
          <li className="row" key={row}>
            <div className="row-main">
              <span className="row-title">
                Row {row}
                {membership && (
                  <>
                    {': '}
                    <Link href={`/members/${membership.id}`}>{membership.profile?.display ?? 'member'}</Link>
                  </>
                )}
              </span>
              <span className="row-more">{membership ? doneTo(membership) : textOf(outcome)}</span>
              {!membership && <span className="row-more">{table.rows[row - 1]?.join(', ')}</span>}
            </div>
            <Badge kind={status === 200 ? 'good' : 'bad'}>{status === 200 ? 'Done' : 'Refused'}</Badge>
          </li>
        ))}
      </ul>
    </>
  );
}

function doneTo(membership: ProjectMembership): string {
  const outcome = invitationOf(membership)?.outcome;
  return outcome ? outcomeSentence(membership.profile?.display ?? '', outcome) : '';
}

function textOf(outcome: OperationOutcome | undefined): string {
  const texts = outcome?.issue.map(({ details, code }) => details?.text ?? code) ?? [];
  return texts.join('; ');
}
