import { inParallel } from '../../base/in-parallel.ts';
import { jsonBytes } from '../../base/json.ts';
import { mostBatchEntries, mostEntryBytes, mostTransactionWrites } from '../../base/limits.ts';
import { invalidField, Refusal } from '../../base/refusal.ts';
import { readQuery } from '../../base/schema.ts';
import { fieldsOf } from '../../base/values.ts';
import { asRefusal, failureOf } from '../../carry/http/errors.ts';
import { allOk, refusalOutcome, refusalStatus } from '../../carry/http/response.ts';
import type { Services } from '../../carry/services.ts';
import { recordRefused } from '../../identity/audit/record.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { admit, mayAdminister } from '../../identity/gate/actor.ts';
import { givesNothing } from '../../identity/policies/bounds.ts';
import { isResourceType } from '../../store/index/registry.ts';
import { type Bundle, type BundleEntry, stateOf } from '../read/bundle.ts';
import { readEverything } from '../read/everything.ts';
import { readHistory } from '../read/history.ts';
import { isHad, readResource } from '../read/read-resource.ts';
import { searchResources } from '../read/search.ts';
import type { carryOut } from '../write/carry-out.ts';
import { tooLargeBundle } from '../write/references.ts';
import type { WriteOutcome } from '../write/write.ts';
import { type BundledRequest, inWaves, parseEntries } from './entries.ts';

/** Statuses of R4 http by what became of the write. */
export const outcomeStatus = { created: 201, updated: 200, deleted: 200, unchanged: 200 } as const;

/** Where the state that a write made is read. */
export function locationOf(baseUrl: string, { type, id, resource }: WriteOutcome): string {
  const version = resource ? `/_history/${resource.meta.versionId}` : '';
  return `${baseUrl}/fhir/R4/${type}/${id}${version}`;
}

function entryOfOutcome(baseUrl: string, outcome: WriteOutcome): BundleEntry {
  const { kind, type, id, resource, shown } = outcome;
  const status = String(outcomeStatus[kind]);
  if (!resource) return { response: { status, outcome: allOk() } };
  return {
    fullUrl: `${baseUrl}/fhir/R4/${type}/${id}`,
    ...(shown ? { resource: shown } : {}),
    response: { status, location: locationOf(baseUrl, outcome), ...stateOf(resource.meta) },
  };
}

/** With what carries out each entry: the ways that it has without a Bundle. */
export interface BundleServices extends Services {
  carryOut: typeof carryOut;
  readEntry: typeof readEntry;
}

/** Entries of a batch that run at once: more would only queue for the table. */
const atOnce = 8;
/** Units that a batch has for each of its changes, where that is more than a request has: 4 ms of CPU. */
const changeUnits = 50;
/** A batch begins no entry later: what was begun ends before the function runs out of time, and all is answered. */
const beginsWithinMs = 20_000;

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
  // Whoever reacts to records relies on being told of them.
  if (isQuiet && !mayAdminister((await admit(services, caller, [])).actor))
    throw new Refusal('forbidden', 'Only administrators write without waking Subscriptions');
  const entries = parseEntries(entry ?? [], type).map((one) =>
    isQuiet && one.write ? { ...one, write: { ...one.write, isQuiet } } : one,
  );
  // Each entry that writes asks again.
  givesNothing(caller);
  const carryOutAll = type === 'batch' ? batch : transaction;
  const answer = await carryOutAll(services, caller, entries);
  // No entry was let in, or none asked: then nothing was done, and the whole is refused.
  if (!caller.admission.isGranted) await admit(services, caller, []);
  return answer;
}

/** R4: deletes, creates, updates; then what reads. */
async function transaction(
  services: BundleServices,
  caller: Caller,
  entries: readonly BundledRequest[],
): Promise<Bundle> {
  const writes = entries.flatMap((entry) => (entry.write ? [{ entry, write: entry.write }] : []));
  if (writes.length > mostTransactionWrites) throw tooLargeBundle('writes');
  const reads = entries.filter(({ write }) => !write);
  const changes = writes.map(({ write }) => write);
  const names = { own: writes.map(({ entry }) => entry.fullUrl) };
  const before = (decided: readonly WriteOutcome[]) => requireReadable(services, caller, reads, decided);
  const outcomes = await services.carryOut(services, caller, changes, { names, before });
  const answers = new Map(
    outcomes.map((outcome, i) => [writes[i]?.entry, entryOfOutcome(services.baseUrl, outcome)]),
  );
  const room = answerRoom();
  const all: BundleEntry[] = [];
  for (const entry of entries) {
    const answer = answers.get(entry) ?? (room.isFull ? {} : (await runOne(services, caller, entry)).answer);
    all.push(room.fit(entry, answer));
  }
  return { resourceType: 'Bundle', type: 'transaction-response', entry: all };
}

/**
 * A transaction with a read that fails has written nothing: each is tried before the writes, those of
 * what the transaction itself writes by what was decided.
 * @throws {Refusal} that of the first read that would fail
 */
async function requireReadable(
  services: BundleServices,
  caller: Caller,
  reads: readonly BundledRequest[],
  outcomes: readonly WriteOutcome[],
): Promise<void> {
  const written = new Map(outcomes.map((outcome) => [`${outcome.type}/${outcome.id}`, outcome]));
  for (const entry of reads) {
    const outcome = written.get(entry.path.slice(0, 2).join('/'));
    if (!outcome) await services.readEntry(services, caller, entry);
    else if (outcome.kind === 'deleted') throw new Refusal('gone', `${entry.path.join('/')} is deleted here`);
    else if (!outcome.shown) throw new Refusal('forbidden', 'Forbidden');
  }
}

