import type { Key } from '../../shared/table/keys.ts';
import type { ScannedPage } from '../../shared/table/scan-page.ts';
import type { Table } from '../../shared/table/table.ts';

/** What was done to a restored table, and what somebody is to look at. */
export interface Prepared {
  items: number;
  /** Sign-ins of people and programs. */
  loginsEnded: number;
  /** Links of invitations: administrators send new ones. */
  invitationsEnded: number;
  /** Mails that waited then. */
  mailsDropped: number;
  projectsPaused: number;
  /** Passwords, second factors and clients' secrets that were changed since, by what they were changed to. */
  credentialsKept: number;
  /** Memberships that were removed or set inactive since. */
  membershipsEnded: number;
  /** What was taken back since and could not be again. */
  open: string[];
}

export interface Recovery {
  /** The restored table, which nobody uses yet. */
  table: Table;
  scan(from: Key | undefined): Promise<ScannedPage>;
  /** The table as it was lost, where it can still be read: what was taken back since then is taken back again. */
  lost: Table | undefined;
  now(): number;
  newId(): string;
}
