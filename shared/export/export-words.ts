import type { Audited } from '../audit/audit-event.ts';
import type { Reference } from '../fhir/resource.ts';
import type { ExportJob } from './export-job.ts';

/** Who asked for it, as an audit entry names them. */
export function agentOfExport({ asker: { reference, display } }: Pick<ExportJob, 'asker'>): Reference {
  return display === undefined ? { reference } : { reference, display };
}

/** What an audit entry says of an export: whose it is, which one, and more by name. */
export function exportEntity(
  { id, project }: Pick<ExportJob, 'id' | 'project'>,
  more: Readonly<Record<string, string | number>> = {},
): Audited['entities'][number] {
  const detail = Object.entries({ export: id, ...more }).map(([type, value]) => ({
    type,
    valueString: String(value),
  }));
  return { reference: `Project/${project}`, detail };
}
