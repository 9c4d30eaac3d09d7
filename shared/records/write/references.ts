import { mostBatchEntries, mostTransactionConditions, mostTransactionWrites } from '../../base/limits.ts';
import { invalidField, Refusal } from '../../base/refusal.ts';
import { readQuery } from '../../base/schema.ts';
import { isResourceType } from '../../store/index/registry.ts';
import { eachPart } from '../../store/index/value.ts';
import { runSearch } from '../../store/search/run-search.ts';
import { parseSearch } from '../../store/search/search-request.ts';
import { namedReferences, relinked } from '../bundle/entries.ts';
import { readerOf, requireSearchable } from '../read/included.ts';
import type { Context, Located, Write } from './write.ts';

/** What a Bundle may hold, as refusals and `metadata` say it. */
export const bundleLimits = {
  writes: `A transaction changes at most ${mostTransactionWrites} resources`,
  conditions: `A transaction has at most ${mostTransactionConditions} conditional references`,
  entries: `A batch has at most ${mostBatchEntries} entries`,
} as const;

/** Whoever has more than a request may hold is told of the tool that divides it. */
export function tooLargeBundle(limit: keyof typeof bundleLimits): Refusal {
  return new Refusal('too-costly', `${bundleLimits[limit]}: ${importAdvice}`);
}

export const importAdvice = 'npm run import loads Bundles of any size (docs/import.md)';

/** How the entries of a Bundle are known to each other. */
export interface EntryNames {
  /** The fullUrl of each write's entry, in the order of the writes. */
  own: readonly (string | undefined)[];
  /** What entries that were carried out before became, `Type/id` by fullUrl. */
  others?: ReadonlyMap<string, string>;
}

/**
 * R4 transaction, replacing hyperlinks: references to an entry's fullUrl become the id that the entry
 * gets, and conditional references (`Patient?identifier=…`) the one resource they match.
 * @param names undefined for a write of its own, whose references stay as they are
 * @throws {Refusal} invalid for a name that no entry has
 */
export async function resolveReferences(
  context: Context,
  writes: readonly Write[],
  located: readonly Located[],
  names: EntryNames | undefined,
): Promise<Write[]> {
  if (!names) return [...writes];
  const known = new Map(names.others);
  for (const [i, name] of names.own.entries()) {
    if (name) known.set(name, `${writes[i]?.type}/${located[i]?.id}`);
  }
  const bodies = writes.flatMap((write) => ('body' in write ? [write.body] : []));
  const conditions = conditionsIn(bodies);
  if (conditions.size > mostTransactionConditions) throw tooLargeBundle('conditions');
  for (const condition of conditions) known.set(condition, await match(context, condition));
  return writes.map((write) => {
    if (!('body' in write)) return write;
    const body = relinked(write.body, known);
    const issues = namedReferences(body, write.type).map(({ reference, expression }) => ({
      text: `${reference} names no entry that was carried out`,
      expression,
    }));
    if (issues.length > 0) throw new Refusal('invalid', 'A reference leads nowhere', { issues });
    return { ...write, body };
  });
}

function conditionsIn(value: unknown): Set<string> {
  const found = new Set<string>();
  eachPart(value, ({ reference }) => {
    if (typeof reference === 'string' && /^[A-Z][A-Za-z]+\?/.test(reference)) found.add(reference);
  });
  return found;
}

async function match({ services, actor }: Context, condition: string): Promise<string> {
  const [type = '', query = ''] = condition.split(/\?(.*)/s);
  if (!isResourceType(type)) throw invalidField('reference', `${type} is not a resource type`);
  const search = { ...parseSearch(type, readQuery(query), actor.budget), count: 2 };
  requireSearchable(actor, search);
  const { resources } = await runSearch(readerOf(services, actor), search);
  const [one, other] = resources;
  if (one && !other) return `${type}/${one.id}`;
  throw invalidField('reference', `${condition} must match exactly one resource`);
}
