import type { AuditEvent, Reference } from '@medplum/fhirtypes';
import { useCallback } from 'react';
import { useAddressState } from '../api/use-address-state.ts';
import { usePages } from '../api/use-pages.ts';
import { profileType } from '../members/profile-type.ts';
import { Badge } from '../ui/badge.tsx';
import { Empty } from '../ui/loading.tsx';
import { Moment } from '../ui/moment.tsx';
import { Page } from '../ui/page.tsx';
import { PagedList } from '../ui/paged-list.tsx';
import { Select } from '../ui/select.tsx';
import { deedOf, deeds } from './deeds.ts';

/** What was done in the Project, by whom, newest first. */
export function AuditPage() {
  const codes = deeds.map(({ value }) => value);
  const [deed, setDeed] = useAddressState('what', codes, '');
  return (
    <Page title="Audit log">
      <div className="filters">
        <Select label="What" value={deed} options={deeds} onChange={setDeed} />
      </div>
      <AuditList key={deed} deed={deed} />
    </Page>
  );
}

function AuditList({ deed }: { deed: string }) {
  const query = new URLSearchParams({ _count: '20', _sort: '-date' });
  if (deed) query.set('subtype', `urn:portico:audit|${deed}`);
  const pages = usePages<AuditEvent>(`fhir/R4/AuditEvent?${query}`);
  const row = useCallback((event: AuditEvent) => <AuditRow event={event} />, []);
  return (
    <PagedList pages={pages} label="Audit log" row={row} empty={<Empty title="Nothing of this kind yet" />} />
  );
}

/** What it was done to: nothing, for a sign-in. */
function objectsOf({ entity = [] }: AuditEvent): Reference[] {
  const all = entity.flatMap(({ what }) => (what?.reference ? [what] : []));
  return [...new Map(all.map((what) => [what.reference, what])).values()];
}

/** The name in the entry; a clinical record has none there, and is not looked up for one. */
function NameOf({ reference = '', display }: Pick<Reference, 'reference' | 'display'>) {
  const id = reference.split('/')[1]?.slice(0, 8) ?? '';
  return <span title={reference}>{display ?? `${profileType(reference)} ${id}`.trim()}</span>;
}

/** Goes to the next line with what follows it. */
const separator = ' ·\u00a0';

/** What somebody who was refused had tried. */
function routeOf({ entity = [] }: AuditEvent): string | undefined {
  const details = entity.flatMap(({ detail = [] }) => detail);
  return details.find(({ type }) => type === 'route')?.valueString;
}

const outcomes = { '0': 'done', '4': 'refused', '8': 'unknown', '12': 'failed' } as const;

function AuditRow({ event }: { event: AuditEvent }) {
  const { recorded, subtype, outcome = '0', outcomeDesc, agent } = event;
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
        <Badge kind={outcome === '0' ? 'good' : 'bad'}>{outcomeDesc ?? outcomes[outcome]}</Badge>
      </div>
    </>
  );
}
