import type { InferOutput } from 'valibot';
import type { Meta, Resource } from './resource.ts';
import type { membershipSchema } from './stored-resource.ts';

/** R4-style ProjectMembership, as clients of this field know it. */
export interface ProjectMembership extends Resource, InferOutput<typeof membershipSchema> {
  resourceType: 'ProjectMembership';
  id: string;
  meta: Meta;
}

export type MembershipAccess = NonNullable<ProjectMembership['access']>[number];

/** What a membership allows; an invite names all of it, an update some. */
export type Rights = Pick<
  ProjectMembership,
  'admin' | 'accessPolicy' | 'access' | 'emergencyPolicy' | 'patient' | 'authentication' | 'mfaRequired'
>;

/** Rights of which some are left out. */
export type NamedRights = { [Name in keyof Rights]?: Rights[Name] | undefined };

/** The named rights alone, without those left out. */
export function rightsOf(membership: NamedRights): Rights {
  const { admin, accessPolicy, access, emergencyPolicy, patient, authentication, mfaRequired } = membership;
  return {
    ...(admin === undefined ? {} : { admin }),
    ...(accessPolicy === undefined ? {} : { accessPolicy }),
    ...(access === undefined ? {} : { access }),
    ...(emergencyPolicy === undefined ? {} : { emergencyPolicy }),
    ...(patient === undefined ? {} : { patient }),
    ...(authentication === undefined ? {} : { authentication }),
    ...(mfaRequired === undefined ? {} : { mfaRequired }),
  };
}
