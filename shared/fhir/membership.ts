import type { Reference, Resource } from './resource.ts';

/** R4-style ProjectMembership, as clients of this field know it. */
export interface ProjectMembership extends Resource {
  resourceType: 'ProjectMembership';
  project: Reference;
  user: Reference;
  profile: Reference;
  active: boolean;
  admin?: boolean;
  accessPolicy?: Reference;
  access?: MembershipAccess[];
  externalId?: string;
  invitedBy?: Reference;
  /** The patients that a RelatedPerson may reach. */
  patient?: Reference[];
  /** How a login must have been made to choose this membership. */
  authentication?: Authentication;
  mfaRequired?: boolean;
}

type Authentication = 'password' | { issuer: string };

export interface MembershipAccess {
  policy: Reference;
  parameter?: { name: string; valueString?: string; valueReference?: Reference }[];
}

/** What a membership allows; an invite names all of it, an update some. */
export type Rights = Pick<
  ProjectMembership,
  'admin' | 'accessPolicy' | 'access' | 'patient' | 'authentication' | 'mfaRequired'
>;

/** Rights of which some are left out. */
export type NamedRights = { [Name in keyof Rights]?: Rights[Name] | undefined };

/** The named rights alone, without those left out. */
export function rightsOf(membership: NamedRights): Rights {
  const { admin, accessPolicy, access, patient, authentication, mfaRequired } = membership;
  return {
    ...(admin === undefined ? {} : { admin }),
    ...(accessPolicy === undefined ? {} : { accessPolicy }),
    ...(access === undefined ? {} : { access }),
    ...(patient === undefined ? {} : { patient }),
    ...(authentication === undefined ? {} : { authentication }),
    ...(mfaRequired === undefined ? {} : { mfaRequired }),
  };
}
