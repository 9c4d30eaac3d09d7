import type { Claims } from '../access/access-token.ts';
import type { Actor } from '../access/actor.ts';
import { isInEmergency } from '../access/emergency.ts';
import type { Reference, Resource } from '../fhir/resource.ts';
import { fieldsOf } from '../fields-of.ts';
import type { Services } from '../services.ts';

/** Who acts, by the name that the membership shows: it stands in the entry when they are gone. */
export function agentOf({ profile, membership }: Pick<Actor, 'profile' | 'membership'>): Reference {
  return named(profile, displayOf(membership.profile));
}

/** What an entry that is written with a change says of who did it: also whether they had emergency access. */
export function doneBy(actor: Pick<Actor, 'profile' | 'membership' | 'emergency' | 'run'>): {
  agent: Reference;
  isEmergency: boolean;
} {
  return { agent: agentOf(actor), isEmergency: isInEmergency(actor) };
}

/** The same for who was not admitted, as far as an earlier request of this process tells. */
export function agentOfCaller(
  { memory }: Pick<Services, 'memory'>,
  caller: Pick<Claims, 'profile' | 'membershipId'>,
): Reference {
  return named(caller.profile, memory.names.get(caller.membershipId));
}

/** The Project that somebody acts in. */
export function projectOf({ project, membership }: Pick<Actor, 'project' | 'membership'>): Reference {
  return named(`Project/${project}`, displayOf(membership.project));
}

/** A person's own User, which their Project knows by the name of their profile. */
export function ownUser(actor: Pick<Actor, 'subject' | 'profile' | 'membership'>): Reference {
  return named(`User/${actor.subject}`, agentOf(actor).display);
}

/** What something was done to: by its name too when it is administrative, else by reference only. */
export function targetOf(resource: Pick<Resource, 'resourceType' | 'id'> & Partial<Resource>): Reference {
  const { resourceType, id, name, profile } = resource;
  const display = resourceType === 'ProjectMembership' ? displayOf(profile) : name;
  return named(`${resourceType}/${id}`, isAdministrative(resourceType) ? display : undefined);
}

const administrative = new Set([
  'AccessPolicy',
  'Bot',
  'ClientApplication',
  'Project',
  'ProjectMembership',
  'Subscription',
  'User',
]);

/** Whether an entry may name resources of the type: records of patients never. */
export function isAdministrative(type: string | undefined): boolean {
  return type !== undefined && administrative.has(type);
}

function displayOf(reference: unknown): string | undefined {
  const { display } = fieldsOf(reference);
  return typeof display === 'string' ? display : undefined;
}

function named(reference: string, display: unknown): Reference {
  return typeof display === 'string' && display !== '' ? { reference, display } : { reference };
}
