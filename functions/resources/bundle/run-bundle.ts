import type { Caller } from '../../../shared/access/access-token.ts';
import { admit, mayAdminister } from '../../../shared/access/actor.ts';
import { recordAllRefused } from '../../../shared/audit/refused.ts';
import { fieldsOf } from '../../../shared/fields-of.ts';
import { refusalOutcome, refusalStatus } from '../../../shared/http/outcome.ts';
import { mostBatchEntries, mostEntryCharacters, mostTransactionWrites } from '../../../shared/limits.ts';
import { invalidField, Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import { type Bundle, type BundleEntry, charactersOf } from '../read/bundle.ts';
import type { carryOut } from '../write/carry-out.ts';
import { tooLargeBundle } from '../write/too-large-bundle.ts';
import type { Outcome } from '../write/write.ts';
import { inWaves } from './in-order.ts';
import { entryOfOutcome } from './outcome-entry.ts';
import { type Entry, parseEntries } from './parse-entries.ts';
import type { readEntry } from './read-entry.ts';

/** With what carries out each entry: the ways that it has without a Bundle. */
export interface BundleServices extends Services {
  carryOut: typeof carryOut;
  readEntry: typeof readEntry;
}

/** Entries of a batch that run at once: more would only queue for the table. */
const atOnce = 8;
/** A batch begins no entry later: what was begun ends before the function runs out of time. */
const beginsWithinMs = 8000;

/**
 * R4 batch and transaction. A transaction is one write of all its changes; a batch is as many as it
 * has entries, each with an answer of its own, and those that others refer to come first.
 * @param isQuiet its writes wake no Subscription: for administrators
 * @throws {Refusal} invalid, too-costly; for a transaction whatever forbids one of its entries
 */
export async function runBundle(
  services: BundleServices,
  caller: Caller,
  body: unknown,
  isQuiet = false,
): Promise<Bundle> {
  const { type, entry } = fieldsOf(body);
  if (type !== 'batch' && type !== 'transaction') {
    throw invalidField('Bundle.type', 'The type must be batch or transaction');
  }
  if (isQuiet) await requireMayBeQuiet(services, caller);
  const entries = parseEntries(entry ?? [], type).map((one) =>
    isQuiet && one.write ? { ...one, write: { ...one.write, isQuiet } } : one,
  );
  const carryOutAll = type === 'batch' ? batch : transaction;
  const answer = await carryOutAll(services, caller, entries);
  // An empty Bundle, or one whose entries are all malformed, has read nothing yet.
  if (!caller.admission.isGranted) await admit(services, caller, []);
  return answer;
}

/** Whoever reacts to records relies on being told of them. */
async function requireMayBeQuiet(services: Services, caller: Caller): Promise<void> {
  const { actor } = await admit(services, caller, []);
  if (mayAdminister(actor)) return;
  throw new Refusal('forbidden', 'Only administrators write without waking Subscriptions');
}

/** R4: deletes, creates, updates; then what reads. */
async function transaction(
  services: BundleServices,
  caller: Caller,
  entries: readonly Entry[],
): Promise<Bundle> {
  const writes = entries.flatMap((entry) => (entry.write ? [{ entry, write: entry.write }] : []));
  if (writes.length > mostTransactionWrites) {
    throw tooLargeBundle('writes');
  }
  const reads = entries.filter(({ write }) => !write);
  const outcomes = await services.carryOut(
    services,
    caller,
    writes.map(({ write }) => write),
    {
      names: { own: writes.map(({ entry }) => entry.fullUrl) },
      before: (decided) => requireReadable(services, caller, reads, decided),
    },
  );
  const answers = new Map(
    outcomes.map((outcome, i) => [writes[i]?.entry, entryOfOutcome(services.baseUrl, outcome)]),
  );
  const all: BundleEntry[] = [];
  for (const entry of entries) all.push(answers.get(entry) ?? (await runOne(services, caller, entry)).answer);
  return { resourceType: 'Bundle', type: 'transaction-response', entry: fitting(entries, all) };
}

/**
 * A transaction with a read that fails has written nothing: each is tried before the writes, those of
 * what the transaction itself writes by what was decided.
 * @throws {Refusal} that of the first read that would fail
 */
async function requireReadable(
  services: BundleServices,
  caller: Caller,
  reads: readonly Entry[],
  outcomes: readonly Outcome[],
): Promise<void> {
  const written = new Map(outcomes.map((outcome) => [`${outcome.type}/${outcome.id}`, outcome]));
  for (const entry of reads) {
    const outcome = written.get(entry.path.slice(0, 2).join('/'));
    if (!outcome) await services.readEntry(services, caller, entry);
    else if (outcome.kind === 'deleted') throw new Refusal('gone', `${entry.path.join('/')} is deleted here`);
    else if (!outcome.shown) throw new Refusal('forbidden', 'Forbidden');
  }
}

async function batch(services: BundleServices, caller: Caller, entries: readonly Entry[]): Promise<Bundle> {
  if (entries.length > mostBatchEntries) {
    throw tooLargeBundle('entries');
  }
  const untilMs = services.now() + beginsWithinMs;
  const answered = new Map<Entry, BundleEntry>();
  const made = new Map<string, string>();
  const { waves, circular } = inWaves(entries);
  for (const [entry, refusal] of circular) answered.set(entry, refused(refusal));
  for (const wave of waves) {
    // What a wave makes is for the next: in one, nobody refers to another.
    const known = new Map(made);
    const work = wave.values();
    await Promise.all(
      Array.from({ length: Math.min(atOnce, wave.length) }, async () => {
        for (const entry of work) {
          const isInTime = services.now() < untilMs;
          const { answer, became } = isInTime ? await runOne(services, caller, entry, known) : tooLate();
          answered.set(entry, answer);
          if (entry.fullUrl !== undefined && became !== undefined) made.set(entry.fullUrl, became);
        }
      }),
    );
  }
  const answers = entries.map((entry) => answered.get(entry) ?? {});
  await auditRefused(services, caller, entries, answers);
  return { resourceType: 'Bundle', type: 'batch-response', entry: fitting(entries, answers) };
}

/** The batch itself succeeds: what of it was refused, each entry once. */
async function auditRefused(
  services: Services,
  caller: Caller,
  entries: readonly Entry[],
  answers: readonly BundleEntry[],
): Promise<void> {
  const attempts = entries.map(({ method, path: [resourceType, id] }, i) => ({
    method,
    route: 'batch',
    parameters: { resourceType, ...(id === undefined ? {} : { id }) },
    status: Number(answers[i]?.response?.status),
  }));
  await recordAllRefused(services, caller, attempts);
}

/**
 * An entry's refusal is its own; without a login the whole Bundle is refused.
 * @param known what entries before it became, by fullUrl
 * @returns its answer, and what it became
 */
async function runOne(
  services: BundleServices,
  caller: Caller,
  { refusal, write, ...entry }: Entry,
  known?: ReadonlyMap<string, string>,
): Promise<{ answer: BundleEntry; became?: string }> {
  try {
    if (refusal) throw refusal;
    if (!write) return { answer: await services.readEntry(services, caller, entry) };
    services.table.budget.spend('commits', 1);
    const names = { own: [entry.fullUrl], ...(known ? { others: known } : {}) };
    const [outcome] = await services.carryOut(services, caller, [write], { names });
    if (!outcome) return { answer: {} };
    const answer = entryOfOutcome(services.baseUrl, outcome);
    return outcome.kind === 'deleted' ? { answer } : { answer, became: `${outcome.type}/${outcome.id}` };
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind === 'unauthorized') throw error;
    return { answer: refused(error) };
  }
}

function tooLate(): { answer: BundleEntry; became?: string } {
  const text = 'The batch took too long: this entry was not begun. Send it again';
  return { answer: refused(new Refusal('unavailable', text)) };
}

/** Beyond what an answer may hold a write is answered without its resource, a read is refused. */
function fitting(entries: readonly Entry[], answers: readonly BundleEntry[]): BundleEntry[] {
  let characters = 0;
  return answers.map((answer, i) => {
    characters += charactersOf(answer);
    if (characters <= mostEntryCharacters) return answer;
    const { resource: _left, ...rest } = answer;
    return entries[i]?.write
      ? rest
      : refused(new Refusal('too-large', 'The answer of the Bundle is too long'));
  });
}

function refused(refusal: Refusal): BundleEntry {
  const outcome = refusalOutcome(refusal);
  return { response: { status: String(refusalStatus(refusal.kind)), outcome }, resource: outcome };
}
