import { errorName } from '../error-name.ts';
import type { Services } from '../services.ts';
import { type Audited, auditItem } from './audit-event.ts';

/**
 * Writes what happened beside the answer, which stands even when this fails; the log then says that
 * an entry is lost. What changes something has its entry in its own transaction instead. By who has emergency access
 * it is marked so.
 */
export async function record(
  { table, log, newId, now, disclosure }: Pick<Services, 'table' | 'log' | 'newId' | 'now' | 'disclosure'>,
  audited: Audited,
): Promise<void> {
  const { isEmergency = disclosure?.isEmergency } = audited;
  try {
    await table.put(auditItem({ ...audited, isEmergency }, newId(), now()));
  } catch (error) {
    const { project, subtype, outcome } = audited;
    log.error('audit entry lost', { project, subtype, outcome, error: errorName(error) });
  }
}
