import type { DataKeys } from '../keys/data-keys.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { Recent } from '../recent.ts';
import type { Services } from '../services.ts';
import type { DeployedCode } from './bot-item.ts';
import type { StageBounds } from './bounds/place.ts';
import type { Compiler, Invoker } from './invoker.ts';
import type { JobStarter } from './job/job-starter.ts';

export interface InvokerServices extends Services {
  invoker: Invoker;
}

export interface DeployServices extends InvokerServices {
  invoker: Invoker & Compiler;
}

export interface ExecuteServices extends InvokerServices, StageBounds {
  runTokenKeys: KeyRing;
  /** Opens the secrets of Bots. */
  dataKeys(): Promise<DataKeys>;
  botMemory: BotMemory;
  /** For callers who do not wait. */
  jobs: JobStarter;
}

/** What a run is asked for with. */
export interface ExecuteRequest {
  contentType: string | undefined;
  body: Buffer | undefined;
  headers: Record<string, string | undefined>;
  traceId: string;
  /** The caller does not wait for the run (`Prefer: respond-async`). */
  isAsync?: boolean;
  /** By which its caller may cancel it while it goes on. */
  runKey?: string;
  /** Runs with one key, of one caller on one route, are one run. */
  idempotencyKey?: string;
}

/** Hints from earlier runs of this process, each verified before it is used. */
export interface BotMemory {
  /** Bot ids by the key of their identifier. */
  ids: Recent<string>;
  /** Membership ids by the key of their Bot. */
  memberships: Recent<string>;
  /** Code by its key: immutable, so never stale. */
  code: Recent<DeployedCode>;
  /** Opened data keys by their wrapped form. */
  dataKeys: Recent<Uint8Array>;
  /** The notes that this process has written of days on which Bots have runs. */
  runDays: Recent<true>;
}

export function emptyBotMemory(): BotMemory {
  return {
    ids: new Recent(10_000),
    memberships: new Recent(10_000),
    code: new Recent(64),
    dataKeys: new Recent(1_000),
    runDays: new Recent(10_000),
  };
}
