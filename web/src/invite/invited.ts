import type { ProjectMembership } from '@medplum/fhirtypes';

/** What an invite came to. */
export interface Invited {
  membership: ProjectMembership;
  email: string;
}
