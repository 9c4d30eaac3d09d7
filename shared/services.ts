import type { Memory } from './auth/memory.ts';
import type { PublicKeys } from './auth/public-keys.ts';
import type { StageSecret } from './auth/signer.ts';
import type { Log } from './log.ts';
import type { Table } from './table/table.ts';

/** What every operation is given; whatever is not here, an operation cannot reach. */
export interface Services {
  table: Table;
  publicKeys: PublicKeys;
  /** Hints from earlier requests of this process; each is checked against what is read. */
  memory: Memory;
  log: Log;
  /** Only in the functions under fhir/R4, which alone take run tokens. */
  runSecret?: () => Promise<StageSecret>;
  /** Where the API is reached, without a closing slash: issuer and audience of its tokens. */
  baseUrl: string;
  /** Ms since the epoch. */
  now(): number;
  newId(): string;
}
