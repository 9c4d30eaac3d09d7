import type { ProjectMembership } from '@medplum/fhirtypes';
import type { OperationOutcome } from '../../../client/src/index.ts';
import { outcomeSentence } from '../invite/sentences.ts';
import { invitationOf } from '../members/invitation.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Link } from '../ui/link.tsx';
import { Notice } from '../ui/notice.tsx';
import type { Sent } from './use-bulk-invite.ts';

interface Props {
  sent: Sent;
  /** Sends what was refused once more, as it stands. */
  retry: (() => void) | undefined;
  isBusy: boolean;
}

export function BulkResult({ sent: { answer, table, sent }, retry, isBusy }: Props) {
  const { invited, refused, results } = answer;
  return (
    <>
      <Notice kind={refused === 0 ? 'good' : 'bad'}>
        <p>
          {invited} invited, {refused} refused.{' '}
          {refused > 0 && 'Correct the refused rows above. Only those are sent again.'}
        </p>
        {refused > 0 && retry && (
          <Button isPending={isBusy} onPress={retry}>
            Send only what was refused
          </Button>
        )}
      </Notice>
      <ul className="rows" aria-label="Results">
        {results.map(({ row, status, membership, outcome }) => (
          <li className="row" key={row}>
            <div className="row-main">
              <span className="row-title">
                Row {(sent[row - 1] ?? 0) + 1}
                {membership && (
                  <>
                    {': '}
                    <Link href={`/members/${membership.id}`}>{membership.profile?.display ?? 'member'}</Link>
                  </>
                )}
              </span>
              <span className="row-more">{membership ? doneTo(membership) : textOf(outcome)}</span>
              {!membership && <span className="row-more">{table.rows[sent[row - 1] ?? -1]?.join(', ')}</span>}
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
