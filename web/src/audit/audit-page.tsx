import type { AuditEvent, Bundle, ProjectMembership, Reference } from '@medplum/fhirtypes';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useAction, useApi } from '../api/use-api.ts';
import { useAddressState, useAddressText, usePages } from '../api/use-pages.ts';
import { profileType } from '../members/invitation.ts';
import { Badge, Button, Empty, Failure, Moment, Notice } from '../ui/basics.tsx';
import { downloadCsv } from '../ui/download.ts';
import { SearchField, Select, TextField } from '../ui/fields.tsx';
import { Page } from '../ui/page.tsx';
import { PagedList } from '../ui/paged-list.tsx';
import { type Choice, type Picked, ResourcePicker } from '../ui/resource-picker.tsx';
import { auditCsv, deedOf, deeds, objectsOf, outcomeOf, routeOf } from './audit-entry.ts';

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

interface AuditPageProps {
  filters: AuditFilters;
  /** Entries tell the name of whoever is asked about. */
  onWho(name: string | undefined): void;
}

function AuditList({ filters, onWho }: AuditPageProps) {
  const pages = usePages<AuditEvent>(queryOf(filters, 20));
  const row = useCallback((event: AuditEvent) => <AuditRow event={event} />, []);
  const agents = (pages.resources ?? []).flatMap(({ agent }) => agent[0]?.who ?? []);
  const whoName = agents.find(({ reference }) => reference === filters.who)?.display;
  useEffect(() => onWho(whoName), [onWho, whoName]);
  return (
    <PagedList pages={pages} label="Audit log" row={row} empty={<Empty title="Nothing of this kind yet" />} />
  );
}

const mostEntries = 10_000;
const pageOf = 500;
const number = new Intl.NumberFormat();

/** Downloads what the filters show, page by page, up to a bound that is said. */
function AuditDownload({ filters }: { filters: AuditFilters }) {
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

/** What is asked of the audit log; empty texts ask nothing. */
interface AuditFilters {
  /** Code of a subtype. */
  deed: string;
  /** `Practitioner/<id>`: who did it. */
  who: string;
  /** `Patient/<id>`: what it was done to. */
  resource: string;
  /** Days where the reader is, `2026-01-31`, both inside. */
  from: string;
  to: string;
}

type AuditChange = { [Name in keyof AuditFilters]: (next: string) => void };

/** The filters stand in the address. */
function useAuditFilters(): [AuditFilters, AuditChange] {
  const codes = deeds.map(({ value }) => value);
  const [deed, setDeed] = useAddressState<string>('what', codes, '');
  const [who, setWho] = useAddressText('who');
  const [resource, setResource] = useAddressText('resource');
  const [from, setFrom] = useAddressText('from');
  const [to, setTo] = useAddressText('to');
  return [
    { deed, who, resource, from, to },
    { deed: setDeed, who: setWho, resource: setResource, from: setFrom, to: setTo },
  ];
}

/** The search of AuditEvents, newest first. */
function queryOf({ deed, who, resource, from, to }: AuditFilters, count: number): string {
  const query = new URLSearchParams({ _count: String(count), _sort: '-date' });
  if (deed) query.set('subtype', `urn:portico:audit|${deed}`);
  if (who) query.set('agent', who);
  if (resource) query.set('entity', resource);
  const [begin, end] = [startOf(from, 0), startOf(to, 1)];
  if (begin) query.append('date', `ge${begin}`);
  if (end) query.append('date', `lt${end}`);
  return `fhir/R4/AuditEvent?${query}`;
}

/** Midnight where the reader is, some days later, as an instant; undefined for what is no day. */
function startOf(day: string, laterDays: number): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? [];
  if (year === undefined) return undefined;
  const midnight = new Date(Number(year), Number(month) - 1, Number(date) + laterDays);
  return Number.isNaN(midnight.getTime()) ? undefined : midnight.toISOString();
}

/** Goes to the next line with what follows it. */
const separator = ' ·\u00a0';

/** An entry of the log in a row. */
function AuditRow({ event }: { event: AuditEvent }) {
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

interface FilterBarProps {
  filters: AuditFilters;
  change: AuditChange;
  /** The name of whoever `filters.who` is, once an entry has told it. */
  whoName: string | undefined;
}

/** Narrows the log by kind, person, record and time; each holds as soon as it is chosen. */
function FilterBar({ filters, change, whoName }: FilterBarProps) {
  const find = useFindMembers();
  const [typed, setTyped] = useState<Choice>();
  const chosen: Choice = filters.who
    ? { reference: filters.who, display: whoName ?? filters.who }
    : undefined;
  return (
    <search className="filters filters-many">
      <Select label="What" value={filters.deed} options={deeds} onChange={change.deed} />
      <ResourcePicker
        label="Who"
        name="who"
        value={typed ?? chosen}
        find={find}
        onChange={(choice) => {
          const isPicked = choice !== undefined && !('typed' in choice);
          setTyped(choice);
          if (isPicked) change.who(choice.reference);
          else if (choice === undefined) change.who('');
        }}
      />
      <SearchField label="Record (Type/id)" value={filters.resource} onChange={change.resource} />
      <TextField label="From" type="date" value={filters.from} onChange={change.from} />
      <TextField label="Until" type="date" value={filters.to} onChange={change.to} />
    </search>
  );
}

/** People, Bots and keys of the Project, by the beginning of their name or address. */
function useFindMembers() {
  const api = useApi();
  return useCallback(
    async (text: string, signal?: AbortSignal): Promise<Picked[]> => {
      const query = new URLSearchParams({ _count: '20', ...(text ? { text } : {}) });
      const bundle = await api.get<Bundle<ProjectMembership>>(`${api.admin}/members?${query}`, signal);
      return (bundle.entry ?? []).flatMap(({ resource }) => {
        const { profile, userName } = resource ?? {};
        if (!profile?.reference) return [];
        const detail = userName ?? profile.reference.split('/')[0] ?? '';
        return [{ reference: profile.reference, display: profile.display ?? profile.reference, detail }];
      });
    },
    [api],
  );
}
