import type { AccessPolicy, ProjectMembership } from '@medplum/fhirtypes';

/** A member with what their page tells beside the membership. */
export interface Member {
  membership: ProjectMembership;
  /** Undefined when the profile cannot be read. */
  email: string | undefined;
  policy: AccessPolicy | undefined;
  /** What is prepared for emergencies. */
  emergencyPolicy: AccessPolicy | undefined;
  /** The name of whoever invited them. */
  inviter: string | undefined;
}
