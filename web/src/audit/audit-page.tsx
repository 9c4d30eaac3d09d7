import type { AuditEvent, Bundle, ProjectMembership, Reference } from '@medplum/fhirtypes';
import { useEffect, useRef, useState } from 'react';
import { idIn, nextOf, type Picked, queryOf, resourcesIn } from '../api/fhir.ts';
import { useAction, useApi } from '../api/use-api.ts';
import { useAddress, useSearch } from '../api/use-pages.ts';
import { profileType } from '../members/invitation.ts';
import { ActionButton, Badge, Button, counted, Failure, Moment, Notice, number } from '../ui/basics.tsx';
import { downloadCsv } from '../ui/download.ts';
import { SearchField, Select, TextField } from '../ui/fields.tsx';
import { PagedList, Row } from '../ui/lists.tsx';
import { Page } from '../ui/page.tsx';
import { type Choice, ResourcePicker } from '../ui/resource-picker.tsx';
import { auditCsv, deedOf, deeds, objectsOf, outcomeOf, routeOf } from './audit-entry.ts';

/** What is asked of the audit log, as it stands in the address; empty texts ask nothing. */
const noFilters = {
  what: '',
  /** `Practitioner/<id>`: who did it. */
  who: '',
  /** `Patient/<id>`: what it was done to. */
  resource: '',
  /** Days where the reader is, `2026-01-31`, both inside. */
  from: '',
  to: '',
};

type AuditFilters = typeof noFilters;

/** What was done in the Project, by whom, newest first. */
export function AuditPage() {
  const { values: filters, change, field } = useAddress(noFilters, { what: deeds });
  const pages = useSearch<AuditEvent>(pathOf(filters, 20));
  const agents = (pages.value ?? []).flatMap(({ agent }) => agent[0]?.who ?? []);
  const who = agents.find(({ reference }) => reference === filters.who);
  return (
    <Page title="Audit log">
      <FilterBar who={filters.who} whoName={who?.display} change={change} field={field} />
      <AuditDownload key={JSON.stringify(filters)} filters={filters} />
      <PagedList
        pages={pages}
        label="Audit log"
        row={(event) => <AuditRow event={event} />}
        empty="Nothing of this kind yet"
      />
    </Page>
  );
}

const mostEntries = 10_000;
const pageOf = 500;

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
    let next: string | undefined = pathOf(filters, pageOf);
    try {
      while (next !== undefined && events.length < mostEntries) {
        setCount(events.length);
        const page: Bundle<AuditEvent> = await api.get(next, stop.signal);
        events.push(...resourcesIn(page));
        next = nextOf(page);
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
      `${counted(kept.length, 'entry', 'entries')} downloaded. ${isAll ? '' : 'There are older ones: choose an earlier time to download them.'}`,
    );
  });
  return (
    <div className="stack">
      <div className="row-side">
        <ActionButton label="Download as CSV" action={download} />
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

function pathOf({ what, who, resource, from, to }: AuditFilters, count: number): string {
  const subtype = what && `urn:portico:audit|${what}`;
  const query = queryOf({ _count: String(count), _sort: '-date', subtype, agent: who, entity: resource });
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

function AuditRow({ event }: { event: AuditEvent }) {
  const { recorded, subtype, outcome = '0', agent } = event;
  const route = routeOf(event);
  const about = (
    <>
      <NameOf {...agent[0]?.who} />
      {objectsOf(event).map((what) => (
        <span key={what.reference}>
          {separator}
          <NameOf {...what} />
        </span>
      ))}
      {route && `${separator}${route}`}
    </>
  );
  const side = (
    <>
      <Moment className="row-more" at={recorded} />
      <Badge kind={outcome === '0' ? 'good' : 'bad'}>{outcomeOf(event)}</Badge>
    </>
  );
  return <Row title={deedOf(subtype?.[0]?.code)} more={[about]} side={side} />;
}

/** The name in the entry; a clinical record has none there, and is not looked up for one. */
function NameOf({ reference = '', display }: Pick<Reference, 'reference' | 'display'>) {
  const name = `${profileType(reference)} ${idIn(reference).slice(0, 8)}`.trim();
  return <span title={reference}>{display ?? name}</span>;
}

interface FilterBarProps extends Pick<ReturnType<typeof useAddress<AuditFilters>>, 'change' | 'field'> {
  who: string;
  whoName: string | undefined;
}

/** Narrows the log by kind, person, record and time; each holds as soon as it is chosen. */
function FilterBar({ who, whoName, change, field }: FilterBarProps) {
  const [typed, setTyped] = useState<Choice>();
  const chosen = who ? { reference: who, display: whoName ?? who } : undefined;
  return (
    <search className="filters filters-many">
      <Select label="What" options={deeds} {...field('what')} />
      <ResourcePicker
        label="Who"
        name="who"
        value={typed ?? chosen}
        find={useFindMembers()}
        onChange={(choice) => {
          setTyped(choice);
          if (choice === undefined) change({ who: '' });
          else if (!('typed' in choice)) change({ who: choice.reference });
        }}
      />
      <SearchField label="Record (Type/id)" {...field('resource')} />
      <TextField label="From" type="date" {...field('from')} />
      <TextField label="Until" type="date" {...field('to')} />
    </search>
  );
}

function useFindMembers() {
  const { admin, get } = useApi();
  return async (text: string, signal?: AbortSignal): Promise<Picked[]> => {
    const query = queryOf({ _count: '20', text });
    const found = await get<Bundle<ProjectMembership>>(`${admin}/members?${query}`, signal);
    return resourcesIn(found).flatMap(({ profile, userName }) => {
      const { reference, display = reference } = profile ?? {};
      if (!reference || !display) return [];
      return [{ reference, display, detail: userName ?? reference.split('/')[0] ?? '' }];
    });
  };
}