async function batch(
  services: BundleServices,
  caller: Caller,
  entries: readonly BundledRequest[],
): Promise<Bundle> {
  if (entries.length > mostBatchEntries) throw tooLargeBundle('entries');
  services.table.budget.raiseTo(entries.filter(({ write }) => write).length * changeUnits);
  const untilMs = services.now() + beginsWithinMs;
  const tooLate = 'The batch took too long: this entry was not begun. Send it again';
  const answered = new Map<BundledRequest, BundleEntry>();
  const made = new Map<string, string>();
  const room = answerRoom();
  const { waves, circular } = inWaves(entries);
  for (const [entry, refusal] of circular) answered.set(entry, room.fit(entry, refused(refusal)));
  for (const wave of waves) {
    // What a wave makes is for the next: in one, nobody refers to another.
    const known = new Map(made);
    await inParallel(wave, atOnce, async (entry) => {
      if (services.now() >= untilMs) {
        answered.set(entry, room.fit(entry, refused(new Refusal('unavailable', tooLate))));
        return;
      }
      const isUnread = !entry.write && room.isFull;
      const { answer, became } = isUnread ? { answer: {} } : await runOne(services, caller, entry, known);
      answered.set(entry, room.fit(entry, answer));
      if (entry.fullUrl !== undefined && became !== undefined) made.set(entry.fullUrl, became);
    });
  }
  const answers = entries.map((entry) => answered.get(entry) ?? {});
  // The batch itself succeeds: what of it was refused, each entry once.
  const attempts = entries.map(({ method, path: [resourceType, id] }, i) => ({
    ...{ method, route: 'batch', parameters: { resourceType, ...(id === undefined ? {} : { id }) } },
    status: Number(answers[i]?.response?.status),
  }));
  await recordRefused(services, caller, attempts);
  return { resourceType: 'Bundle', type: 'batch-response', entry: answers };
}

/**
 * Whatever becomes of an entry is its own answer, a login that ended meanwhile and a fault of ours too: what others did
 * stands, and has to be told.
 * @param known what entries before it became, by fullUrl
 * @returns its answer, and what it became
 */
async function runOne(
  services: BundleServices,
  caller: Caller,
  { refusal, write, ...entry }: BundledRequest,
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
    const expected = asRefusal(error);
    if (expected) return { answer: refused(expected) };
    const { status, outcome } = failureOf(error, services.log, services.traceId ?? '');
    return { answer: { response: { status: String(status), outcome }, resource: outcome } };
  }
}

/** Beyond what an answer may hold a write is answered without its resource, a read is refused, or not begun. */
function answerRoom() {
  let left = mostEntryBytes;
  return {
    get isFull() {
      return left < 0;
    },
    fit({ write }: BundledRequest, answer: BundleEntry): BundleEntry {
      if (left >= 0) left -= jsonBytes(answer);
      if (left >= 0) return answer;
      if (!write) return refused(new Refusal('too-large', 'The answer of the Bundle is too long'));
      // Its status stays. The outcome of a refused write can be as long as a resource.
      const { resource: _left, response: { outcome: _said, ...response } = { status: '' }, ...rest } = answer;
      return { ...rest, response };
    },
  };
}

function refused(refusal: Refusal): BundleEntry {
  const outcome = refusalOutcome(refusal);
  return { response: { status: String(refusalStatus(refusal.kind)), outcome }, resource: outcome };
}

/** A GET inside a Bundle. @throws {Refusal} as the read, search or history itself */
export async function readEntry(
  services: Services,
  caller: Caller,
  { path, query, had }: Pick<BundledRequest, 'path' | 'query' | 'had'>,
): Promise<BundleEntry> {
  const bundle = await readBundle(services, caller, path, readQuery(query ?? ''));
  if (bundle) return { resource: bundle, response: { status: '200' } };
  const [type = '', id = '', _, versionId] = path;
  const wanted = { type, id, ...(versionId === undefined ? {} : { versionId }) };
  const { resource } = await readResource(services, caller, wanted);
  const fullUrl = `${services.baseUrl}/fhir/R4/${type}/${id}`;
  const state = stateOf(resource.meta);
  if (isHad(resource, had)) return { fullUrl, response: { status: '304', ...state } };
  return { fullUrl, resource, response: { status: '200', ...state } };
}

/** What a path leads to; undefined where it is one resource or version. */
async function readBundle(
  services: Services,
  caller: Caller,
  [type = '', id, part, ...rest]: readonly string[],
  query: URLSearchParams,
): Promise<Bundle | undefined> {
  if (id === undefined) return searchResources(services, caller, { type, query });
  if (part === undefined) return undefined;
  if (part === '_history') {
    if (rest.length === 0) return readHistory(services, caller, { type, id, query });
    if (rest.length === 1) return undefined;
  } else if (type === 'Patient' && rest.length === 0) {
    if (part === '$everything') return readEverything(services, caller, { id, query });
    const search = { type: part, within: `Patient/${id}`, query };
    if (isResourceType(part)) return searchResources(services, caller, search);
  }
  throw new Refusal('not-found', 'Not found');
}
