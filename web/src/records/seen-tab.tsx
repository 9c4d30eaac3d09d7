import type { AuditEvent } from '@medplum/fhirtypes';
import { useCallback } from 'react';
import { useApi, useLoad } from '../api/use-api.ts';
import { usePages } from '../api/use-pages.ts';
import { Empty, Loading, Moment, Output } from '../ui/basics.tsx';
import { PagedList } from '../ui/paged-list.tsx';
import { NameOf } from './value.tsx';

/** Who has looked at a Patient and at what is about them. @param patient `Patient/<id>` */
export function SeenTab({ patient }: { patient: string }) {
  const api = useApi();
  const load = useCallback(
    (signal: AbortSignal) => api.get<{ auditReads: boolean }>(api.admin, signal),
    [api],
  );
  const loaded = useLoad(load);
  return (
    <Loading of={loaded}>
      {({ auditReads }) => (auditReads ? <SeenList patient={patient} /> : <AskTheLog patient={patient} />)}
    </Loading>
  );
}

function SeenList({ patient }: { patient: string }) {
  const query = new URLSearchParams({
    patient,
    subtype: 'urn:portico:audit|looked',
    _sort: '-date',
    _count: '20',
  });
  const pages = usePages<AuditEvent>(`fhir/R4/AuditEvent?${query}`);
  const row = useCallback((event: AuditEvent) => <SeenRow event={event} patient={patient} />, [patient]);
  return (
    <PagedList
      pages={pages}
      label="Who saw this patient"
      row={row}
      empty={<Empty title="Nobody since looks are kept in the audit log" />}
    />
  );
}

/** By FHIR's code of the interaction. */
const looks: Readonly<Record<string, string>> = {
  read: 'opened it',
  vread: 'opened an earlier version',
  'history-instance': 'looked at a history',
  'history-type': 'looked at a history',
  'history-system': 'looked at a history',
  'search-type': 'found it in a list',
  'search-system': 'found it in a list',
  operation: 'read all of the record',
  batch: 'read it among others',
  create: 'was shown it instead of a new one',
};

function SeenRow({ event, patient }: { event: AuditEvent; patient: string }) {
  const { recorded, agent, subtype = [], entity = [] } = event;
  const who = agent[0]?.who;
  const code = subtype.find(({ system }) => system === 'http://hl7.org/fhir/restful-interaction')?.code ?? '';
  const read = entity.find(({ role }) => role?.code === '4')?.what?.reference;
  return (
    <>
      <div className="row-main">
        <span className="row-title">{who?.display ?? <NameOf reference={who?.reference} />}</span>
        <span className="row-more">
          {looks[code] ?? 'looked'}
          {read !== undefined && read !== patient && `: ${read}`}
        </span>
      </div>
      <div className="row-side">
        <span className="row-more">
          <Moment at={recorded} />
        </span>
      </div>
    </>
  );
}

/** The log has every look, whether or not the audit log keeps them too. */
function AskTheLog({ patient }: { patient: string }) {
  const query = [
    'fields time, who, inNameOf, run, interaction, route, status',
    `| filter message = "access" and @message like /"${patient.replace('/', '\\/')}"/`,
    '| sort time desc',
  ].join('\n');
  return (
    <>
      <p>
        This project keeps no looks at records in its audit log. They are in the access log, which those who
        operate the service can ask: in CloudWatch Logs Insights, on the log group of the function{' '}
        <code>portico-&lt;stage&gt;-access-records</code>, with
      </p>
      <Output label="Query" text={query} />
      <p>
        They can also have them kept here from now on, with <code>npm run provision</code> and its option{' '}
        <code>--audit-reads</code>.
      </p>
    </>
  );
}
