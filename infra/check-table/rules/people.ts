import { parseReference, profileTypes } from '../../../shared/base/resource.ts';
import { ownerOf, ownerOfAddress } from '../../../shared/carry/table/item.ts';
import { keys } from '../../../shared/carry/table/keys.ts';
import { findPerson, personOf } from '../../../shared/identity/invitations/person.ts';
import { standingOf } from '../../../shared/identity/invitations/state.ts';
import { emailOf, loginOf } from '../../../shared/identity/sign-in/logins.ts';
import type { ProjectMembership } from '../../../shared/store/fhir/membership.ts';
import { inlineResource, isStanding } from '../../../shared/store/items/content.ts';
import { type Look, needs, type TableFinding, type TableRule, when } from '../rule.ts';
import { membershipsIn } from './resources.ts';

/** A membership stands on a Project, a User or program, and a profile; all say the same of it. */
export const membershipStands: TableRule = async (item, [project = '', , id = ''], look) => {
  const membership = inlineResource('ProjectMembership', item);
  if (!membership) return [];
  const profile = parseReference(membership.profile.reference);
  const profileKey = keys.resource(project, profile?.type ?? 'none', profile?.id ?? 'none');
  const head = await look.get(profileKey);
  const standing = standingOf(item);
  return [
    ...when(membership.project.reference !== `Project/${project}`, 'it names another Project'),
    ...when(!isStanding(head), `its profile ${membership.profile.reference} does not exist`),
    ...(standing
      ? await personStands(standing, project, membership, look)
      : when(head?.membershipId !== id, 'its program names another membership')),
  ];
};

async function personStands(
  { userId, login, profileType, invitation }: NonNullable<ReturnType<typeof standingOf>>,
  project: string,
  { id, active, user }: ProjectMembership,
  look: Look,
): Promise<TableFinding[]> {
  const [person, owner] = await Promise.all([
    findPerson(look.table, project, login),
    look.get(keys.user(userId)),
  ]);
  return [
    ...when(!isStanding(owner), `its User ${userId} does not exist`),
    ...when(user.reference !== `User/${userId}`, 'it names another User than its head'),
    ...(await needs(look, keys.userMembership(userId, project, id), 'list of its User with it')),
    ...when(
      person?.memberships[profileType] !== id || person.userId !== userId,
      'what the Project keeps of the person names another membership',
    ),
    ...when(active && invitation.state !== 'accepted', 'it is active, and its invitation was not accepted'),
  ];
}

/** What a Project keeps of a person names memberships that name the person. */
export const personAgrees: TableRule = async (item, [project = '', login = ''], look) => {
  if (typeof item.primary === 'string') {
    const first = await look.get(keys.person(project, item.primary));
    return when(personOf(first) === undefined, 'it is a second name of nobody');
  }
  if (item.keptUntilMs !== undefined) return [];
  const person = personOf(item);
  if (!person) return [{ text: 'it is nobody' }];
  const named = Object.entries(person.memberships);
  const heads = await Promise.all(
    named.map(([, id]) => look.get(keys.resource(project, 'ProjectMembership', id))),
  );
  const wrong = named.filter(([type], i) => {
    const standing = standingOf(heads[i]);
    return standing?.login !== login || standing.userId !== person.userId || standing.profileType !== type;
  });
  return [
    ...when(person.login !== login, 'it is somebody else'),
    ...when(
      // Who is a member no more may have ended elsewhere.
      named.length > 0 && !isStanding(await look.get(keys.user(person.userId))),
      `its User ${person.userId} does not exist`,
    ),
    ...wrong.map(([type, id]) => ({ text: `its membership ${id} is none of theirs as ${type}` })),
  ];
};

/** As many as are active, accepted and people; at least one. */
export const administratorsAreCounted: TableRule = async ({ count }, [project = ''], look) => {
  const found = await Promise.all(
    profileTypes.map((kind) =>
      membershipsIn(look, project, 'profile-type', { profile: { reference: `${kind}/none` } }),
    ),
  );
  const ids = new Set(
    found.flat().flatMap((head) => {
      const standing = standingOf(head);
      const { membership } = standing ?? {};
      return membership?.active && membership.admin === true ? [membership.id] : [];
    }),
  );
  return [
    ...when(ids.size !== Number(count), `there are ${ids.size} administrators, counted are ${count}`),
    ...when(ids.size === 0, 'there is no administrator'),
  ];
};

