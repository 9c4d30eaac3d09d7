import { pauseSeconds } from '../functions/dispatch/pause.ts';

/** A record is tried so long before it goes to the bucket of unread records: half of what the stream keeps. */
const hoursTried = 12;

/** How the dispatcher reads the table's stream; the arithmetic is in docs/scale.md. */
export const streamReading = {
  /** Records in one invocation. */
  batchSize: 100,
  /** Invocations at once for one shard; the records of one item stay in their order. */
  atOncePerShard: 4,
  memoryMb: 1024,
  hoursTried,
  /** An outage waits between retries and ends by age; only a record that fails by itself uses these up. */
  retryAttempts: (hoursTried * 3600) / pauseSeconds,
} as const;
