import { dispatchPauseSeconds } from '../shared/base/limits.ts';
import { fieldsOf } from '../shared/base/values.ts';

/**
 * The single table as data: CDK creates it on AWS, `infra/local` on a laptop.
 * One composite key, no secondary index: whatever is looked up has an item of its own.
 */
export const tableDefinition = {
  partitionKey: { name: 'pk', type: 'S' },
  sortKey: { name: 'sk', type: 'S' },
  billingMode: 'PAY_PER_REQUEST',
  stream: 'NEW_AND_OLD_IMAGES',
  /** Seconds since the epoch. Swept late or, on a laptop, never: readers skip what has expired. */
  ttlAttribute: 'ttl',
} as const;

type Rule = string | { prefix: string } | { exists: true };
export interface Pattern {
  readonly [name: string]: Pattern | readonly Rule[];
}

const written = ['INSERT', 'MODIFY'];

/**
 * What of the table's stream the dispatcher is given, as Lambda event filter patterns: the writes of outbox
 * items, of the heads of resources, of audit entries, and of records of runs that the bus is to tell of.
 */
export const streamFilters: Readonly<Record<string, Pattern>> = {
  outboxWrites: { eventName: written, dynamodb: { Keys: { pk: { S: [{ prefix: 'OUTBOX#' }] } } } },
  resourceHeads: {
    eventName: written,
    dynamodb: { Keys: { sk: { S: ['HEAD'] } }, NewImage: { lastUpdated: { S: [{ exists: true }] } } },
  },
  toldRuns: { eventName: ['INSERT'], dynamodb: { NewImage: { executed: { S: [{ exists: true }] } } } },
  untidyHeads: { eventName: written, dynamodb: { NewImage: { untidy: { BOOL: [{ exists: true }] } } } },
};

/** Whether a record matches, by those rules of Lambda's event filtering that are used above. */
export function matchesPattern(pattern: Pattern, value: unknown): boolean {
  return Object.entries(pattern).every(([name, expected]) => {
    const found = fieldsOf(value)[name];
    return areRules(expected)
      ? expected.some((rule) => matchesRule(rule, found))
      : matchesPattern(expected, found);
  });
}

function areRules(expected: Pattern | readonly Rule[]): expected is readonly Rule[] {
  return Array.isArray(expected);
}

function matchesRule(rule: Rule, value: unknown): boolean {
  if (typeof rule === 'string') return value === rule;
  return 'prefix' in rule ? typeof value === 'string' && value.startsWith(rule.prefix) : value !== undefined;
}

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
  retryAttempts: (hoursTried * 3600) / dispatchPauseSeconds,
} as const;
