import { array, boolean, exactOptional, literal, object, string, union } from 'valibot';
import { stored } from '../../base/schema.ts';

/** What every stored resource has, whatever else. */
const resourceEntries = {
  resourceType: string(),
  id: string(),
  meta: object({ versionId: string(), lastUpdated: string() }),
};

export const reference = object({ reference: string(), display: exactOptional(string()) });

/** A resource as the table holds it: what every one has is looked at, the rest was checked when it was written. */
export const readResource = stored('resource', object(resourceEntries));

/** What a membership allows, and what it asks of logins: each is read by the names here. */
export const rightsFields = {
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

/** R4-style ProjectMembership, as clients of this field know it. */
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
