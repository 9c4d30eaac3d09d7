import type { Patient } from '@medplum/fhirtypes';
import type { InviteRequest } from '../../../client/src/index.ts';
import type { ProfileType } from '../../../shared/base/resource.ts';
import type { PickedResource } from '../api/fhir.ts';
import { type Choice, type PickedPolicy, pickedOf } from '../ui/resource-picker.tsx';

export const inviteTypes: Record<ProfileType, string> = {
  Practitioner: 'Practitioner',
  Patient: 'Patient',
  RelatedPerson: 'Related person',
};

/** What stands in the form at first, by the names that the service has for it. */
export const emptyInvite = {
  resourceType: 'Practitioner' as ProfileType,
  firstName: '',
  lastName: '',
  email: '',
  /** Whom a RelatedPerson is related to. */
  patient: undefined as Choice<PickedResource<Patient>>,
  relationship: '' as RelationshipCode | '',
  profile: undefined as Choice<PickedResource<Patient>>,
  accessPolicy: undefined as Choice<PickedPolicy>,
  admin: false,
  mfaRequired: false,
  sendEmail: true,
};

export type InviteFields = typeof emptyInvite;

/**
 * What is sent. What does not belong to the kind of person is left out, though it may have been typed.
 * @throws {Error} when a picker holds a text that names nothing
 */
export function inviteRequest(fields: InviteFields): InviteRequest {
  const { resourceType, firstName, lastName, email, sendEmail, relationship } = fields;
  const policy = pickedOf(fields.accessPolicy);
  const isRelated = resourceType === 'RelatedPerson';
  const patient = isRelated ? pickedOf(fields.patient) : undefined;
  const record = resourceType === 'Patient' ? pickedOf(fields.profile) : undefined;
  return {
    ...{ resourceType, firstName, lastName, email, sendEmail },
    ...(policy ? { accessPolicy: { reference: policy.reference, display: policy.display } } : {}),
    ...(patient ? { patient: { reference: patient.reference, display: patient.display } } : {}),
    ...(isRelated && relationship ? { relationship: relationshipOf(relationship) } : {}),
    ...(record ? { profile: { reference: record.reference } } : {}),
    ...(resourceType === 'Practitioner' && fields.admin ? { admin: true } : {}),
    ...(fields.mfaRequired ? { mfaRequired: true } : {}),
  };
}

/** How people are related, of the codes that R4 prefers for RelatedPerson.relationship (HL7 v3 RoleCode). */
const relationships = {
  MTH: 'Mother',
  FTH: 'Father',
  PRN: 'Parent',
  CHILD: 'Child',
  SPS: 'Spouse',
  DOMPART: 'Partner',
  SIB: 'Sibling',
  GRPRN: 'Grandparent',
  GUARD: 'Guardian',
  FAMMEMB: 'Other family member',
  FRND: 'Friend',
  NBOR: 'Neighbour',
};

type RelationshipCode = keyof typeof relationships;

export const relationshipOptions = { '': 'Not stated', ...relationships };

function relationshipOf(code: RelationshipCode) {
  const coding = [{ system: 'http://terminology.hl7.org/CodeSystem/v3-RoleCode', code }];
  return { coding, text: relationships[code] };
}
