import type { AuditEvent, Reference } from '@medplum/fhirtypes';
import { csvOf } from '../ui/download.ts';

/** What the file says of an entry, by the head of its column; times in UTC. */
const columns: Record<string, (event: AuditEvent) => string | undefined> = {
  Time: ({ recorded }) => recorded,
  What: ({ subtype }) => deedOf(subtype?.[0]?.code ?? ''),
  Kind: ({ subtype }) => subtype?.[0]?.code,
  Who: ({ agent }) => agent[0]?.who?.display,
  'Who (reference)': ({ agent }) => agent[0]?.who?.reference,
  Record: (event) => joined(objectsOf(event), 'display'),
  'Record (reference)': (event) => joined(objectsOf(event), 'reference'),
  Outcome: outcomeOf,
  Tried: routeOf,
};

const joined = (objects: readonly Reference[], name: 'display' | 'reference') =>
  objects.map((one) => one[name] ?? '').join('; ');

/** Spreadsheets compute what begins with one of these: an apostrophe before it makes it a text. */
const formula = /^[\s\uFEFF]*[=+\-@\t\r\n＝＋－＠]/;

/** Entries of the audit log as CSV. No cell of it is a formula to a spreadsheet. */
export function auditCsv(events: readonly AuditEvent[]): string {
  const cells = events.map((event) => Object.values(columns).map((text) => text(event) ?? ''));
  const safe = cells.map((row) => row.map((cell) => (formula.test(cell) ? `'${cell}` : cell)));
  return csvOf([Object.keys(columns), ...safe]);
}

/** What it was done to: nothing, for a sign-in. */
export function objectsOf({ entity = [] }: AuditEvent): Reference[] {
  const all = entity.flatMap(({ what }) => (what?.reference ? [what] : []));
  return [...new Map(all.map((what) => [what.reference, what])).values()];
}

/** What somebody who was refused had tried. */
export function routeOf({ entity = [] }: AuditEvent): string | undefined {
  const details = entity.flatMap(({ detail = [] }) => detail);
  return details.find(({ type }) => type === 'route')?.valueString;
}

const outcomes = { '0': 'done', '4': 'refused', '8': 'unknown', '12': 'failed' } as const;

export function outcomeOf({ outcome = '0', outcomeDesc }: AuditEvent): string {
  return outcomeDesc ?? outcomes[outcome];
}

/** What the audit log tells of, by the code of its subtype. */
export const deeds = [
  { value: '', label: 'Everything' },
  { value: 'sign-in', label: 'Signed in' },
  { value: 'reauthenticate', label: 'Signed in once more' },
  { value: 'sign-out', label: 'Signed out' },
  { value: 'sign-out-idle', label: 'Was signed out: nothing was done' },
  { value: 'sign-out-reuse', label: 'Was signed out: a code or token came again, perhaps stolen' },
  { value: 'revoke-login', label: 'Ended a session' },
  { value: 'refused', label: 'Was refused' },
  { value: 'invite', label: 'Invited' },
  { value: 'accept', label: 'Accepted an invitation' },
  { value: 'resend-invitation', label: 'Sent an invitation again' },
  { value: 'revoke-invitation', label: 'Revoked an invitation' },
  { value: 'mail-bounced', label: 'An invitation came back' },
  { value: 'mail-complained', label: 'An invitation was unwanted' },
  { value: 'change-member', label: 'Changed a member' },
  { value: 'view-as', label: 'Looked with a member’s eyes' },
  { value: 'remove-member', label: 'Removed a member' },
  { value: 'emergency-access', label: 'Took emergency access' },
  { value: 'end-emergency-access', label: 'Ended emergency access' },
  { value: 'set-password', label: 'Set the password of a member' },
  { value: 'change-password', label: 'Changed their password' },
  { value: 'reset-password', label: 'Chose another password by a mailed link' },
  { value: 'change-address', label: 'Changed their e-mail address' },
  { value: 'undo-address', label: 'Took their earlier e-mail address back' },
  { value: 'change-user', label: 'Changed their own name' },
  { value: 'enrol-second-factor', label: 'Added a second factor' },
  { value: 'disable-second-factor', label: 'Took the second factor away' },
  { value: 'renew-recovery-codes', label: 'Made new recovery codes' },
  { value: 'use-recovery-code', label: 'Signed in with a recovery code' },
  { value: 'create-client', label: 'Created an API key' },
  { value: 'rotate-secret', label: 'Gave an API key a new secret' },
  { value: 'change-client', label: 'Changed how an API key signs in' },
  { value: 'change-project', label: 'Changed the project' },
  { value: 'add-issuer', label: 'Added an external sign-in' },
  { value: 'remove-issuer', label: 'Removed an external sign-in' },
  { value: 'create-bot', label: 'Created a Bot' },
  { value: 'deploy', label: 'Deployed a Bot' },
  { value: 'rollback', label: 'Rolled a Bot back' },
  { value: 'change-secrets', label: 'Changed secrets' },
  { value: 'looked', label: 'Looked at records' },
  { value: 'execute', label: 'Executed a Bot' },
  { value: 'redeliver', label: 'Had a delivery made again' },
  { value: 'resend', label: 'Had a record sent again' },
  { value: 'change-fetch-hosts', label: 'Changed the hosts that Bots may call' },
  { value: 'created', label: 'Created a record' },
  { value: 'updated', label: 'Changed a record' },
  { value: 'deleted', label: 'Deleted a record' },
  { value: 'transaction', label: 'Wrote several records' },
  { value: 'begin-export', label: 'Began an export' },
  { value: 'fetch-export', label: 'Fetched a file of an export' },
  { value: 'end-export', label: 'Had an export end' },
  { value: 'cancel-export', label: 'Cancelled an export' },
  { value: 'provision', label: 'Set the project up' },
] as const;

export function deedOf(code: string | undefined): string {
  return deeds.find(({ value }) => value === code)?.label ?? code ?? 'Something';
}
