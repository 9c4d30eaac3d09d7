import type { AuditEvent, Reference } from '@medplum/fhirtypes';
import { profileType } from '../members/profile-type.ts';
import { Badge } from '../ui/badge.tsx';
import { Moment } from '../ui/moment.tsx';
import { deedOf } from './deeds.ts';
import { objectsOf, outcomeOf, routeOf } from './entry.ts';

/** Goes to the next line with what follows it. */
const separator = ' ·\u00a0';

/** An entry of the log in a row. */
export function AuditRow({ event }: { event: AuditEvent }) {
  const { recorded, subtype, outcome = '0', agent } = event;
  const route = routeOf(event);
  return (
    <>
      <div className="row-main">
        <span className="row-title">{deedOf(subtype?.[0]?.code)}</span>
        <span className="row-more">
          <NameOf {...agent[0]?.who} />
          {objectsOf(event).map((what) => (
            <span key={what.reference}>
              {separator}
              <NameOf {...what} />
            </span>
          ))}
          {route && `${separator}${route}`}
        </span>
      </div>
      <div className="row-side">
        <span className="row-more">
          <Moment at={recorded} />
        </span>
        <Badge kind={outcome === '0' ? 'good' : 'bad'}>{outcomeOf(event)}</Badge>
      </div>
    </>
  );
}

/** The name in the entry; a clinical record has none there, and is not looked up for one. */
function NameOf({ reference = '', display }: Pick<Reference, 'reference' | 'display'>) {
  const id = reference.split('/')[1]?.slice(0, 8) ?? '';
  return <span title={reference}>{display ?? `${profileType(reference)} ${id}`.trim()}</span>;
}
