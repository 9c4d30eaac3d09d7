import { auditSubtype, auditType } from '../../fhir/audit-coding.ts';
import type { Resource } from '../../fhir/resource.ts';
import { type Filter, matchesAll } from '../filter.ts';

/** What differs from run to run; all else that a search can ask is the same for every run of a Bot. */
const ofOneRun = new Set(['_id', '_lastUpdated', 'agent', 'date', 'outcome', 'patient']);

/**
 * Whether the runs of a Bot may be among the hits: a search that excludes all of them need not read them.
 * @param botId undefined for any Bot
 */
export function mayMatchRuns(
  project: string,
  filters: readonly Filter[],
  botId: string | undefined,
): boolean {
  const ofOneBot = new Set([...ofOneRun, ...(botId === undefined ? ['entity'] : [])]);
  // A condition that names no parameter may look at anything.
  const known = filters.filter(
    ({ parameters }) => parameters.length > 0 && parameters.every(({ code }) => !ofOneBot.has(code)),
  );
  return matchesAll(runOf(project, botId), known);
}

/** The record of a run, as far as it is known without reading it. */
function runOf(project: string, botId: string | undefined): Resource {
  return {
    resourceType: 'AuditEvent',
    id: '',
    meta: { versionId: '', lastUpdated: '', project },
    type: auditType,
    subtype: [auditSubtype('execute')],
    action: 'E',
    source: { observer: { reference: `Project/${project}` } },
    ...(botId === undefined ? {} : { entity: [{ what: { reference: `Bot/${botId}` } }] }),
  };
}
