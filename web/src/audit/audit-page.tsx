import type { AuditEvent } from '@medplum/fhirtypes';
import { useCallback, useEffect, useState } from 'react';
import { usePages } from '../api/use-pages.ts';
import { Empty } from '../ui/loading.tsx';
import { Page } from '../ui/page.tsx';
import { PagedList } from '../ui/paged-list.tsx';
import { AuditDownload } from './audit-download.tsx';
import { type AuditFilters, queryOf, useAuditFilters } from './audit-filters.ts';
import { AuditRow } from './audit-row.tsx';
import { FilterBar } from './filter-bar.tsx';

/** What was done in the Project, by whom, newest first. */
export function AuditPage() {
  const [filters, change] = useAuditFilters();
  const [whoName, setWhoName] = useState<string>();
  const asked = JSON.stringify(filters);
  return (
    <Page title="Audit log">
      <FilterBar filters={filters} change={change} whoName={whoName} />
      <AuditDownload key={`download ${asked}`} filters={filters} />
      <AuditList key={`list ${asked}`} filters={filters} onWho={setWhoName} />
    </Page>
  );
}

interface Props {
  filters: AuditFilters;
  /** Entries tell the name of whoever is asked about. */
  onWho(name: string | undefined): void;
}

function AuditList({ filters, onWho }: Props) {
  const pages = usePages<AuditEvent>(queryOf(filters, 20));
  const row = useCallback((event: AuditEvent) => <AuditRow event={event} />, []);
  const agents = (pages.resources ?? []).flatMap(({ agent }) => agent[0]?.who ?? []);
  const whoName = agents.find(({ reference }) => reference === filters.who)?.display;
  useEffect(() => onWho(whoName), [onWho, whoName]);
  return (
    <PagedList pages={pages} label="Audit log" row={row} empty={<Empty title="Nothing of this kind yet" />} />
  );
}
