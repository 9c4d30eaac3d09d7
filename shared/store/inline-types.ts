import { administrativeTypes } from '../fhir/administrative.ts';
import { longestInlineBytes } from '../limits.ts';
import { Refusal } from '../refusal.ts';

/**
 * Types that requests read on their way to something else. They are bounded, so that their content
 * always lies in the one item of their head; every other type may lie in parts (`openState`).
 */
const inlineTypes = [...administrativeTypes, 'Subscription'] as const;

export type InlineType = (typeof inlineTypes)[number];

export function isInlineType(type: string): type is InlineType {
  return inlineTypes.some((one) => one === type);
}

/** @throws {Refusal} unprocessable; AuditEvents are the system's own and stay within what they tell of */
export function requireInlineSize(type: InlineType, sizeBytes: number): void {
  if (sizeBytes <= longestInlineBytes || type === 'AuditEvent') return;
  throw new Refusal('unprocessable', `A resource of type ${type} is at most ${longestInlineBytes / 1024} KB`);
}
