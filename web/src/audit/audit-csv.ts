import type { AuditEvent } from '@medplum/fhirtypes';
import { deedOf } from './deeds.ts';
import { objectsOf, outcomeOf, routeOf } from './entry.ts';

const header = [
  'Time',
  'What',
  'Kind',
  'Who',
  'Who (reference)',
  'Record',
  'Record (reference)',
  'Outcome',
  'Tried',
];

/** Entries of the audit log as CSV (RFC 4180), times in UTC. No cell of it is a formula to a spreadsheet. */
export function auditCsv(events: readonly AuditEvent[]): string {
  return [header, ...events.map(rowOf)].map((cells) => `${cells.map(cellText).join(',')}\r\n`).join('');
}

function rowOf(event: AuditEvent): string[] {
  const code = event.subtype?.[0]?.code ?? '';
  const who = event.agent[0]?.who;
  const objects = objectsOf(event);
  return [
    event.recorded ?? '',
    deedOf(code),
    code,
    who?.display ?? '',
    who?.reference ?? '',
    objects.map(({ display = '' }) => display).join('; '),
    objects.map(({ reference = '' }) => reference).join('; '),
    outcomeOf(event),
    routeOf(event) ?? '',
  ];
}

/** Spreadsheets compute what begins with one of these: an apostrophe before it makes it a text. */
const formula = /^[\s\uFEFF]*[=+\-@\t\r\n＝＋－＠]/;

function cellText(cell: string): string {
  const text = formula.test(cell) ? `'${cell}` : cell;
  return /[",;\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
