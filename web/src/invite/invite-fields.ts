import type { AccessPolicy, Patient } from '@medplum/fhirtypes';
import type { InviteRequest } from '../../../client/src/index.ts';
import type { ProfileType } from '../../../shared/base/resource.ts';
import { typedEntries } from '../../../shared/base/values.ts';
import type { PickedResource } from '../api/fhir.ts';
import { type Choice, pickedOf } from '../ui/resource-picker.tsx';

export interface InviteFields {
  resourceType: InviteRequest['resourceType'];
  firstName: string;
  lastName: string;
  email: string;
  /** Whom a RelatedPerson is related to. */
  patient: Choice<PickedResource<Patient>>;
  relationship: RelationshipCode | '';
  /** The record of a Patient, when it is there already. */
  record: Choice<PickedResource<Patient>>;
  policy: Choice<PickedResource<AccessPolicy>>;
  isAdministrator: boolean;
  mfaRequired: boolean;
  sendEmail: boolean;
}

const typeLabels: Record<ProfileType, string> = {
  Practitioner: 'Practitioner',
  Patient: 'Patient',
  RelatedPerson: 'Related person',
};
export const inviteTypes = typedEntries(typeLabels).map(([value, label]) => ({ value, label }));

export const emptyInvite: InviteFields = {
  resourceType: 'Practitioner',
  firstName: '',
  lastName: '',
  email: '',
  patient: undefined,
  relationship: '',
  record: undefined,
  policy: undefined,
  isAdministrator: false,
  mfaRequired: false,
  sendEmail: true,
};

/** The fields of the form as the service calls them: those that show their own errors. */
export const inviteFieldNames = [
  'resourceType',
  'firstName',
  'lastName',
  'email',
  'patient',
  'relationship',
  'profile',
  'accessPolicy',
] as const;

/** Which record is to be theirs, when the service asked. */
export type WhichProfile = Pick<InviteRequest, 'profile' | 'newProfile'>;

/**
 * What is sent. What does not belong to the kind of person is left out, though it may have been typed.
 * @throws {Error} when a picker holds a text that names nothing
 */
export function inviteRequest(fields: InviteFields): InviteRequest {
  const { resourceType, firstName, lastName, email, sendEmail } = fields;
  const policy = pickedOf(fields.policy);
  const patient = resourceType === 'RelatedPerson' ? pickedOf(fields.patient) : undefined;
  const record = resourceType === 'Patient' ? pickedOf(fields.record) : undefined;
  const relationship = resourceType === 'RelatedPerson' ? fields.relationship : '';
  return {
    resourceType,
    firstName,
    lastName,
    email,
    sendEmail,
    ...(policy ? { accessPolicy: { reference: policy.reference, display: policy.display } } : {}),
    ...(patient ? { patient: { reference: patient.reference, display: patient.display } } : {}),
    ...(relationship ? { relationship: relationshipOf(relationship) } : {}),
    ...(record ? { profile: { reference: record.reference } } : {}),
    ...(resourceType === 'Practitioner' && fields.isAdministrator ? { admin: true } : {}),
    ...(fields.mfaRequired ? { mfaRequired: true } : {}),
  };
}

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

type RelationshipCode = (typeof relationships)[number]['value'];

export const relationshipOptions = [{ value: '', label: 'Not stated' }, ...relationships] as const;

/** The CodeableConcept of a code. */
function relationshipOf(code: RelationshipCode) {
  const text = relationships.find(({ value }) => value === code)?.label ?? code;
  return { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-RoleCode', code }], text };
}
