import type { AccessLog, Log } from '../base/log.ts';
import { Recent } from '../base/recent.ts';
import type { Disclosure } from './disclosure.ts';
import type { DataKeys } from './keys/data-keys.ts';
import type { KeyRing } from './keys/key-ring.ts';
import type { ComesThroughFront } from './keys/origin-secret.ts';
import type { PublicKeys } from './keys/signing-keys.ts';
import type { Shares } from './shares.ts';
import type { Key } from './table/keys.ts';
import type { Table } from './table/table.ts';

/** What every operation is given; whatever is not here, an operation cannot reach. */
export interface Services {
  table: Table;
  publicKeys: PublicKeys;
  /** Hints from earlier requests of this process; each is checked against what is read. */
  memory: Memory;
  log: Log;
  /** Where the record of who looked at what goes. */
  accessLog: AccessLog;
  /** Encrypts where a request came from for the access log; left out, it has no address. */
  sealSource?: (source: string) => string;
  /** Of a stage with a front of its own. */
  comesThroughFront?: ComesThroughFront;
  /** Proxies of the stage's own before API Gateway. */
  trustedHops?: number;
  /** What Projects and sources have of the function; left out, as much as they want. */
  shares?: Shares;
  /** Of the request that is served, if one is. */
  disclosure?: Disclosure;
  /** Only in the functions under fhir/R4, which alone take run tokens. */
  runTokenKeys?: KeyRing;
  /** Only where Subscriptions are written. */
  subscriptions?: SubscriptionRules;
  /** Of the request that is served, if one is. */
  traceId?: string;
  /** Where the API is reached, without a closing slash: issuer and audience of its tokens. */
  baseUrl: string;
  /** Ms since the epoch. */
  now(): number;
  newId(): string;
}

export interface SubscriptionRules {
  /** Seals what a Subscription sends along. */
  dataKeys(): Promise<DataKeys>;
  /** Whether hooks may be on this machine: on a laptop, when its owner says so. */
  allowsLoopback: boolean;
}

/** What an earlier request found out: keys that its token does not name, and that the token is good. */
export interface Memory {
  /** By the hash of an access token that was good: when it ends, in seconds since the epoch. */
  tokens: Recent<number>;
  /** By membership id: the policies that the membership named. */
  policies: Recent<readonly Key[]>;
  /** By membership id: when it was last found that they may call, ms since the epoch. */
  admitted: Recent<number>;
  /** By membership id of administrators who invited: when, ms since the epoch. */
  inviters: Recent<number>;
  /** By source and stretch of time: how many addresses have failed to sign in from there. */
  failedFrom: Recent<number>;
  /** By membership id: the name that it shows. */
  names: Recent<string>;
}

export function emptyMemory(): Memory {
  return {
    tokens: new Recent(1_000),
    policies: new Recent(10_000),
    admitted: new Recent(10_000),
    inviters: new Recent(1_000),
    failedFrom: new Recent(1_000),
    names: new Recent(10_000),
  };
}
