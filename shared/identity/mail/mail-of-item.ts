import { boolean, exactOptional, number, object, optional, string } from 'valibot';
import { parseReference } from '../../base/resource.ts';
import { stored } from '../../base/schema.ts';
import { fieldsOf } from '../../base/values.ts';
import type { KeyRings } from '../../carry/keys/key-ring.ts';
import type { Services } from '../../carry/services.ts';
import { type Item, ownerOfAddress } from '../../carry/table/item.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import { readItem } from '../../carry/table/table.ts';
import type { ProjectMembership } from '../../store/fhir/membership.ts';
import { inlineResource } from '../../store/items/content.ts';
import { emailLogin, findPerson } from '../invitations/person.ts';
import { standingOf, stateOf } from '../invitations/state.ts';
import { isDisabled, lacks, projectSettings } from '../projects/settings.ts';
import { addressLink, addressMs, invitationLink, linkUrl, resetLink, resetMs } from '../sign-in/links.ts';
import { emailOf } from '../sign-in/logins.ts';
import { passwordHashOf } from '../sign-in/password.ts';
import {
  confirmAddressMail,
  emergencyMail,
  failureMail,
  invitationMail,
  type Mail,
  type Mailer,
  resetMail,
  securityMail,
} from './letters.ts';
import { mailTags, markDelivery } from './mail-event.ts';

const readInvitation = stored(
  'mail of an invitation',
  object({
    project: string(),
    membershipId: string(),
    generation: number(),
    email: string(),
    isFromOperator: exactOptional(boolean()),
  }),
);

/**
 * The mail of an invitation; undefined when it is no longer pending, when there is a newer link, when the Project is disabled or has
 * no mails (but those of who operates the service), or when the address has complained of this Project's mails: then the invitation says so.
 */
export async function invitationOfItem(services: OutboxServices, item: Item): Promise<Mail | undefined> {
  const { project, membershipId, generation, email, isFromOperator = false } = readInvitation(item);
  const complaintKey = keys.complaint(project, email);
  const { found, member, head, names } = await readProject(services, { project, membershipId }, [
    complaintKey,
  ]);
  const standing = standingOf(member);
  const isLive =
    standing?.invitation.generation === generation &&
    stateOf(standing.invitation, services.now()) === 'pending';
  const mayMail = isFromOperator || !lacks(head, 'email');
  if (!standing || !isLive || isDisabled(head) || !mayMail) return undefined;
  const link = { project, membershipId, ...standing.invitation };
  if (found.get(complaintKey)) {
    await markDelivery(services, link, 'complained');
    return undefined;
  }
  return invitationMail({
    ...{ to: email, ...names },
    invitee: standing.membership.profile.display ?? '',
    url: await linkUrl(services.baseUrl, services.keyRings['invitation-link'], invitationLink(link)),
    expiresAtMs: standing.invitation.expiresAtMs,
    tags: mailTags(link),
  });
}

/** What a mail of a Project looks at: head and names of the Project, the membership, and what else is asked for. */
async function readProject(
  { table }: OutboxServices,
  { project, membershipId }: { project: string; membershipId: string },
  more: readonly Key[] = [],
) {
  const memberKey = keys.resource(project, 'ProjectMembership', membershipId);
  const projectKey = keys.resource(project, 'Project', project);
  const found = await table.read([memberKey, projectKey, ...more]);
  const head = found.get(projectKey);
  const projectName = String(inlineResource('Project', head)?.name ?? '');
  const names = { projectName, senderName: projectSettings(head).senderName || projectName };
  return { found, member: found.get(memberKey), head, names };
}

/** The address of a member's User. */
async function addressOfMember(
  { table }: OutboxServices,
  { user }: ProjectMembership,
): Promise<string | undefined> {
  return emailOf(await readItem(table, keys.user(parseReference(user.reference)?.id ?? 'none')));
}

const readConfirmation = stored(
  'mail that confirms an address',
  object({ userId: string(), generation: number() }),
);
const readChange = stored('change of address', object({ email: string(), generation: number() }));

const readNotice = stored(
  'mail about a changed address',
  object({ email: string(), generation: number(), userId: exactOptional(string()) }),
);

/** Tells the address that was left, with a link that undoes the change. The release before named no User: then without. */
export async function addressChangedOfItem(
  { baseUrl, keyRings }: OutboxServices,
  item: Item,
): Promise<Mail | undefined> {
  const { email, generation, userId } = readNotice(item);
  const link = userId === undefined ? undefined : { userId, generation, email };
  const undoUrl = link && (await linkUrl(baseUrl, keyRings['address-link'], addressLink('undo', link)));
  return securityMail('address-changed', { to: email, baseUrl, undoUrl });
}

