import { fieldsOf } from '../shared/fields-of.ts';

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
