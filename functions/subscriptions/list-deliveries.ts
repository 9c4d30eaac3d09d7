import type { Caller } from '../../shared/access/access-token.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { invalidField } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { readCursor, sortKeyBetween, writeCursor } from '../../shared/store/cursor.ts';
import { type Positioned, takePage } from '../../shared/store/page.ts';
import { readTimed } from '../../shared/store/timed-list.ts';
import { attemptOf } from '../../shared/subscription/attempt.ts';
import { keys } from '../../shared/table/keys.ts';
import { requireSubscription } from './require-subscription.ts';

/** R4 Bundle of AuditEvents, one an attempt. */
export interface Deliveries {
  resourceType: 'Bundle';
  type: 'searchset';
  entry: { resource: Resource }[];
  link: { relation: 'next'; url: string }[];
}

/** R4 audit-event-outcome by word. */
const outcomes: Readonly<Record<string, string>> = { success: '0', failure: '4', unknown: '8' };
const known = new Set(['_count', '_cursor', 'outcome']);
const usualCount = 20;
const mostCount = 100;

/**
 * The attempts to deliver of a Subscription, newest first.
 * @param query `outcome`, `_count`, `_cursor`
 * @throws {Refusal} forbidden, not-found, invalid
 */
export async function listDeliveries(
  services: Services,
  caller: Caller<'administrator'>,
  { id, query }: { id: string; query: URLSearchParams },
): Promise<Deliveries> {
  await requireSubscription(services, caller, id);
  const { project } = caller;
  const { count, outcome } = parse(query);
  const path = `Subscription/${id}/$deliveries`;
  const listing = { project, name: `${path}?${outcome ?? ''}` };
  const after = readCursor(listing, query.get('_cursor') ?? undefined, sortKeyBetween('0', '~'));
  const page = await takePage(attempts(services, project, id, { count, outcome, after }), {
    count,
    sizeOf: (attempt) => JSON.stringify(attempt).length,
  });
  const next = new URLSearchParams(query);
  if (page.next !== undefined) next.set('_cursor', writeCursor(listing, page.next));
  return {
    ...{ resourceType: 'Bundle', type: 'searchset' },
    entry: page.values.map((resource) => ({ resource })),
    link:
      page.next === undefined
        ? []
        : [{ relation: 'next', url: `${services.baseUrl}/fhir/R4/${path}?${next}` }],
  };
}

async function* attempts(
  { table }: Services,
  project: string,
  id: string,
  { count, outcome, after }: { count: number; outcome: string | undefined; after: string | undefined },
): AsyncGenerator<Positioned<Resource, string>> {
  const list = { pk: keys.attempt(project, id, '').pk };
  for await (const item of readTimed(table, [list], { newestFirst: true, after, most: count + 1 })) {
    const attempt = attemptOf(item);
    const isWanted = outcome === undefined || attempt.outcome === outcome;
    yield { position: item.sk, value: isWanted ? attempt : undefined };
  }
}

function parse(query: URLSearchParams): { count: number; outcome: string | undefined } {
  for (const name of query.keys()) {
    if (!known.has(name)) throw invalidField(name, `Unknown parameter ${name} of $deliveries`);
  }
  const text = query.get('_count') ?? String(usualCount);
  if (!/^[1-9]\d{0,8}$/.test(text)) throw invalidField('_count', '_count must be a positive whole number');
  const word = query.get('outcome');
  const outcome = word === null ? undefined : Object.hasOwn(outcomes, word) ? outcomes[word] : word;
  if (outcome !== undefined && !Object.values(outcomes).includes(outcome)) {
    throw invalidField('outcome', 'outcome must be success, failure or unknown');
  }
  return { count: Math.min(Number(text), mostCount), outcome };
}
