import type { Item } from '../../shared/table/item.ts';
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
  /** Id and name of each that was stopped. */
  projects: string[];
  /** Exports of Projects, going on or ready. */
  exportsDropped: number;
  /** Deliveries that waited then and have ended since. */
  deliveriesEnded: number;
  /** Deliveries that wait until their Project goes on. */
  deliveriesWaiting: number;
  /**
   * Passwords, second factors, secrets of clients and Bots, issuers and who they vouch for: what was changed since, by
   * what it was changed to.
   */
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
  /** The moment to which the table was put back, in ms since the epoch. */
  atMs: number;
  now(): number;
  newId(): string;
}

/** What is done with an item; once more does no harm. */
export type Step = (recovery: Recovery, item: Item, prepared: Prepared) => Promise<void>;
