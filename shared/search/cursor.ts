import { createHash } from 'node:crypto';
import { invalidField } from '../refusal.ts';

/**
 * Where the next page goes on, as an opaque text. It is bound to Project and search: with another it
 * is refused. What it holds is only a place inside the very partitions that the search reads anyway,
 * whose keys are built from the caller's own Project, so there is nothing to forge.
 */
export function writeCursor(project: string, search: string, position: string): string {
  return Buffer.from(JSON.stringify([bindingOf(project, search), position])).toString('base64url');
}

/** @throws {Refusal} invalid */
export function readCursor(project: string, search: string, cursor: string): string {
  try {
    const [binding, position] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (binding === bindingOf(project, search) && typeof position === 'string') return position;
  } catch {
    // Not one of ours.
  }
  throw invalidField('_cursor', 'The cursor does not belong to this search');
}

function bindingOf(project: string, search: string): string {
  return createHash('sha256').update(`${project}\n${search}`).digest('base64url').slice(0, 16);
}
