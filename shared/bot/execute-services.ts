import { Recent } from '../auth/memory.ts';
import type { Services } from '../services.ts';
import type { BotCode } from './contract.ts';
import type { Invoker } from './invoker.ts';

export interface ExecuteServices extends Services {
  invoker: Invoker;
  botMemory: BotMemory;
}

/** Hints from earlier runs of this process, each verified before it is used. */
export interface BotMemory {
  /** Bot ids by the key of their identifier. */
  ids: Recent<string>;
  /** Membership ids by the key of their Bot. */
  memberships: Recent<string>;
  /** Code by its key: immutable, so never stale. */
  code: Recent<BotCode>;
}

export function emptyBotMemory(): BotMemory {
  return { ids: new Recent(10_000), memberships: new Recent(10_000), code: new Recent(64) };
}
