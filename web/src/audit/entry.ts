import type { AuditEvent, Reference } from '@medplum/fhirtypes';

/** What it was done to: nothing, for a sign-in. */
export function objectsOf({ entity = [] }: AuditEvent): Reference[] {
  const all = entity.flatMap(({ what }) => (what?.reference ? [what] : []));
  return [...new Map(all.map((what) => [what.reference, what])).values()];
}

/** What somebody who was refused had tried. */
export function routeOf({ entity = [] }: AuditEvent): string | undefined {
  const details = entity.flatMap(({ detail = [] }) => detail);
  return details.find(({ type }) => type === 'route')?.valueString;
}

const outcomes = { '0': 'done', '4': 'refused', '8': 'unknown', '12': 'failed' } as const;

export function outcomeOf({ outcome = '0', outcomeDesc }: AuditEvent): string {
  return outcomeDesc ?? outcomes[outcome];
}
