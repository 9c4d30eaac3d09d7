import type { Caller } from '../../shared/access/access-token.ts';
import { type Actor, admit } from '../../shared/access/actor.ts';
import type { EmergencyHeads } from '../../shared/access/emergency.ts';
import { parseReference, type Reference } from '../../shared/fhir/resource.ts';
import { namesOf, primaryOf, requireSecondName } from '../../shared/invitation/names.ts';
import type { Invite } from '../../shared/invitation/parse-invite.ts';
import { membershipKeys, type Person, personOf } from '../../shared/invitation/person.ts';
import { type Standing, standingOf } from '../../shared/invitation/state.ts';
import { projectSettings } from '../../shared/project-settings.ts';
import { invalidField } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { inlineResource, isStanding } from '../../shared/store/inline.ts';
import type { Item } from '../../shared/table/item.ts';
import { type Key, keys } from '../../shared/table/keys.ts';
import { ownerOf } from '../../shared/table/owner.ts';
import type { Found } from '../../shared/table/table.ts';
import { indexedProfiles } from './profiles-of-address.ts';

/** All that an invite depends on, read strongly consistent. */
export interface Gathered {
  actor: Actor;
  /** What the Project knows of the person, under `login`. */
  person: Person | undefined;
  login: string;
  /** A second name that must lead to the same person. */
  alias: string | undefined;
  /** The User above Projects who has the address. */
  knownUserId: string | undefined;
  standings: Standing[];
  /** What says whether the emergency access of one of them goes on. */
  emergencyHeadsOf(membershipId: string): EmergencyHeads;
  /** A profile of an earlier membership of this type that may be bound again. */
  notedProfile: string | undefined;
  /** Whether the profile that the invite names is used by no membership. */
  isProfileFree: boolean;
  /** Of the profiles with the invite's address, what the index has; none when the invite says which to take. */
  indexedProfiles: readonly string[];
  projectName: string;
  invitesPerHour: number | undefined;
  invitationDays: number | undefined;
}

/**
 * One batch read, and one Query by e-mail beside it, for a known and an unknown person alike; more only for a
 * person whom this Project already knows.
 * @throws {Refusal} invalid when a policy, profile or patient is not of the Project
 */
export async function gather(
  services: Services,
  caller: Caller<'administrator'>,
  invite: Invite,
): Promise<Gathered> {
  const { project } = caller;
  const [firstName, secondName] = namesOf(invite);
  const firstKey = keys.person(project, firstName);
  const secondKey = secondName ? keys.person(project, secondName) : undefined;
  const addressKey = invite.scope === 'server' && invite.email ? keys.address(invite.email) : undefined;
  const projectKey = keys.resource(project, 'Project', project);
  const named = namedResources(project, invite);

  const profiles = profilesOf(services, project, invite);
  const { actor, found } = await admit(services, caller, [
    projectKey,
    firstKey,
    ...(secondKey ? [secondKey] : []),
    ...(addressKey ? [addressKey] : []),
    ...named.map((one) => one.key),
  ]);
  requireNamed(named, found);

  const login = primaryOf(found, firstKey) ?? firstName;
  const alias = secondName === login ? undefined : secondName;
  if (alias && secondKey) requireSecondName(found, secondKey, login);
  const personKey = keys.person(project, login);
  const people = login === firstName ? found : await services.table.read([personKey]);
  const person = personOf(people.get(personKey));
  const knownUserId = addressKey && ownerOf(found.get(addressKey));
  // Who had the address before, and is another User now, had a record of their own.
  const isSame = person?.scope === invite.scope && (!addressKey || person.userId === knownUserId);
  const noted = isSame ? person.profiles[invite.profileType] : undefined;
  const notedKey = noted ? keys.resource(project, invite.profileType, noted) : undefined;
  const more = person
    ? await services.table.read([...membershipKeys(project, person), ...(notedKey ? [notedKey] : [])])
    : found;
  const standings = person
    ? membershipKeys(project, person).flatMap((key) => standingOf(more.get(key)) ?? [])
    : [];
  const notedItem = notedKey && more.get(notedKey);
  const isFree = isFreeProfile(notedItem);
  const projectItem = found.get(projectKey);
  const { invitesPerHour, invitationDays } = projectSettings(projectItem);
  const profileItem = invite.profile && found.get(namedKey(project, invite.profile));

  return {
    actor,
    person,
    login,
    alias,
    knownUserId,
    standings,
    emergencyHeadsOf: (membershipId) => ({
      member: more.get(keys.resource(project, 'ProjectMembership', membershipId)),
      project: projectItem,
    }),
    notedProfile: isFree ? noted : undefined,
    isProfileFree: isFreeProfile(profileItem),
    indexedProfiles: await profiles,
    projectName: String(inlineResource('Project', projectItem)?.name ?? ''),
    invitesPerHour,
    invitationDays,
  };
}

/** Asked beside the batch read, whoever calls: of the caller's own Project, and not answered before admission. */
function profilesOf({ table }: Services, project: string, invite: Invite): Promise<readonly string[]> {
  const { email, profile, newProfile, profileType: type } = invite;
  if (email === undefined || profile !== undefined || newProfile) return Promise.resolve([]);
  const asking = indexedProfiles(table, { project, type, email });
  // Nobody waits for it when the caller is refused.
  asking.catch(() => undefined);
  return asking;
}

function isFreeProfile(item: Item | undefined): boolean {
  return isStanding(item) && Number(item.refs ?? 0) === 0;
}

function namedKey(project: string, { reference }: Reference): Key {
  const target = parseReference(reference);
  return keys.resource(project, target?.type ?? '', target?.id ?? '');
}

interface Named {
  key: Key;
  expression: string;
  text: string;
}

function namedResources(project: string, { rights, profile }: Invite): Named[] {
  const name = (reference: string, expression: string, text: string): Named => ({
    key: namedKey(project, { reference }),
    expression,
    text,
  });
  const policies = [
    ...(rights.accessPolicy ? [[rights.accessPolicy, 'accessPolicy'] as const] : []),
    ...(rights.emergencyPolicy ? [[rights.emergencyPolicy, 'emergencyPolicy'] as const] : []),
    ...(rights.access ?? []).map((one, i) => [one.policy, `access[${i}].policy`] as const),
  ];
  return [
    ...policies.map(([{ reference }, expression]) =>
      name(reference, expression, `Access policy ${reference} does not exist`),
    ),
    ...(rights.patient ?? []).map(({ reference }) =>
      name(reference, 'patient', `${reference} does not exist`),
    ),
    ...(profile ? [name(profile.reference, 'profile', 'Profile does not belong to project')] : []),
  ];
}

function requireNamed(named: readonly Named[], found: Found): void {
  for (const { key, expression, text } of named) {
    if (!isStanding(found.get(key))) throw invalidField(expression, text);
  }
}
