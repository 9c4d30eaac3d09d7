import type { Caller } from '../../../shared/access/access-token.ts';
import { type Actor, admit, mayAdminister } from '../../../shared/access/actor.ts';
import { isInEmergency } from '../../../shared/access/emergency.ts';
import { auditItem } from '../../../shared/audit/audit-event.ts';
import { agentOf } from '../../../shared/audit/who.ts';
import {
  type ExportJob,
  exportItem,
  exportOf,
  isUnderWay,
  newExport,
} from '../../../shared/export/export-job.ts';
import { agentOfExport, exportEntity } from '../../../shared/export/export-words.ts';
import { resourceTypes } from '../../../shared/index/registry.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import { keys } from '../../../shared/table/keys.ts';
import { ConditionFailed } from '../../../shared/table/transact.ts';
import { mayExport } from './may-export.ts';
import { type ExportRequest, parseExport } from './parse-export.ts';

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
  if (types && !types.every((type) => mayExport(actor, type))) throw new Refusal('forbidden', 'Forbidden');
  const all = types ?? resourceTypes().filter((type) => type !== 'User' && mayExport(actor, type));
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
