import { array, boolean, exactOptional, literal, object, string, union } from 'valibot';
import { stored } from '../schema/stored.ts';

/** What every stored resource has, whatever else. */
const resourceEntries = {
  resourceType: string(),
  id: string(),
  meta: object({ versionId: string(), lastUpdated: string() }),
};

export const reference = object({ reference: string(), display: exactOptional(string()) });

/** A resource as the table holds it: what every one has is looked at, the rest was checked when it was written. */
export const readResource = stored('resource', object(resourceEntries));

/** R4-style ProjectMembership, as clients of this field know it. */
export const membershipSchema = object({
  ...resourceEntries,
  resourceType: literal('ProjectMembership'),
  project: reference,
  user: reference,
  profile: reference,
  active: boolean(),
  admin: exactOptional(boolean()),
  accessPolicy: exactOptional(reference),
  /** The policy that is added while the person has emergency access. */
  emergencyPolicy: exactOptional(reference),
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
  externalId: exactOptional(string()),
  /** The address that the Project knows the person by. */
  userName: exactOptional(string()),
  invitedBy: exactOptional(reference),
  /** The patients that a RelatedPerson may reach. */
  patient: exactOptional(array(reference)),
  /** How a login must have been made to choose this membership. */
  authentication: exactOptional(union([literal('password'), object({ issuer: string() })])),
  mfaRequired: exactOptional(boolean()),
});