/** The mail with the link; undefined when the person has asked for another address since, or confirmed. */
export async function confirmationOfItem(services: OutboxServices, item: Item): Promise<Mail | undefined> {
  const { userId, generation } = readConfirmation(item);
  const change = readChange(await readItem(services.table, keys.addressChange(userId)));
  if (change?.generation !== generation || generation + addressMs <= services.now()) return undefined;
  const { email } = change;
  const ring = services.keyRings['address-link'];
  const url = await linkUrl(services.baseUrl, ring, addressLink('verify', { userId, generation, email }));
  return confirmAddressMail({ to: email, url });
}

const readEmergency = stored(
  'mail about emergency access',
  object({
    project: string(),
    /** Who took it. */
    takenBy: object({ membershipId: string(), name: string() }),
    /** Who is told. */
    toldId: string(),
    untilMs: number(),
    /** Left out by the release before. */
    isUnasked: exactOptional(boolean()),
  }),
);

/**
 * It goes out even when the access has ended meanwhile. Undefined when its reader is no active administrator any more
 * and did not take it themself, or has no address.
 */
export async function emergencyOfItem(services: OutboxServices, item: Item): Promise<Mail | undefined> {
  const { project, takenBy, toldId, untilMs, isUnasked = false } = readEmergency(item);
  const read = await readProject(services, { project, membershipId: toldId });
  const member = inlineResource('ProjectMembership', read.member);
  const isTheirs = toldId === takenBy.membershipId;
  if (!member || (!isTheirs && !(member.active && member.admin))) return undefined;
  const email = await addressOfMember(services, member);
  if (email === undefined) return undefined;
  const url = `${services.baseUrl}/app${isTheirs ? '' : `/members/${takenBy.membershipId}`}`;
  return emergencyMail({
    ...{ to: email, url, isTheirs, isUnasked, name: takenBy.name, untilMs },
    ...read.names,
  });
}

const readFailure = stored(
  'mail of a failed Subscription',
  object({ project: string(), subscriptionId: string(), membershipId: string(), generation: number() }),
);

/**
 * Undefined when the Subscription goes on again, its reader administers the Project no more, has no address, or has
 * complained of this Project's mails.
 */
export async function failureOfItem(services: OutboxServices, item: Item): Promise<Mail | undefined> {
  const { project, subscriptionId, membershipId } = readFailure(item);
  const subscriptionKey = keys.resource(project, 'Subscription', subscriptionId);
  const read = await readProject(services, { project, membershipId }, [subscriptionKey]);
  const subscription = inlineResource('Subscription', read.found.get(subscriptionKey));
  const member = inlineResource('ProjectMembership', read.member);
  if (isDisabled(read.head)) return undefined;
  if (subscription?.status !== 'error' || !member?.active || !member.admin) return undefined;
  const email = await addressOfMember(services, member);
  if (email === undefined) return undefined;
  if (await readItem(services.table, keys.complaint(project, email))) return undefined;
  const endpoint = parseReference(fieldsOf(subscription.channel).endpoint);
  const url = `${services.baseUrl}/app${endpoint?.type === 'Bot' ? `/bots/${endpoint.id}` : ''}`;
  const reason = String(subscription.error ?? '');
  return failureMail({ to: email, url, subscriptionId, reason, ...read.names });
}

const readReset = stored('mail for a new password', object({ email: string(), project: optional(string()) }));

/**
 * The mail for who has forgotten their password; undefined when nobody with a password has that address.
 * Only here is the address looked up: the request that asked for it took as long for any.
 */
export async function resetOfItem(services: OutboxServices, item: Item): Promise<Mail | undefined> {
  const { email, project } = readReset(item);
  const addressKey = keys.address(email);
  const [known, person] = await Promise.all([
    services.table.read([addressKey]),
    findPerson(services.table, project, emailLogin(email)),
  ]);
  const userId = person?.scope === 'project' ? person.userId : ownerOfAddress(known.get(addressKey));
  if (userId === undefined) return undefined;
  const userKey = keys.user(userId);
  const passwordKey = keys.password(userId);
  const found = await services.table.read([userKey, passwordKey]);
  const passwordHash = passwordHashOf(found.get(passwordKey));
  if (passwordHash === undefined || inlineResource('User', found.get(userKey))?.email !== email)
    return undefined;
  const link = { userId, expiresAtMs: services.now() + resetMs, passwordHash, email };
  const url = await linkUrl(services.baseUrl, services.keyRings['reset-link'], resetLink(link));
  return resetMail({ to: email, url });
}

export interface OutboxServices extends Services {
  mailer: Mailer;
  keyRings: KeyRings<'invitation-link' | 'reset-link' | 'address-link'>;
}
