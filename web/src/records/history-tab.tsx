import type { Resource } from '@medplum/fhirtypes';
import { useState } from 'react';
import { usePages } from '../api/use-pages.ts';
import { Button } from '../ui/button.tsx';
import { Moment } from '../ui/moment.tsx';
import { Failure } from '../ui/notice.tsx';
import { DiffView } from '../versions/diff-view.tsx';
import { textOf } from './text-of.ts';

/** The versions of a record, newest first, each with what it changed. */
export function HistoryTab({ path }: { path: string }) {
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
