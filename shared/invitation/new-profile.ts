import type { ProfileType, Reference, Resource } from '../fhir/resource.ts';
import { createActions } from '../store/resource-item.ts';
import { keys } from '../table/keys.ts';
import type { Action } from '../table/transact.ts';
import type { Relationship } from './parse-relationship.ts';

export interface NewProfile {
  id: string;
  type: ProfileType;
  firstName: string;
  lastName: string;
  email: string | undefined;
  externalId: string | undefined;
  /** For a RelatedPerson: whose relative; the resource holds the first. */
  patients: readonly Reference[];
  relationship?: Relationship | undefined;
}

/** A new profile resource, already used by one membership. */
export function createProfileActions(
  profile: NewProfile,
  stamp: { project: string; versionId: string; nowMs: number; author: Reference },
): Action[] {
  const { id, type, firstName, lastName, email, relationship } = profile;
  const resource: Resource = {
    resourceType: type,
    id,
    meta: {
      versionId: stamp.versionId,
      lastUpdated: new Date(stamp.nowMs).toISOString(),
      project: stamp.project,
      author: stamp.author,
    },
    ...(type === 'RelatedPerson' ? { patient: patientOf(profile.patients) } : {}),
    ...(relationship === undefined ? {} : { relationship: [relationship] }),
    name: [{ given: [firstName], family: lastName }],
    ...(email === undefined ? {} : { telecom: [{ system: 'email', use: 'work', value: email }] }),
  };
  return createActions(stamp.project, resource, { refs: 1 });
}

/** Uses an existing profile: it must be there, and no other membership may use it. */
export function bindProfileActions(project: string, type: ProfileType, id: string): Action[] {
  return [
    {
      name: 'profile',
      update: keys.resource(project, type, id),
      set: 'ADD refs :one',
      if: 'attribute_exists(pk) AND attribute_not_exists(deleted) AND (attribute_not_exists(refs) OR refs = :none)',
      values: { ':one': 1, ':none': 0 },
    },
  ];
}

/** RelatedPerson.patient is required; when nobody is named yet the resource says so. */
function patientOf(patients: readonly Reference[]) {
  return (
    patients[0] ?? {
      extension: [
        { url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' },
      ],
    }
  );
}
