import type { ProfileType } from '../fhir/resource.ts';
import { controlOrLineEnd } from './parse-name.ts';
import type { Refuse } from './parse-rights.ts';

/** R4 CodeableConcept, as far as RelatedPerson.relationship needs it. */
export interface Relationship {
  coding?: { system: string; code: string; display?: string }[];
  text?: string;
}

const longestText = 200;
const mostCodings = 5;

/**
 * How a RelatedPerson is related to the patient: a CodeableConcept, or its text alone.
 * @returns undefined when there is none, or what was sent cannot be one
 */
export function parseRelationship(
  value: unknown,
  type: ProfileType,
  refuse: Refuse,
): Relationship | undefined {
  if (value == null) return undefined;
  const relationship = typeof value === 'string' ? { text: value } : value;
  if (type !== 'RelatedPerson') refuse('relationship', 'Only a RelatedPerson has a relationship');
  if (isRelationship(relationship)) return relationship;
  refuse('relationship', 'relationship must be a CodeableConcept with coding (system, code) or text');
  return undefined;
}

function isRelationship(value: unknown): value is Relationship {
  if (!hasOnly(value, ['coding', 'text'])) return false;
  const { coding, text } = value;
  const isListed = Array.isArray(coding) && coding.length > 0 && coding.length <= mostCodings;
  if (coding !== undefined && !(isListed && coding.every(isCoding))) return false;
  return (text === undefined || isText(text)) && (coding ?? text) !== undefined;
}

function isCoding(value: unknown): boolean {
  if (!hasOnly(value, ['system', 'code', 'display'])) return false;
  const { system, code, display } = value;
  const isCode = isText(code) && /^\S+( \S+)*$/.test(code);
  return isText(system) && URL.canParse(system) && isCode && (display === undefined || isText(display));
}

function hasOnly(value: unknown, names: readonly string[]): value is Record<string, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).every((name) => names.includes(name))
  );
}

function isText(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.trim() !== '' &&
    value.length <= longestText &&
    !controlOrLineEnd.test(value)
  );
}
