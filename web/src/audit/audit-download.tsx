import type { AuditEvent, Bundle } from '@medplum/fhirtypes';
import { useEffect, useRef, useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { useApi } from '../api/use-api.ts';
import { Button } from '../ui/button.tsx';
import { downloadCsv } from '../ui/download.ts';
import { Failure, Notice } from '../ui/notice.tsx';
import { auditCsv } from './audit-csv.ts';
import { type AuditFilters, queryOf } from './audit-filters.ts';

const mostEntries = 10_000;
const pageOf = 500;
const number = new Intl.NumberFormat();

/** Downloads what the filters show, page by page, up to a bound that is said. */
export function AuditDownload({ filters }: { filters: AuditFilters }) {
  const api = useApi();
  const [count, setCount] = useState<number>();
  const [said, setSaid] = useState<string>();
  const going = useRef<AbortController>(undefined);
  useEffect(() => () => going.current?.abort(), []);
  const download = useAction(async () => {
    setSaid(undefined);
    const stop = new AbortController();
    going.current = stop;
    const events: AuditEvent[] = [];
    let next: string | undefined = queryOf(filters, pageOf);
    try {
      while (next !== undefined && events.length < mostEntries) {
        setCount(events.length);
        const page: Bundle<AuditEvent> = await api.get(next, stop.signal);
        events.push(...(page.entry ?? []).flatMap(({ resource }) => resource ?? []));
        next = page.link?.find(({ relation }) => relation === 'next')?.url;
      }
    } catch (error) {
      if (stop.signal.aborted) return;
      throw error;
    } finally {
      setCount(undefined);
    }
    const kept = events.slice(0, mostEntries);
    downloadCsv('audit-log.csv', auditCsv(kept));
    const isAll = next === undefined && kept.length === events.length;
    setSaid(
      `${number.format(kept.length)} ${kept.length === 1 ? 'entry' : 'entries'} downloaded. ${isAll ? '' : 'There are older ones: choose an earlier time to download them.'}`,
    );
  });
  return (
    <div className="stack">
      <div className="row-side">
        <Button onPress={() => download.run()} isPending={download.isBusy}>
          Download as CSV
        </Button>
        {count !== undefined && <Button onPress={() => going.current?.abort()}>Cancel the download</Button>}
        <span className="muted" role="status">
          {count === undefined
            ? `What the filters show, up to ${number.format(mostEntries)} entries.`
            : `${number.format(count)} entries so far…`}
        </span>
      </div>
      <Failure message={download.message} />
      {said && <Notice kind="good">{said}</Notice>}
    </div>
  );
}
