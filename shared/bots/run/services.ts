import { Recent } from '../../base/recent.ts';
import { Refusal } from '../../base/refusal.ts';
import type { DataKeys } from '../../carry/keys/data-keys.ts';
import type { KeyRing } from '../../carry/keys/key-ring.ts';
import type { Services } from '../../carry/services.ts';
import type { DeployedCode } from '../bot/bot.ts';
import type { StageBounds } from './bounds.ts';
import type { Compiled, CompileRequest, RunRequest, RunResult } from './contract.ts';

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

/** The sandboxed function, which runs Bots. */
export interface Invoker {
  /** @throws {Refusal} too-large when the run does not fit Lambda's payload */
  invoke(request: RunRequest): Promise<Invoked<RunResult>>;
}

/** The same function, which compiles their code as well. */
export interface Compiler {
  /** @throws {Refusal} too-large */
  compile(request: CompileRequest): Promise<Invoked<Compiled>>;
}

export type Invoked<Result = RunResult> =
  | { kind: 'result'; result: Result }
  /** Refused before it started: safe to repeat. */
  | { kind: 'throttled' }
  /** The sandbox itself does not come up, which its own log explains. Nothing has run. */
  | { kind: 'not-started' }
  /** It may have run: the connection was lost, or the invoker died. */
  | { kind: 'unknown'; reason: string };

/** Nothing has run. The invoker's own log says why, and an alarm has gone off. */
export function sandboxDown(): Refusal {
  return new Refusal('not-started', 'The sandbox could not start: nothing was run', {
    retryAfterSeconds: 60,
  });
}

/** What the `jobs` function is told; everything else it reads. */
export interface JobEvent {
  project: string;
  jobId: string;
}

export interface JobStarter {
  /** `refused`: certainly not started. Whether it was is otherwise seen at the job. */
  start(event: JobEvent): Promise<'started' | 'refused'>;
}
