import { Refusal } from '../../../shared/refusal.ts';
import { linksIn } from './links.ts';
import type { Entry } from './parse-entries.ts';

/**
 * The entries of a batch in waves: each refers only to what earlier waves make. Entries that refer to each
 * other in a circle come with the reason why none of them can be carried out.
 */
export function inWaves(entries: readonly Entry[]): { waves: Entry[][]; circular: Map<Entry, Refusal> } {
  const named = new Map(
    entries.flatMap((entry) => (entry.write && entry.fullUrl ? [[entry.fullUrl, entry]] : [])),
  );
  const needs = new Map(entries.map((entry) => [entry, neededBy(entry, named)]));
  const waves: Entry[][] = [];
  const placed = new Set<Entry>();
  let left: readonly Entry[] = entries;
  while (left.length > 0) {
    const wave = left.filter((entry) => needs.get(entry)?.every((one) => placed.has(one)) ?? true);
    if (wave.length === 0) break;
    for (const entry of wave) placed.add(entry);
    waves.push(wave);
    left = left.filter((entry) => !placed.has(entry));
  }
  return { waves, circular: new Map(left.map((entry) => [entry, circle()])) };
}

/** An entry that names itself needs no other. */
function neededBy(entry: Entry, named: ReadonlyMap<string, Entry>): Entry[] {
  if (!entry.write || !('body' in entry.write) || named.size === 0) return [];
  return [...linksIn(entry.write.body)]
    .flatMap((link) => named.get(link) ?? [])
    .filter((other) => other !== entry);
}

function circle(): Refusal {
  const text = 'The entry and others refer to each other, or to such: send them as a transaction';
  return new Refusal('invalid', text);
}
