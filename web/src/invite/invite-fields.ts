import type { InviteRequest } from '../../../client/src/index.ts';
import type { Picked } from '../ui/resource-picker.tsx';

export interface InviteFields {
  resourceType: InviteRequest['resourceType'];
  firstName: string;
  lastName: string;
  email: string;
  patient: Picked | undefined;
  policy: Picked | undefined;
  isAdministrator: boolean;
  mfaRequired: boolean;
  sendEmail: boolean;
}

export const inviteTypes = [
  { value: 'Practitioner', label: 'Practitioner' },
  { value: 'Patient', label: 'Patient' },
  { value: 'RelatedPerson', label: 'Related person' },
] as const;

export const emptyInvite: InviteFields = {
  resourceType: 'Practitioner',
  firstName: '',
  lastName: '',
  email: '',
  patient: undefined,
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
  'accessPolicy',
] as const;

/** What is sent. What does not belong to the kind of person is left out, though it may have been typed. */
export function inviteRequest(fields: InviteFields): InviteRequest {
  const { resourceType, firstName, lastName, email, patient, policy, sendEmail } = fields;
  return {
    resourceType,
    firstName,
    lastName,
    email,
    sendEmail,
    ...(policy ? { accessPolicy: policy } : {}),
    ...(resourceType === 'RelatedPerson' && patient ? { patient } : {}),
    ...(resourceType === 'Practitioner' && fields.isAdministrator ? { admin: true } : {}),
    ...(fields.mfaRequired ? { mfaRequired: true } : {}),
  };
}