/** One User per address. */
export const userOwnsAddress: TableRule = async (item, [id], look) => {
  if (!isStanding(item)) return [];
  const email = emailOf(item);
  const { scopeProject } = item;
  if (typeof scopeProject === 'string')
    return needs(look, keys.resource(scopeProject, 'Project', scopeProject), `Project ${scopeProject}`);
  if (email === undefined) return [];
  return [
    ...when(item.email !== email, 'its head says another address than its content'),
    ...when(
      ownerOfAddress(await look.get(keys.address(email))) !== id,
      'its address is that of another User',
    ),
  ];
};

export const addressLeads: TableRule = async (item, [email], look) => {
  // One that was given up is kept for a while, and swept after that.
  if (ownerOfAddress(item) === undefined) return [];
  const user = await look.get(keys.user(ownerOf(item) ?? 'none'));
  return [
    ...when(!isStanding(user), 'its User does not exist'),
    ...when(isStanding(user) && emailOf(user) !== email, 'its User has another address'),
  ];
};

export const userExists: TableRule = async (_, [id = ''], look) =>
  when(!isStanding(await look.get(keys.user(id))), 'its User does not exist');

/** The list of a User's memberships holds theirs. */
export const mirrorAgrees: TableRule = async (item, [id, project = '', membershipId = ''], look) => {
  const standing = standingOf(await look.get(keys.resource(project, 'ProjectMembership', membershipId)));
  return [
    ...when(standing?.userId !== id, 'its membership does not exist, or is that of another User'),
    ...when(item.project !== project || item.membershipId !== membershipId, 'it is not what its key says'),
  ];
};

/** Whom an issuer names is a User, who has that one name there. */
export const subjectLeads: TableRule = async (item, _, look) => {
  const userId = ownerOf(item) ?? 'none';
  const names = await look.all(keys.user(userId).pk, 'ISSUER#', ['subjectKey']);
  return when(!names.some(({ subjectKey }) => subjectKey === item.pk), 'its User has another name there');
};

export const subjectIsLinked: TableRule = async ({ subjectKey }, [id], look) => {
  const subject = await look.get({ pk: String(subjectKey), sk: 'HEAD' });
  return when(ownerOf(subject) !== id, 'the issuer calls another User so');
};

/** A sign-in is that of a User or a program that there is, or was ended. */
export const loginStands: TableRule = async (item, _, look) => {
  if (item.kind !== 'person' || item.revoked === true) return [];
  const login = loginOf(item);
  return when(!isStanding(await look.get(keys.user(login.subject))), 'its User does not exist');
};

/** What a client shows who it is with is that of a client that there is. */
export const credentialStands: TableRule = async (item, [id = ''], look) => {
  const { project, membershipId } = item;
  const client = await look.get(keys.resource(String(project), 'ClientApplication', id));
  return [
    ...when(!isStanding(client), 'its ClientApplication does not exist'),
    ...when(isStanding(client) && client.membershipId !== membershipId, 'it names another membership'),
  ];
};

export const clientHasCredential: TableRule = async (item, [project, , id = ''], look) => {
  if (!isStanding(item)) return [];
  const credential = await look.get(keys.client(id));
  return when(credential?.project !== project, 'nothing says how it shows who it is');
};

/** A mail that waits is for an invitation that there is, and for no later one. */
export const mailIsDue: TableRule = async (item, [project = '', membershipId = ''], look) => {
  const standing = standingOf(await look.get(keys.resource(project, 'ProjectMembership', membershipId)));
  return [
    ...when(!standing, 'its membership does not exist'),
    ...when(
      Number(item.generation) > (standing?.invitation.generation ?? Infinity),
      'it is for a later link',
    ),
  ];
};
