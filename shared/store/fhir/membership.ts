import { array, boolean, exactOptional, type InferOutput, literal, object, string, union } from 'valibot';
import type { Meta, Resource } from '../../base/resource.ts';
import { typedKeys } from '../../base/values.ts';
import { reference, resourceEntries } from './stored-resource.ts';

/** What a membership allows, and what it asks of logins: each is read by the names here. */
const rightsFields = {
  admin: exactOptional(boolean()),
  accessPolicy: exactOptional(reference),
  access: exactOptional(
    array(
      object({
        policy: reference,
        parameter: exactOptional(
          array(
            object({
              name: string(),
              valueString: exactOptional(string()),
              valueReference: exactOptional(reference),
            }),
          ),
        ),
      }),
    ),
  ),
  /** The policy that is added while the person has emergency access. */
  emergencyPolicy: exactOptional(reference),
  /** The policies that its holder, an administrator whom a policy narrows, may give beside what they hold. */
  mayGrant: exactOptional(array(reference)),
  /** The patients that a RelatedPerson may reach. */
  patient: exactOptional(array(reference)),
  /** How a login must have been made to choose this membership. */
  authentication: exactOptional(union([literal('password'), object({ issuer: string() })])),
  mfaRequired: exactOptional(boolean()),
};

export const membershipSchema = object({
  ...resourceEntries,
  ...rightsFields,
  resourceType: literal('ProjectMembership'),
  project: reference,
  user: reference,
  profile: reference,
  active: boolean(),
  externalId: exactOptional(string()),
  /** The address that the Project knows the person by. */
  userName: exactOptional(string()),
  invitedBy: exactOptional(reference),
});

/** R4-style ProjectMembership, as clients of this field know it. */
export interface ProjectMembership extends Resource, InferOutput<typeof membershipSchema> {
  resourceType: 'ProjectMembership';
  id: string;
  meta: Meta;
}

export type MembershipAccess = NonNullable<ProjectMembership['access']>[number];

/** Id of the Project that a membership is of. */
export function projectIdOf({ project }: Pick<ProjectMembership, 'project'>): string {
  return project.reference.replace(/^Project\//, '');
}

export type RightName = keyof typeof rightsFields;

/** What a membership allows; an invite names all of it, an update some. */
export type Rights = Pick<ProjectMembership, RightName>;

/** Rights of which some are left out. */
export type NamedRights = { [Name in keyof Rights]?: Rights[Name] | undefined };

/** The named rights alone, without those left out. */
export function rightsOf(membership: NamedRights): Rights {
  const named = typedKeys(rightsFields).filter((name) => membership[name] !== undefined);
  return Object.fromEntries(named.map((name) => [name, membership[name]]));
}

/** A policy that rights name: in which field, what it does there, and the values of its variables. */
export interface PolicyInRights {
  expression: string;
  /** It allows; it is added in an emergency; it may be given to others. */
  kind: 'standing' | 'emergency' | 'mayGrant';
  reference: string;
  parameters: NonNullable<MembershipAccess['parameter']>;
}

/**
 * Whether a change makes somebody an administrator, or one whom a policy narrowed one whom none does.
 * @param before undefined for who was no active member
 */
export function makesAdministrator(after: Rights | undefined, before: Rights | undefined): boolean {
  if (after?.admin !== true) return false;
  return before?.admin !== true || (!isUnbounded(before) && isUnbounded(after));
}

/** Whether they are those of the root of a Project: an administrator whom no policy narrows. */
export function isUnbounded({ admin, accessPolicy, access = [] }: Rights): boolean {
  return admin === true && accessPolicy === undefined && access.length === 0;
}

export function policiesIn({
  accessPolicy,
  access = [],
  emergencyPolicy,
  mayGrant = [],
}: Rights): PolicyInRights[] {
  const at = (
    expression: string,
    kind: PolicyInRights['kind'],
    { policy: { reference }, parameter: parameters = [] }: MembershipAccess,
  ): PolicyInRights => ({ expression, kind, reference, parameters });
  return [
    ...(accessPolicy ? [at('accessPolicy', 'standing', { policy: accessPolicy })] : []),
    ...access.map((one, i) => at(`access[${i}].policy`, 'standing', one)),
    ...(emergencyPolicy ? [at('emergencyPolicy', 'emergency', { policy: emergencyPolicy })] : []),
    ...mayGrant.map((policy, i) => at(`mayGrant[${i}]`, 'mayGrant', { policy })),
  ];
}
