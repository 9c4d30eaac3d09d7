import { invalidField, Refusal } from '../../base/refusal.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { readItem } from '../../carry/table/table.ts';
import { orThrow } from '../../carry/table/transact.ts';
import { agentOf, auditAction } from '../../identity/audit/audit-event.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { type Actor, admit, isRoot, mayAdminister } from '../../identity/gate/actor.ts';
import { mayInteract, seesAll } from '../../identity/policies/access.ts';
import { resourceScopes } from '../../identity/policies/smart-scope.ts';
import { parseDate } from '../../store/index/ordered.ts';
import { isResourceType, resourceTypes } from '../../store/index/registry.ts';
import { type ExportScope, exportEntity, exportItem, exportOf, isUnderWay, newExport } from './export-job.ts';

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
export function mayExportAll(actor: Actor, scope: Omit<ExportScope, 'since' | 'until'>): boolean {
  const { types, history, code, people } = scope;
  const isForAdministrators = history || code || people;
  return (
    types.every((type) => mayExport(actor, type, history)) && (!isForAdministrators || mayAdminister(actor))
  );
}

const formats = new Set(['application/fhir+ndjson', 'application/ndjson', 'ndjson']);
const associated = new Set(['_history', '_code', '_people']);
const known = new Set(['_outputFormat', '_type', '_since', 'includeAssociatedData', '_format', '_pretty']);

/**
 * The parameters of FHIR Bulk Data's `$export`. One that is not known is refused, never passed over: what came would
 * be more than was asked for.
 * @param nowMs ms since the epoch: nothing is exported since a later instant
 * @returns `types` undefined for all that the caller may have
 * @throws {Refusal} invalid
 */
export function parseExport(query: URLSearchParams, prefer: string | undefined, nowMs: number) {
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
  if (more.some((one) => !associated.has(one))) {
    const text = `includeAssociatedData is one of ${[...associated].join(', ')}`;
    throw invalidField('includeAssociatedData', text);
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
  const text = query.get('_since')?.replace(' ', '+');
  if (text === undefined) return undefined;
  const range = /^[^T]*T.*(?:Z|[+-]\d\d:\d\d)$/.test(text) ? parseDate(text) : undefined;
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
  const mayHave = (type: string) => type !== 'User' && mayExport(actor, type, asked.history);
  const types = (asked.types ?? resourceTypes().filter(mayHave)).sort();
  if (types.length === 0 || !mayExportAll(actor, { ...asked, types }))
    throw new Refusal('forbidden', 'Forbidden');
  const before = found.get(lockKey)?.exportId;
  if (before !== undefined) {
    const earlier = exportOf(await readItem(table, keys.export(project, String(before))));
    if (earlier && isUnderWay(earlier, now())) throw goesOn();
  }
  const asker = { membershipId: actor.membershipId, ...agentOf(actor) };
  const job = newExport({ ...asked, types, id: newId(), project, request: url, asker }, now());
  const begun = table.transact([
    {
      name: 'exporting',
      put: { ...lockKey, exportId: job.id },
      if: before === undefined ? 'attribute_not_exists(pk)' : 'exportId = :before',
      ...(before === undefined ? {} : { values: { ':before': before } }),
    },
    { name: 'export', put: exportItem(job, true) },
    auditAction(services, actor, { subtype: 'begin-export', action: 'E', entities: [exportEntity(job)] }),
  ]);
  await begun.catch(orThrow(goesOn));
  return job.id;
}

function goesOn(): Refusal {
  return new Refusal('throttled', 'An export of this Project goes on: one at a time', {
    retryAfterSeconds: 30,
  });
}
