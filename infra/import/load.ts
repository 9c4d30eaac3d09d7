import { stringifyJson } from '../../shared/base/json.ts';
import { fieldsOf } from '../../shared/base/values.ts';
import { type ImportAnswer, matchesOf, presentOf, sendBatch } from './calls.ts';
import { type Catalogue, conditionOf, knownOf, refusalOf, rewriteReferences } from './catalogue.ts';
import type { Destination } from './connect.ts';
import { type Entry, isReadable, readEntries } from './read-entries.ts';
import type { Report } from './report.ts';

/** An entry as it will be sent: it creates a resource under this id if there is none. */
interface Ready {
  entry: Entry;
  /** `Type/id` */
  reference: string;
  /** JSON of an entry of a batch. */
  text: string;
}

const mostEntries = 100;
/** A quarter of what a request may hold: as many values as the service works on at once. */
const mostCharacters = 1_000_000;
/** Requests on their way. */
const atOnce = 3;

type Sender = ReturnType<typeof startSender>;

/** Sends entries as batches, several at once. */
export function startSender({ portico, headers }: Destination, report: Report) {
  /** The service may have what comes next: it is asked before anything is written. */
  let asks = true;
  const lanes = new Set<Promise<void>>();
  const failures: unknown[] = [];
  let piece: Ready[] = [];
  let characters = 0;

  async function sendPiece(full: readonly Ready[]): Promise<void> {
    const names = full.map(({ reference }) => reference);
    const present = asks ? await presentOf(portico, names) : new Set<string>();
    asks = present.size > 0;
    const missing = full.filter(({ reference }) => !present.has(reference));
    for (let there = full.length - missing.length; there > 0; there -= 1) report.count('present');
    await write(missing);
  }

  /** What one request cannot do is done in halves. */
  async function write(some: readonly Ready[]): Promise<void> {
    if (some.length === 0) return;
    const texts = some.map(({ text }) => text);
    const answers = await sendBatch(portico, texts, headers);
    const left: Ready[] = [];
    for (const [at, ready] of some.entries()) {
      const answer = answers ? answers[at] : tooMuch;
      const isUndone =
        !answer || answer.status >= 500 || answer.status === 429 || answer.code === 'too-costly';
      if (isUndone && some.length > 1) left.push(ready);
      else if (answer?.status === 201 || answer?.status === 200) report.count('created');
      else if (answer?.status === 412) {
        asks = true;
        report.count('present');
      } else await report.refused(ready.entry, answer?.status, answer?.text ?? 'No answer');
    }
    const half = Math.ceil(left.length / 2);
    await write(left.slice(0, half));
    await write(left.slice(half));
  }

  async function flush(): Promise<void> {
    const full = piece;
    [piece, characters] = [[], 0];
    if (full.length === 0) return;
    const lane = sendPiece(full)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => lanes.delete(lane));
    lanes.add(lane);
    if (lanes.size >= atOnce) await Promise.race(lanes);
    if (failures.length > 0) throw failures[0];
  }

  return {
    /** Takes one more; waits while too much is on its way. @throws {Error} the service stayed away */
    async send(ready: Ready): Promise<void> {
      if (piece.length === mostEntries || characters + ready.text.length > mostCharacters) await flush();
      piece.push(ready);
      characters += ready.text.length;
    },
    /** Resolves when everything was answered. @throws {Error} the service stayed away */
    async end(): Promise<void> {
      await flush();
      await Promise.all(lanes);
      if (failures.length > 0) throw failures[0];
    },
  };
}

const tooMuch: ImportAnswer = {
  status: 413,
  resource: undefined,
  text: 'Larger, or costlier, than one request may be',
  code: 'too-costly',
};

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
  const id = reference.slice(reference.indexOf('/') + 1);
  const request = JSON.stringify({ method: 'PUT', url: reference, ifNoneMatch: '*' });
  const text = `{"request":${request},"resource":${stringifyJson({ ...resource, id })}}`;
  await sender.send({ entry, reference, text });
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
