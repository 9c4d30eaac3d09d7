import type { AuditEvent, Resource } from '@medplum/fhirtypes';
import { useState } from 'react';
import { fieldsOf } from '../../../shared/base/values.ts';
import { useApi, useGet } from '../api/use-api.ts';
import { useSearch } from '../api/use-pages.ts';
import { useSession } from '../session/session-state.ts';
import { Card, Link, Loading, Moment, Output } from '../ui/basics.tsx';
import { DiffView } from '../ui/diff-view.tsx';
import { PagedList, PagedRows, Row } from '../ui/lists.tsx';
import { Page, Tabs } from '../ui/page.tsx';
import { EditTab } from './edit-tab.tsx';
import { nameOf, textOf } from './record-text.ts';
import { Fields, NameOf } from './value.tsx';

/** One record: to be read, with its JSON beside it; its history; and to be changed. */
export function RecordPage({ type, id }: { type: string; id: string }) {
  const { me } = useSession();
  const isAdministrator = me.membership.admin === true;
  const path = `fhir/R4/${encodeURIComponent(type)}/${encodeURIComponent(id)}`;
  const loaded = useGet<Resource>(path);
  return (
    <Page
      title={loaded.value ? nameOf(loaded.value) : type}
      back={{ label: `All ${type} records`, href: `/records?type=${type}` }}
    >
      <Loading of={loaded}>
        {(resource) => (
          <>
            <p className="muted">
              {type}, changed <Moment at={resource.meta?.lastUpdated} />
            </p>
            <Tabs
              label={nameOf(resource)}
              tabs={{
                Record: <ReadTab resource={resource} />,
                History: <HistoryTab path={path} />,
                ...(isAdministrator && type === 'Patient'
                  ? { 'Who saw it': <SeenTab patient={`${type}/${id}`} /> }
                  : {}),
                Edit: <EditTab path={path} resource={resource} onSaved={loaded.reload} />,
              }}
            />
          </>
        )}
      </Loading>
      {isAdministrator && (
        <p>
          <Link href={`/audit?resource=${type}/${id}`}>Who changed this record</Link>
        </p>
      )}
    </Page>
  );
}

const kept = ['resourceType', 'meta', 'text', 'id'];

function ReadTab({ resource }: { resource: Resource }) {
  const elements = Object.entries(fieldsOf(resource)).filter(([name]) => !kept.includes(name));
  return (
    <div className="split">
      <Card label="Record">
        <Fields of={Object.fromEntries(elements)} />
      </Card>
      <Output label="JSON">{JSON.stringify(resource, undefined, 2)}</Output>
    </div>
  );
}

function HistoryTab({ path }: { path: string }) {
  const pages = useSearch<Resource>(`${path}/_history?_count=20`);
  const { value: versions = [], loadMore } = pages;
  return (
    <div className="stack">
      <PagedRows
        label="Versions"
        pages={pages}
        isOrdered
        keyOf={({ meta }) => meta?.versionId ?? ''}
        row={(version, at) => (
          <Version
            version={version}
            before={versions[at + 1]}
            isFirst={at === versions.length - 1 && !loadMore}
            isNewest={at === 0}
          />
        )}
      />
    </div>
  );
}

interface Props {
  version: Resource;
  before: Resource | undefined;
  isFirst: boolean;
  isNewest: boolean;
}

function Version({ version, before, isFirst, isNewest }: Props) {
  const [isOpen, setOpen] = useState(false);
  const { lastUpdated, versionId } = version.meta ?? {};
  return (
    <details className="record" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Moment className="row-title" at={lastUpdated} />
        <span className="row-more">
          {isNewest ? 'As it stands' : isFirst ? 'As it was created' : `Version ${versionId?.slice(0, 8)}`}
        </span>
      </summary>
      {isOpen &&
        (before || isFirst ? (
          <DiffView
            label={`What the version of ${lastUpdated} changed`}
            before={before ? textOf(before) : ''}
            after={textOf(version)}
          />
        ) : (
          <p className="muted">Show more versions to see what this one changed.</p>
        ))}
    </details>
  );
}

/** Who has looked at a Patient and at what is about them. @param patient `Patient/<id>` */
function SeenTab({ patient }: { patient: string }) {
  return (
    <Loading of={useGet<{ auditReads: boolean }>(useApi().admin)}>
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
  return (
    <PagedList
      pages={useSearch<AuditEvent>(`fhir/R4/AuditEvent?${query}`)}
      label="Who saw this patient"
      row={(event) => <SeenRow event={event} patient={patient} />}
      empty="Nobody since looks are kept in the audit log"
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
  const look = looks[code] ?? 'looked';
  return (
    <Row
      title={who?.display ?? <NameOf reference={who?.reference} />}
      more={[read === undefined || read === patient ? look : `${look}: ${read}`]}
      side={<Moment className="row-more" at={recorded} />}
    />
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
      <Output label="Query">{query}</Output>
      <p>
        They can also have them kept here from now on, with <code>npm run provision</code> and its option{' '}
        <code>--audit-reads</code>.
      </p>
    </>
  );
}
