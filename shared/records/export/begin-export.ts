import { invalidField, Refusal } from '../../base/refusal.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { ConditionFailed } from '../../carry/table/transact.ts';
import { agentOf, auditItem } from '../../identity/audit/audit-event.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { type Actor, admit, isRoot, mayAdminister } from '../../identity/gate/actor.ts';
import { isInEmergency } from '../../identity/gate/emergency.ts';
import { mayInteract, seesAll } from '../../identity/policies/access.ts';
import { resourceScopes } from '../../identity/policies/smart-scope.ts';
import { parseDate } from '../../store/index/ordered.ts';
import { isResourceType, resourceTypes } from '../../store/index/registry.ts';
import {
  agentOfExport,
  type ExportJob,
  exportEntity,
  exportItem,
  exportOf,
  isUnderWay,
  newExport,
} from './export-job.ts';

type Asked = Pick<ExportJob, 'types' | 'history' | 'code' | 'people'>;

/**
 * Whether somebody may export all resources of a type: an administrator, or a program with a `system/` scope; one who
 * is narrowed must read and find every one of them, and all that is in it. What rules narrow is not exported.
 * @param history their earlier versions too
 */
export function mayExport(actor: Actor, type: string, history = false): boolean {
  if (isRoot(actor)) return true;
  return (
    (mayAdminister(actor) || isSystem(actor)) &&
    mayInteract(actor, 'read', type) &&
    seesAll(actor, 'search', type) &&
    (!history || seesAll(actor, 'history', type))
  );
}

function isSystem({ scope, profile }: Actor): boolean {
  const isProgram = profile.startsWith('ClientApplication/');
  return isProgram && resourceScopes(scope).some(({ context }) => context === 'system');
}

/** Whether somebody may export now all that an export is of. */
export function mayExportAgain(actor: Actor, { types, history, code, people }: Asked): boolean {
  const isForAdministrators = history || code || people;
  return (
    types.every((type) => mayExport(actor, type, history)) && (!isForAdministrators || mayAdminister(actor))
  );
}

/** What an export is asked for with. */
interface ExportRequest {
  /** Undefined for all that the caller may have. */
  types: readonly string[] | undefined;
  since: string | undefined;
  history: boolean;
  code: boolean;
  people: boolean;
}

const formats = new Set(['application/fhir+ndjson', 'application/ndjson', 'ndjson']);
const associated = new Set(['_history', '_code', '_people']);
const known = new Set(['_outputFormat', '_type', '_since', 'includeAssociatedData', '_format', '_pretty']);

/**
 * The parameters of FHIR Bulk Data's `$export`. One that is not known is refused, never passed over: what came would
 * be more than was asked for.
 * @param nowMs ms since the epoch: nothing is exported since a later instant
 * @throws {Refusal} invalid
 */
function parseExport(query: URLSearchParams, prefer: string | undefined, nowMs: number): ExportRequest {
  if (!/(?:^|[,;\s])respond-async(?:$|[,;\s])/i.test(prefer ?? '')) {
    throw new Refusal('invalid', 'An export goes on without its caller: send Prefer: respond-async');
  }
  for (const name of query.keys()) {
    if (!known.has(name)) throw invalidField(name, `An export has no parameter ${name}`);
  }
  // A plus sign in a query string may arrive as a space.
  const format = query.get('_outputFormat')?.replace(' ', '+');
  if (format !== undefined && !formats.has(format)) {
    throw invalidField('_outputFormat', 'An export is application/fhir+ndjson');
  }
  const more = listed(query, 'includeAssociatedData') ?? [];
  const unknown = more.find((one) => !associated.has(one));
  if (unknown !== undefined) {
    throw invalidField(
      'includeAssociatedData',
      `includeAssociatedData is one of ${[...associated].join(', ')}`,
    );
  }
  return {
    types: typesIn(query),
    since: sinceIn(query, nowMs),
    history: more.includes('_history'),
    code: more.includes('_code'),
    people: more.includes('_people'),
  };
}

