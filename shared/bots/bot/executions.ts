import { inflateRawSync } from 'node:zlib';
import { array, exactOptional, object, string, tuple } from 'valibot';
import { invalidField, Refusal } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';
import { stored } from '../../base/schema.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { parseOutcome } from '../../identity/audit/audit-event.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { type Actor, isRoot } from '../../identity/gate/actor.ts';
import { reference } from '../../store/fhir/stored-resource.ts';
import { indexedId } from '../../store/index/key-range.ts';
import { inlineResource } from '../../store/items/content.ts';
import {
  type PositionedValue,
  parsePage,
  readCursor,
  sortKeyBetween,
  takePage,
  writeCursor,
} from '../../store/items/page.ts';
import {
  inBatches,
  readTimed,
  recordWithoutLog,
  runLists,
  runRecordLists,
} from '../../store/items/read-ranges.ts';
import { readHeads } from '../../store/items/versions.ts';
import { type Filter, matchesAll } from '../../store/search/filter.ts';
import { timeBounds } from '../../store/search/find-entries.ts';
import { parseSearch } from '../../store/search/search-request.ts';
import type { LogEntry } from '../run/contract.ts';
import type { StoredBot } from './bot.ts';
import {
  admitToBot,
  admitToOwnBot,
  nextParameter,
  type Parameter,
  type Parameters,
  parametersOf,
} from './versions.ts';

const readExecution = stored(
  'record of a run',
  object({
    recorded: string(),
    agent: tuple([object({ who: reference })]),
    entity: array(
      object({ detail: exactOptional(array(object({ type: string(), valueString: string() }))) }),
    ),
  }),
);

/** One run: when, who, which version, how it ended, and its whole log, one `entry` a line. */
function executionParameter(resource: Resource, item: Item): Parameter {
  const { recorded, agent, entity } = readExecution(resource);
  const { log, truncated } = readLog(item);
  const details = (entity[0]?.detail ?? []).map(({ type, valueString }) => ({ name: type, valueString }));
  return {
    name: 'execution',
    part: [
      { name: 'id', valueString: resource.id },
      { name: 'time', valueInstant: recorded },
      { name: 'requester', valueReference: agent[0].who },
      ...details,
      { name: 'log', part: log.map(entryParameter) },
      { name: 'logTruncated', valueBoolean: truncated },
    ],
  };
}

function entryParameter({ atMs, level, text }: LogEntry): Parameter {
  return {
    name: 'entry',
    part: [
      { name: 'time', valueInstant: new Date(atMs).toISOString() },
      { name: 'level', valueCode: level },
      { name: 'text', valueString: text },
    ],
  };
}

function readLog(item: Item): { log: LogEntry[]; truncated: boolean } {
  if (!(item.log instanceof Uint8Array)) return { log: [], truncated: false };
  const { entries, truncated } = JSON.parse(inflateRawSync(item.log).toString('utf8'));
  return { log: entries, truncated };
}

/** The parameters of `$logs`, as those of a search of AuditEvent. */
const named: Readonly<Record<string, string>> = { outcome: 'outcome', date: 'date', requester: 'agent' };

interface WantedExecutions {
  filters: readonly Filter[];
  /** Instants between which the runs lie, as far as `date` says. */
  bounds: ReturnType<typeof timeBounds>;
  count: number;
  cursor: string | undefined;
  /** Equal for equal filters. */
  canonical: string;
}

function parseExecutions(query: URLSearchParams): WantedExecutions {
  const search = new URLSearchParams();
  const traces: Filter[] = [];
  for (const [name, value] of query) {
    if (name === '_count' || name === '_cursor') continue;
    if (name === 'trace') {
      traces.push(ownFilter(`trace=${value}`, (run) => detailsOf(run).get('trace') === value));
      continue;
    }
    const parameter = Object.hasOwn(named, name) ? named[name] : undefined;
    if (parameter === undefined) throw invalidField(name, `Unknown parameter ${name} of $logs`);
    search.append(parameter, name === 'outcome' ? parseOutcome(value) : value);
  }
  const { filters, canonical } = parseSearch('AuditEvent', search, undefined);
  return {
    ...parsePage(query),
    filters: [...filters, ...traces],
    canonical: [canonical, ...traces.map(({ name }) => name)].join(),
    bounds: timeBounds(filters),
  };
}

/** A condition that no parameter of AuditEvent says. */
function ownFilter(name: string, matches: Filter['matches']): Filter {
  return { name, matches, keyRanges: undefined, rank: 9, parameters: [], alternatives: 1 };
}

/** What a run's record says of it beside who, by name. */
function detailsOf({ entity }: Resource): Map<string, string | undefined> {
  const entities = (entity ?? []) as { detail?: { type: string; valueString?: string }[] }[];
  return new Map(
    entities.flatMap(({ detail = [] }) => detail.map(({ type, valueString }) => [type, valueString])),
  );
}

/**
 * A Bot's runs with their logs, newest first. A run is there as soon as it was answered.
 * @param query `outcome`, `date`, `requester`, `trace`, `_count`, `_cursor`
 * @throws {Refusal} not-found, invalid
 */
export async function listExecutions(
  services: Services,
  caller: Caller<'administrator'>,
  { botId, query }: { botId: string; query: URLSearchParams },
): Promise<Parameters> {
  const { project } = caller;
  const since = readableSince(await admitToOwnBot(services, caller, botId));
  const path = `Bot/${botId}/$logs`;
  const wanted = parseExecutions(query);
  const { bounds, count, cursor, canonical } = wanted;
  const listing = { project, name: `${path}?${canonical}` };
  const after = readCursor(listing, cursor, sortKeyBetween(bounds.from ?? '0', `${bounds.to ?? ''}~`));
  const { values, next } = await takePage(
    executions(services, { project, botId }, since === undefined ? wanted : begunSince(wanted, since), after),
    { count, sizeOf: (execution) => Buffer.byteLength(JSON.stringify(execution)) },
  );
  const following = nextParameter(services.baseUrl, path, query, next && writeCursor(listing, next));
  return parametersOf([...values, ...following]);
}

