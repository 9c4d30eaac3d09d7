import { domainToUnicode } from 'node:url';
import { invalidField, Refusal } from '../../base/refusal.ts';
import { type ProfileType, parseReference, type Reference } from '../../base/resource.ts';
import type { Services } from '../../carry/services.ts';
import { holderOfAddress, type Item, isKept } from '../../carry/table/item.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import { queryOf } from '../../carry/table/pages.ts';
import { type Found, readItem, type Table } from '../../carry/table/table.ts';
import { indexPartition } from '../../store/index/index-items.ts';
import { indexedId } from '../../store/index/key-range.ts';
import { parametersOf } from '../../store/index/registry.ts';
import { tokenBucket, tokensOf } from '../../store/index/token.ts';
import { valuesOf } from '../../store/index/value.ts';
import { inlineResource, isStanding, openState } from '../../store/items/content.ts';
import { readHeads } from '../../store/items/versions.ts';
import type { Caller } from '../gate/access-token.ts';
import { type Actor, admit, isRoot } from '../gate/actor.ts';
import type { EmergencyHeads } from '../gate/emergency.ts';
import { normaliseAddress } from '../mail/address.ts';
import { policyKeys, requirePolicies } from '../memberships/program.ts';
import { allows, visible } from '../policies/access.ts';
import { projectSettings } from '../projects/settings.ts';
import { emailOf as emailOfUser } from '../sign-in/logins.ts';
import type { Invite } from './parse-invite.ts';
import {
  emailLogin,
  knownNames,
  membershipKeys,
  namesOf,
  type Person,
  personOf,
  requireSecondName,
} from './person.ts';
import { type Standing, standingOf, stateOf } from './state.ts';
import type { InvitationState } from './states.ts';

/** Profiles of one type in one Project, by an e-mail address in them. */
interface Wanted {
  project: string;
  type: ProfileType;
  /** Normalised. */
  email: string;
}

/** So many are looked at: a Project may have written one address into any number of records. */
const mostProfiles = 500;
const batch = 25;
/** So many are listed. */
const mostListed = 10;

/**
 * The ids that the index has under the address, as one Query; two where the domain may be written in letters
 * beyond ASCII. Whether they still have it, the head says.
 */
async function indexedProfiles(table: Table, { project, type, email }: Wanted): Promise<readonly string[]> {
  const { index } = emailOf(type);
  const partitions = writtenForms(email).map((text) =>
    indexPartition(project, type, index, tokenBucket(text)),
  );
  const pages = await Promise.all(
    partitions.map(({ pk }) => table.query({ ...queryOf(pk), Limit: mostProfiles })),
  );
  return [...new Set(pages.flatMap(({ items }) => items.map(({ sk }) => indexedId(sk))))];
}

/** A normalised address as records may have it: with the domain as it is sent, or as it is read (IDNA). */
function writtenForms(email: string): string[] {
  const at = email.lastIndexOf('@') + 1;
  return [...new Set([email, email.slice(0, at) + domainToUnicode(email.slice(at))])];
}

/** References of those that have the address, are used by no membership, and that the actor may find by it. */
export async function unboundProfiles(
  table: Table,
  actor: Actor,
  { project, type, email }: Wanted,
  ids: readonly string[],
): Promise<string[]> {
  const owner = { table, project };
  const { parameter } = emailOf(type);
  const hasAddress = async (head: Item) => {
    const opened = await openState(table, head);
    if (!opened || !(await visible(actor, 'search', opened.resource, { searched: [parameter] })))
      return false;
    const tokens = valuesOf(opened.resource, parameter).flatMap(tokensOf);
    return tokens.some(({ value }) => value !== undefined && normaliseAddress(value) === email);
  };
  const found: string[] = [];
  for (let i = 0; i < ids.length && found.length < mostListed; i += batch) {
    for (const [id, head] of await readHeads(owner, type, ids.slice(i, i + batch))) {
      if (Number(head.refs ?? 0) === 0 && (await hasAddress(head))) found.push(`${type}/${id}`);
    }
  }
  return found.slice(0, mostListed);
}

/** R4's search parameter `email`, which every type of profile has. */
function emailOf(type: ProfileType) {
  const parameter = parametersOf(type).get('email');
  if (parameter?.index === undefined) throw new Error(`${type} is not indexed by e-mail`);
  return { parameter, index: parameter.index };
}

/** All that an invite depends on, read strongly consistent. */
export interface Gathered {
  actor: Actor;
  /** The batch read, with the policies that the invite names. */
  found: Found;
  /** What the Project knows of the person, under `login`. */
  person: Person | undefined;
  login: string;
  /** A second name that must lead to the same person. */
  alias: string | undefined;
  /** The User above Projects who has the address. */
  knownUserId: string | undefined;
  /** The address of a User of this Project whom the Project knows. */
  knownEmail: string | undefined;
  /** Whether who is invited by the external id of a User of this Project has another address than they had, and is nobody here. */
  isStranger: boolean;
  /** Whose second names the login and the alias were, of people who are nobody here any more. */
  left: { login: string | undefined; alias: string | undefined };
  /** The address by which a stranger's predecessor was known, which leads to nobody from now on. */
  leftAliasKey: Key | undefined;
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
  const names = namesOf(invite);
  const [firstName, secondName] = names;
  const nameKeys = names.map((name) => keys.person(project, name));
  const addressKey = invite.scope === 'server' && invite.email ? keys.address(invite.email) : undefined;
  const named = namedRecords(project, invite);

