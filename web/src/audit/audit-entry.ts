import type { AuditEvent, Reference } from '@medplum/fhirtypes';
import { isKeyOf } from '../../../shared/base/values.ts';
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
export const deeds = {
  '': 'Everything',
  'sign-in': 'Signed in',
  reauthenticate: 'Signed in once more',
  'sign-out': 'Signed out',
  'sign-out-idle': 'Was signed out: nothing was done',
  'sign-out-reuse': 'Was signed out: a code or token came again, perhaps stolen',
  'revoke-login': 'Ended a session',
  refused: 'Was refused',
  invite: 'Invited',
  accept: 'Accepted an invitation',
  'resend-invitation': 'Sent an invitation again',
  'revoke-invitation': 'Revoked an invitation',
  'mail-bounced': 'An invitation came back',
  'mail-complained': 'An invitation was unwanted',
  'change-member': 'Changed a member',
  'view-as': 'Looked with a member’s eyes',
  'remove-member': 'Removed a member',
  'emergency-access': 'Took emergency access',
  'end-emergency-access': 'Ended emergency access',
  'set-password': 'Set the password of a member',
  'change-password': 'Changed their password',
  'reset-password': 'Chose another password by a mailed link',
  'change-address': 'Changed their e-mail address',
  'undo-address': 'Took their earlier e-mail address back',
  'change-user': 'Changed their own name',
  'enrol-second-factor': 'Added a second factor',
  'disable-second-factor': 'Took the second factor away',
  'renew-recovery-codes': 'Made new recovery codes',
  'use-recovery-code': 'Signed in with a recovery code',
  'create-client': 'Created an API key',
  'rotate-secret': 'Gave an API key a new secret',
  'change-client': 'Changed how an API key signs in',
  'change-project': 'Changed the project',
  'add-issuer': 'Added an external sign-in',
  'remove-issuer': 'Removed an external sign-in',
  'create-bot': 'Created a Bot',
  deploy: 'Deployed a Bot',
  rollback: 'Rolled a Bot back',
  'change-secrets': 'Changed secrets',
  looked: 'Looked at records',
  execute: 'Executed a Bot',
  redeliver: 'Had a delivery made again',
  resend: 'Had a record sent again',
  'change-fetch-hosts': 'Changed the hosts that Bots may call',
  created: 'Created a record',
  updated: 'Changed a record',
  deleted: 'Deleted a record',
  transaction: 'Wrote several records',
  'begin-export': 'Began an export',
  'fetch-export': 'Fetched a file of an export',
  'end-export': 'Had an export end',
  'cancel-export': 'Cancelled an export',
  provision: 'Set the project up',
};

export function deedOf(code = 'Something'): string {
  return isKeyOf(deeds, code) ? deeds[code] : code;
}
