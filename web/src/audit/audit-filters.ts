import { useAddressState, useAddressText } from '../api/use-address-state.ts';
import { deeds } from './deeds.ts';

/** What is asked of the audit log; empty texts ask nothing. */
export interface AuditFilters {
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

export type AuditChange = { [Name in keyof AuditFilters]: (next: string) => void };

/** The filters stand in the address. */
export function useAuditFilters(): [AuditFilters, AuditChange] {
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
export function queryOf({ deed, who, resource, from, to }: AuditFilters, count: number): string {
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
