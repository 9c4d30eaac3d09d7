import { isResourceType } from '../../../shared/index/registry.ts';
import { invalidField, Refusal } from '../../../shared/refusal.ts';
import { runSearch } from '../../../shared/search/run-search.ts';
import { parseSearch } from '../../../shared/search/search-request.ts';
import { readerOf, requireSearchable } from '../read/reader.ts';
import type { Sent } from './parse-resource.ts';
import type { Context, Located, Write } from './write.ts';

/** Each is a search. */
const mostConditions = 100;

/**
 * R4 transaction, replacing hyperlinks: references to an entry's fullUrl become the id that the entry
 * gets, and conditional references (`Patient?identifier=…`) the one resource they match.
 * @param names the fullUrl of each write's entry
 */
export async function resolveReferences(
  context: Context,
  writes: readonly Write[],
  located: readonly Located[],
  names: readonly (string | undefined)[],
): Promise<Write[]> {
  if (names.length === 0) return [...writes];
  const known = new Map<string, string>();
  for (const [i, name] of names.entries()) {
    if (name) known.set(name, `${writes[i]?.type}/${located[i]?.id}`);
  }
  const bodies = writes.flatMap((write) => ('body' in write ? [write.body] : []));
  const conditions = conditionsIn(bodies);
  if (conditions.size > mostConditions) {
    throw new Refusal('too-costly', `A transaction has at most ${mostConditions} conditional references`);
  }
  for (const condition of conditions) known.set(condition, await match(context, condition));
  return writes.map((write) =>
    'body' in write ? { ...write, body: replace(write.body, known) as Sent } : write,
  );
}

function conditionsIn(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) return found;
  const { reference } = value as { reference?: unknown };
  if (typeof reference === 'string' && /^[A-Z][A-Za-z]+\?/.test(reference)) found.add(reference);
  for (const part of Object.values(value)) conditionsIn(part, found);
  return found;
}

async function match({ services, actor }: Context, condition: string): Promise<string> {
  const [type = '', query = ''] = condition.split(/\?(.*)/s);
  if (!isResourceType(type)) throw invalidField('reference', `${type} is not a resource type`);
  const search = { ...parseSearch(type, new URLSearchParams(query)), count: 2 };
  requireSearchable(actor, search);
  const { resources } = await runSearch(readerOf(services, actor), search);
  const [one, other] = resources;
  if (one && !other) return `${type}/${one.id}`;
  throw invalidField('reference', `${condition} must match exactly one resource`);
}

/** In references and other URLs alike; a fullUrl with a fragment keeps it. */
function replace(value: unknown, known: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return known.get(value) ?? value;
  if (Array.isArray(value)) return value.map((part) => replace(part, known));
  if (typeof value !== 'object' || value === null || Object.hasOwn(value, 'rawJSON')) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      linking.has(name) || isHolder(part) ? replace(part, known) : part,
    ]),
  );
}

/** Elements that link to other resources. */
const linking = new Set([
  'reference',
  'url',
  'uri',
  'valueUri',
  'valueUrl',
  'valueCanonical',
  'instantiatesUri',
]);

function isHolder(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
