import type { ProjectMembership } from '@medplum/fhirtypes';
import { emergencyOf } from '../emergency/emergency.ts';
import { Badge } from '../ui/badge.tsx';
import { Link } from '../ui/link.tsx';
import { Moment } from '../ui/moment.tsx';
import { standingOf } from './invitation.ts';
import { columnsOf } from './member-columns.ts';
import { profileType } from './profile-type.ts';

interface Props {
  membership: ProjectMembership;
  isSelected: boolean;
  onSelect(isSelected: boolean): void;
  onFollow(): void;
}

/** A member in the table. On a phone the name stands over the rest of it. */
export function MemberRow({ membership, isSelected, onSelect, onFollow }: Props) {
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