  const profiles = profilesOf(services, project, invite);
  const { actor, found, projectHead } = await admit(services, caller, [
    ...nameKeys,
    ...(addressKey ? [addressKey] : []),
    ...policyKeys(project, invite.rights),
    ...named.map((one) => one.key),
  ]);
  requirePolicies(project, invite.rights, found);
  for (const { key, expression, text } of named) {
    if (!(await mayName(services.table, actor, found.get(key)))) throw invalidField(expression, text);
  }
  if (nameKeys.some((key) => isKept(found.get(key), services.now())))
    throw new Refusal(
      'conflict',
      'A member had this address until lately, and may take it back for three days',
    );

  const { of: known, people } = await knownNames(services.table, project, names, found);
  const login = known(firstName).primary ?? firstName;
  const alias = secondName === login ? undefined : secondName;
  if (alias) requireSecondName(found.get(keys.person(project, alias)), known(alias), login);
  const person = personOf(people.get(keys.person(project, login)));
  const knownUserId = addressKey && holderOfAddress(found.get(addressKey), services.now());
  // Who had the address before, and is another User now, had a record of their own.
  const isSame = person?.scope === invite.scope && (!addressKey || person.userId === knownUserId);
  const noted = isSame ? person.profiles[invite.profileType] : undefined;
  const notedKey = noted ? keys.resource(project, invite.profileType, noted) : undefined;
  const userKey = person?.scope === 'project' ? keys.user(person.userId) : undefined;
  const more = person
    ? await services.table.read([
        ...membershipKeys(project, person),
        ...(notedKey ? [notedKey] : []),
        ...(userKey ? [userKey] : []),
      ])
    : found;
  const standings = person
    ? membershipKeys(project, person).flatMap((key) => standingOf(more.get(key)) ?? [])
    : [];
  const notedItem = notedKey && more.get(notedKey);
  const knownEmail = userKey && emailOfUser(more.get(userKey));
  // Whom nobody is any more may have been somebody else, who is not to be let in as whoever is invited now.
  const isStranger =
    userKey !== undefined &&
    invite.email !== knownEmail &&
    !standings.some(({ invitation }) => isOpen(stateOf(invitation, services.now())));
  const leftAliasKey =
    isStranger && knownEmail !== undefined ? keys.person(project, emailLogin(knownEmail)) : undefined;
  const leftAlias = leftAliasKey && (await readItem(services.table, leftAliasKey));
  const isFree = isFreeProfile(notedItem) && !isStranger && (await mayName(services.table, actor, notedItem));
  const { invitesPerHour, invitationDays } = projectSettings(projectHead);
  const profileItem = invite.profile && found.get(namedKey(project, invite.profile));

  return {
    actor,
    found,
    person,
    login,
    alias,
    knownUserId,
    knownEmail,
    isStranger,
    left: { login: known(login).left, alias: alias && known(alias).left },
    leftAliasKey: leftAlias?.primary === login ? leftAliasKey : undefined,
    standings,
    emergencyHeadsOf: (membershipId) => ({
      member: more.get(keys.resource(project, 'ProjectMembership', membershipId)),
      project: projectHead,
    }),
    notedProfile: isFree ? noted : undefined,
    isProfileFree: isFreeProfile(profileItem),
    indexedProfiles: await profiles,
    projectName: String(inlineResource('Project', projectHead)?.name ?? ''),
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

/** The records that an invite names. */
function namedRecords(project: string, { rights, profile }: Invite): Named[] {
  const name = (one: Reference, expression: string, text: string) => ({
    ...{ key: namedKey(project, one), expression, text },
  });
  return [
    ...(rights.patient ?? []).map((one) => name(one, 'patient', `${one.reference} does not exist`)),
    ...(profile ? [name(profile, 'profile', 'Profile does not belong to project')] : []),
  ];
}

function isOpen(state: InvitationState): boolean {
  return state === 'accepted' || state === 'pending';
}

/** Whether a record is there for an administrator who gives it to somebody: to who may not read it, it is not. */
export async function mayName(table: Table, actor: Actor, head: Item | undefined): Promise<boolean> {
  if (!isStanding(head) || isRoot(actor)) return isStanding(head);
  const opened = await openState(table, head);
  // What is bound in an emergency would outlive it.
  const { emergency: _, ...standing } = actor;
  return opened !== undefined && allows(standing, 'read', opened.resource);
}
