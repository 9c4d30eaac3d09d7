import type { Resource } from '@medplum/fhirtypes';
import { useCallback } from 'react';
import { usePages } from '../api/use-pages.ts';
import { Empty } from '../ui/loading.tsx';
import { Moment } from '../ui/moment.tsx';
import { Output } from '../ui/output.tsx';
import { PagedList } from '../ui/paged-list.tsx';
import { nameOf } from './name-of.ts';

export function RecordList({ type }: { type: string }) {
  const pages = usePages<Resource>(`fhir/R4/${type}?_count=20`);
  const row = useCallback((resource: Resource) => <RecordRow resource={resource} />, []);
  return (
    <PagedList pages={pages} label={type} row={row} empty={<Empty title={`No ${type} that you may see`} />} />
  );
}

function RecordRow({ resource }: { resource: Resource }) {
  return (
    <details className="record">
      <summary>
        <span className="row-title">{nameOf(resource)}</span>
        <span className="row-more">
          changed <Moment at={resource.meta?.lastUpdated} />
        </span>
      </summary>
      <Output label={nameOf(resource)} text={JSON.stringify(resource, undefined, 2)} />
    </details>
  );
}