function typesIn(query: URLSearchParams): string[] | undefined {
  const types = listed(query, '_type');
  const wrong = types?.find((type) => !isResourceType(type) || type === 'User');
  if (wrong !== undefined) throw invalidField('_type', `${wrong} is no resource type of a Project`);
  if (types?.length === 0) throw invalidField('_type', '_type names resource types');
  return types;
}

/** Writes that were under way when an export began may be in neither: they take no longer than this. */
const overlapMs = 30_000;

function sinceIn(query: URLSearchParams, nowMs: number): string | undefined {
  const text = query.get('_since');
  if (text === null) return undefined;
  const range = /T.*(?:Z|[+-]\d\d:\d\d)$/.test(text.replace(' ', '+'))
    ? parseDate(text.replace(' ', '+'))
    : undefined;
  if (!range) throw invalidField('_since', '_since must be an instant, such as 2026-01-31T12:00:00Z');
  const fromMs = Date.parse(range.low) - overlapMs;
  if (fromMs > nowMs) throw invalidField('_since', '_since must not be in the future');
  return new Date(fromMs).toISOString();
}

function listed(query: URLSearchParams, name: string): string[] | undefined {
  if (!query.has(name)) return undefined;
  return [...new Set(query.getAll(name).join().split(',').filter(Boolean))];
}

/**
 * Accepts an export of the caller's Project: the stream of the table wakes who does it. One at a time for a Project.
 * @param url as it was asked for, for the manifest
 * @returns its id
 * @throws {Refusal} invalid; forbidden; throttled while another goes on
 */
export async function beginExport(
  services: Services,
  caller: Caller,
  { query, prefer, url }: { query: URLSearchParams; prefer: string | undefined; url: string },
): Promise<string> {
  const { table, now, newId } = services;
  const { project } = caller;
  const lockKey = keys.exporting(project);
  const { actor, found } = await admit(services, caller, [lockKey]);
  const asked = parseExport(query, prefer, now());
  const types = typesFor(actor, asked);
  const before = found.get(lockKey)?.exportId;
  if (before !== undefined) await requireEnded(services, project, String(before));
  const { reference, display } = agentOf(actor);
  const { since, history, code, people } = asked;
  const job = newExport(
    {
      ...{ id: newId(), project, request: url, types, since, history, code, people },
      asker: { membershipId: actor.membershipId, reference, display },
    },
    now(),
  );
  const audited = {
    ...({ project, subtype: 'begin-export', action: 'E', outcome: '0' } as const),
    isEmergency: isInEmergency(actor),
    agent: agentOfExport(job),
    entities: [exportEntity(job)],
  };
  try {
    await table.transact([
      {
        name: 'exporting',
        put: { ...lockKey, exportId: job.id },
        if: before === undefined ? 'attribute_not_exists(pk)' : 'exportId = :before',
        ...(before === undefined ? {} : { values: { ':before': before } }),
      },
      { name: 'export', put: exportItem(job, true) },
      { name: 'audit', put: auditItem(audited, newId(), now()) },
    ]);
  } catch (error) {
    if (error instanceof ConditionFailed) throw goesOn();
    throw error;
  }
  return job.id;
}

function typesFor(actor: Actor, { types, history, code, people }: ExportRequest): string[] {
  const forAdministrators = history || code || people;
  if (forAdministrators && !mayAdminister(actor)) throw new Refusal('forbidden', 'Forbidden');
  const may = (type: string) => mayExport(actor, type, history);
  if (types && !types.every(may)) throw new Refusal('forbidden', 'Forbidden');
  const all = types ?? resourceTypes().filter((type) => type !== 'User' && may(type));
  if (all.length === 0) throw new Refusal('forbidden', 'Forbidden');
  return [...all].sort();
}

async function requireEnded({ table, now }: Services, project: string, id: string): Promise<void> {
  const key = keys.export(project, id);
  const job: ExportJob | undefined = exportOf((await table.read([key])).get(key));
  if (job && isUnderWay(job, now())) throw goesOn();
}

function goesOn(): Refusal {
  return new Refusal('throttled', 'An export of this Project goes on: one at a time', {
    retryAfterSeconds: 30,
  });
}
