/** How people are related, of the codes that R4 prefers for RelatedPerson.relationship (HL7 v3 RoleCode). */
const relationships = [
  { value: 'MTH', label: 'Mother' },
  { value: 'FTH', label: 'Father' },
  { value: 'PRN', label: 'Parent' },
  { value: 'CHILD', label: 'Child' },
  { value: 'SPS', label: 'Spouse' },
  { value: 'DOMPART', label: 'Partner' },
  { value: 'SIB', label: 'Sibling' },
  { value: 'GRPRN', label: 'Grandparent' },
  { value: 'GUARD', label: 'Guardian' },
  { value: 'FAMMEMB', label: 'Other family member' },
  { value: 'FRND', label: 'Friend' },
  { value: 'NBOR', label: 'Neighbour' },
] as const;

export type RelationshipCode = (typeof relationships)[number]['value'];

export const relationshipOptions = [{ value: '', label: 'Not stated' }, ...relationships] as const;

/** The CodeableConcept of a code. */
export function relationshipOf(code: RelationshipCode) {
  const text = relationships.find(({ value }) => value === code)?.label ?? code;
  return { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-RoleCode', code }], text };
}
