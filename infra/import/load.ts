import { stringifyJson } from '../../shared/fhir/json.ts';
import { fieldsOf } from '../../shared/fields-of.ts';
import { type Catalogue, conditionOf, knownOf, refusalOf } from './catalogue.ts';
import type { Destination } from './connect.ts';
import { matchesOf } from './look-up.ts';
import { type Entry, isReadable, readEntries } from './read-entries.ts';
import type { Report } from './report.ts';
import { rewriteReferences } from './rewrite-references.ts';
import { type Ready, type Sender, startSender } from './send-pieces.ts';

interface Load {
  dataSet: string;
  files: readonly string[];
  all: Catalogue;
  destination: Destination;
  report: Report;
}

/** What the service has, by the condition that it meets. */
type Found = Map<string, string>;

/** Loads every entry of the files that the catalogue was made of. @throws {Error} the service stayed away */
export async function load(job: Load): Promise<void> {
  const { all, destination } = job;
  const found: Found = await matchesOf(destination.portico, [...all.conditions.keys()]);
  for (const [condition, known] of all.conditions) known.reference = found.get(condition) ?? known.reference;
  const waiting = await pass(job, found, undefined);
  // What they ask for may have been loaded meanwhile.
  if (waiting.size > 0) await pass(job, found, waiting);
}

/**
 * Goes through all files once.
 * @param only positions of the entries to load; all of them, and those that have to wait are left, when undefined
 * @returns positions of entries whose conditional references matched nothing yet
 */
async function pass(job: Load, found: Found, only: ReadonlySet<number> | undefined): Promise<Set<number>> {
  const { all, dataSet, files, destination, report } = job;
  const sender = startSender(destination, report);
  const waiting = new Set<number>();
  let position = 0;
  for (const file of files) {
    for await (const entry of readEntries(file)) {
      position += 1;
      if (only && !only.has(position)) continue;
      const reason = refusalOf(dataSet, all, entry);
      if (reason !== undefined || !isReadable(entry)) {
        await report.refused(entry, undefined, reason ?? 'Not an entry');
        continue;
      }
      const unmet = await loadOne(job, sender, found, entry);
      if (unmet?.includes('?') && !only) waiting.add(position);
      else if (unmet) await report.refused(entry, undefined, `The reference ${unmet} leads nowhere`);
    }
  }
  await sender.end();
  return waiting;
}

/** @returns the reference for want of which it was not sent */
async function loadOne(
  { all, dataSet, destination, report }: Load,
  sender: Sender,
  found: Found,
  entry: Entry,
): Promise<string | undefined> {
  const reference = knownOf(dataSet, entry)?.reference ?? '';
  const condition = conditionOf(entry);
  if (condition !== undefined && all.conditions.get(condition)?.reference !== reference) {
    report.count('present');
    return undefined;
  }
  const { resource, missed } = await linked(entry, all, found, destination);
  const unmet = missed.find((name) => /^urn:|^[A-Za-z]+\?/.test(name));
  if (unmet !== undefined) return unmet;
  for (const _ of missed) report.count('missed');
  await sender.send(readyOf(entry, reference, resource));
  return undefined;
}

/** Its resource with the references of the service; the service is asked for what a condition means. */
async function linked(
  { resource }: Entry,
  { names, conditions }: Catalogue,
  found: Found,
  { portico }: Destination,
): Promise<{ resource: object; missed: string[] }> {
  const resolve = (name: string) => (names.get(name) ?? conditions.get(name))?.reference ?? found.get(name);
  const rewrite = () => rewriteReferences(fieldsOf(resource), resolve);
  const first = rewrite();
  const asked = new Set(first.missed.filter((name) => /^[A-Za-z]+\?/.test(name)));
  if (asked.size === 0) return first;
  for (const [condition, reference] of await matchesOf(portico, [...asked])) found.set(condition, reference);
  return rewrite();
}

function readyOf(entry: Entry, reference: string, resource: object): Ready {
  const id = reference.slice(reference.indexOf('/') + 1);
  const request = JSON.stringify({ method: 'PUT', url: reference, ifNoneMatch: '*' });
  return {
    entry,
    reference,
    text: `{"request":${request},"resource":${stringifyJson({ ...resource, id })}}`,
  };
}
