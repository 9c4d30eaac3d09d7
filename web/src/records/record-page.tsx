import type { Resource } from '@medplum/fhirtypes';
import { useCallback, useState } from 'react';
import { fieldsOf } from '../../../shared/base/values.ts';
import { useApi, useLoad } from '../api/use-api.ts';
import { usePages } from '../api/use-pages.ts';
import { useSession } from '../session/session-context.tsx';
import { Button, Failure, Link, Loading, Moment, Output } from '../ui/basics.tsx';
import { DiffView } from '../ui/diff-view.tsx';
import { Page, Tabs } from '../ui/page.tsx';
import { EditTab } from './edit-tab.tsx';
import { nameOf, textOf } from './record-text.ts';
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

/** The versions of a record, newest first, each with what it changed. */
function HistoryTab({ path }: { path: string }) {
  const { resources, isLoading, message, loadMore } = usePages<Resource>(`${path}/_history?_count=20`);
  return (
    <div className="stack">
      <Failure message={message} />
      {resources === undefined && isLoading && <p role="status">Loading</p>}
      {resources !== undefined && (
        <ol className="rows" aria-label="Versions">
          {resources.map((version, at) => (
            <li className="row" key={version.meta?.versionId}>
              <Version
                version={version}
                before={resources[at + 1]}
                isFirst={at === resources.length - 1 && !loadMore}
                isNewest={at === 0}
              />
            </li>
          ))}
        </ol>
      )}
      {loadMore && (
        <div>
          <Button onPress={loadMore} isPending={isLoading}>
            Show more
          </Button>
        </div>
      )}
    </div>
  );
}

interface Props {
  version: Resource;
  /** Undefined for the first, and for the last that is loaded. */
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
        <span className="row-title">
          <Moment at={lastUpdated} />
        </span>
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
