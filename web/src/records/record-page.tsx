import type { Resource } from '@medplum/fhirtypes';
import { useCallback } from 'react';
import { fieldsOf } from '../../../shared/fields-of.ts';
import { useApi } from '../api/use-api.ts';
import { useLoad } from '../api/use-load.ts';
import { useSession } from '../session/session-context.tsx';
import { Link } from '../ui/link.tsx';
import { Loading } from '../ui/loading.tsx';
import { Moment } from '../ui/moment.tsx';
import { Output } from '../ui/output.tsx';
import { Page } from '../ui/page.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { EditTab } from './edit-tab.tsx';
import { HistoryTab } from './history-tab.tsx';
import { nameOf } from './name-of.ts';
import { SeenTab } from './seen-tab.tsx';
import { Fields } from './value.tsx';

/** One record: to be read, with its JSON beside it; its history; and to be changed. */
export function RecordPage({ type, id }: { type: string; id: string }) {
  const api = useApi();
  const { me } = useSession();
  const path = `fhir/R4/${encodeURIComponent(type)}/${encodeURIComponent(id)}`;
  const load = useCallback((signal: AbortSignal) => api.get<Resource>(path, signal), [api, path]);
  const loaded = useLoad(load);
  return (
    <Page title={loaded.value ? nameOf(loaded.value) : type}>
      <Loading of={loaded}>
        {(resource) => (
          <>
            <p className="muted">
              {type}, changed <Moment at={resource.meta?.lastUpdated} />
            </p>
            <Tabs
              label={nameOf(resource)}
              tabs={[
                ['Record', <ReadTab key="read" resource={resource} />],
                ['History', <HistoryTab key="history" path={path} />],
                ...(me.membership.admin === true && type === 'Patient'
                  ? [['Who saw it', <SeenTab key="seen" patient={`${type}/${id}`} />] as const]
                  : []),
                ['Edit', <EditTab key="edit" path={path} resource={resource} onSaved={loaded.reload} />],
              ]}
            />
          </>
        )}
      </Loading>
      <p>
        <Link href={`/records?type=${type}`}>All {type} records</Link>
      </p>
      {me.membership.admin === true && (
        <p>
          <Link href={`/audit?resource=${type}/${id}`}>Who changed this record</Link>
        </p>
      )}
    </Page>
  );
}

/** What the service keeps of a record, beside what it says. */
const kept = ['resourceType', 'meta', 'text', 'id'];

function ReadTab({ resource }: { resource: Resource }) {
  const elements = Object.entries(fieldsOf(resource)).filter(([name]) => !kept.includes(name));
  return (
    <div className="split">
      <section className="card" aria-label="Record">
        <Fields of={Object.fromEntries(elements)} />
      </section>
      <Output label="JSON" text={JSON.stringify(resource, undefined, 2)} />
    </div>
  );
}