/**
 * From when on an administrator reads what a Bot logged: of what it may read and is sent it tells. One whom a policy
 * narrows reads what was logged since they deployed it themselves; it may have been able to read more before.
 * @throws {Refusal} forbidden
 */
function readableSince({ actor, bot }: { actor: Actor; bot: StoredBot }): Deployment | undefined {
  if (isRoot(actor)) return undefined;
  if (bot.deployed?.membershipId === actor.membershipId)
    return { version: bot.codeVersion, at: bot.deployed.at };
  throw new Refusal(
    'forbidden',
    'What it has logged is for administrators without an accessPolicy, and for whoever has deployed it',
  );
}

/** Which code, and from when on. */
interface Deployment {
  version: string | undefined;
  at: string;
}

/** Of the runs those of this code that began with it, or later. */
function begunSince(wanted: WantedExecutions, { version, at }: Deployment): WantedExecutions {
  const filter = ownFilter(`since ${at}`, (run) => {
    const details = detailsOf(run);
    const beganMs = Date.parse(String(run.recorded)) - Number(details.get('durationMs') || Number.NaN);
    return details.get('version') === version && beganMs >= Date.parse(at);
  });
  return { ...wanted, filters: [...wanted.filters, filter] };
}

/** Every record as it is passed on the way; without a value where it is not wanted. */
async function* executions(
  { table }: Services,
  { project, botId }: { project: string; botId: string },
  { filters, bounds, count }: WantedExecutions,
  after: string | undefined,
): AsyncGenerator<PositionedValue<Parameter, string>> {
  const isNarrowed = filters.some(({ parameters: [parameter] }) => parameter?.code !== 'date');
  const records = readTimed(table, runLists(project, botId), {
    ...bounds,
    ...{ newestFirst: true, after, most: count + 1 },
    // Logs are read with the record only when every record is wanted.
    ...(isNarrowed ? { attributes: recordWithoutLog } : {}),
  });
  for await (const some of inBatches(records, () => count + 1)) {
    const wanted = some.filter((item) => {
      const event = inlineResource('AuditEvent', item.content === undefined ? undefined : item);
      return !event || matchesAll(event, filters);
    });
    // Those of earlier releases are only listed here, and lie elsewhere.
    const elsewhere = wanted.filter(({ content }) => isNarrowed || content === undefined);
    const heads = await readHeads(
      { table, project },
      'AuditEvent',
      elsewhere.map(({ sk }) => indexedId(sk)),
    );
    for (const item of some) {
      const isWanted = wanted.includes(item);
      const record = isWanted ? (heads.get(indexedId(item.sk)) ?? item) : undefined;
      const event = record?.content === undefined ? undefined : inlineResource('AuditEvent', record);
      const isHit = record && event && matchesAll(event, filters);
      yield { position: item.sk, value: isHit ? executionParameter(event, record) : undefined };
    }
  }
}

const dayMs = 86_400_000;
/** Of a Bot that runs more often the newest are counted. */
const mostRuns = 1_000;

/**
 * How a Bot has done in the last 24 hours: `runs` and, of these, `failed`, `p50Ms`, `p95Ms`; `since` is an
 * instant. Of more than 1,000 runs it counts the newest, and `complete` is false.
 * @throws {Refusal} not-found, invalid
 */
export async function runFigures(
  services: Services,
  caller: Caller<'administrator'>,
  { botId, query }: { botId: string; query: URLSearchParams },
): Promise<Parameters> {
  const { project } = caller;
  await admitToBot(services, caller, botId);
  for (const name of query.keys()) throw invalidField(name, `Unknown parameter ${name} of $figures`);
  const dayAgo = new Date(services.now() - dayMs).toISOString();
  const reading = { newestFirst: true, from: dayAgo, most: mostRuns, attributes: recordWithoutLog };
  let failed = 0;
  let since = dayAgo;
  let isComplete = true;
  const durations: number[] = [];
  for await (const item of readTimed(services.table, runRecordLists(project, botId), reading)) {
    if (durations.length === mostRuns) {
      isComplete = false;
      break;
    }
    const run = inlineResource('AuditEvent', item);
    const durationMs = run && durationOf(run);
    if (durationMs === undefined) continue;
    durations.push(durationMs);
    if (run?.outcome !== '0') failed += 1;
    since = String(run?.recorded);
  }
  durations.sort((a, b) => a - b);
  const at = (share: number) => durations[Math.max(0, Math.ceil(share * durations.length) - 1)];
  return parametersOf([
    { name: 'since', valueInstant: isComplete ? dayAgo : since },
    { name: 'complete', valueBoolean: isComplete },
    { name: 'runs', valueInteger: durations.length },
    { name: 'failed', valueInteger: failed },
    ...[0.5, 0.95].flatMap((share) => {
      const ms = at(share);
      return ms === undefined ? [] : [{ name: `p${share * 100}Ms`, valueInteger: Math.round(ms) }];
    }),
  ]);
}

/** Undefined for what did not run: a schedule that stopped, a run too deep. */
function durationOf(run: Resource): number | undefined {
  const text = detailsOf(run).get('durationMs');
  return text === undefined ? undefined : Number(text);
}
