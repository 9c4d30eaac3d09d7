import { Refusal } from '../../base/refusal.ts';
import { isId, parseReference, type Reference, type Resource } from '../../base/resource.ts';
import { parse } from '../../base/schema.ts';
import { fieldsOf } from '../../base/values.ts';
import { noteNamed } from '../../carry/disclosure.ts';
import type { KeyPurpose, KeyRings } from '../../carry/keys/key-ring.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { projectIdOf } from '../../store/fhir/membership.ts';
import { inlineResource, openState } from '../../store/items/content.ts';
import { activeGrant, type EmergencyHeads } from '../gate/emergency.ts';
import { addressOf } from '../invitations/person.ts';
import { type Standing, standingOf, stateOf } from '../invitations/state.ts';
import { auditsReads, isDisabled } from '../projects/settings.ts';
import { deadLinkText, linkBody } from './bodies.ts';
import { invitationLink, isLinkSecret } from './links.ts';

export interface LoginServices extends Services {
  keyRings: KeyRings<Exclude<KeyPurpose, 'run-token' | 'drafts'>>;
}

/**
 * The pending invitation that a link speaks for.
 * @throws {Refusal} invalid, one text for a link that is expired, revoked, superseded, used or made up,
 *   or of a disabled Project
 */
export async function requireLink(
  services: LoginServices,
  { id, secret }: { id: string; secret: string },
): Promise<Standing> {
  const [project = '', membershipId = '', generation = ''] = id.split('.');
  if (!isId(project) || !isId(membershipId)) throw deadLink();
  const key = keys.resource(project, 'ProjectMembership', membershipId);
  const projectKey = keys.resource(project, 'Project', project);
  const found = await services.table.read([key, projectKey]);
  const standing = standingOf(found.get(key));
  if (!standing || isDisabled(found.get(projectKey))) throw deadLink();
  const { invitation } = standing;
  const link = { project, membershipId, ...invitation };
  const isLive =
    String(invitation.generation) === generation &&
    stateOf(invitation, services.now()) === 'pending' &&
    (await isLinkSecret(services.keyRings['invitation-link'], invitationLink(link), secret));
  if (!isLive) throw deadLink();
  return standing;
}

export function deadLink(): Refusal {
  return new Refusal('invalid', deadLinkText);
}

/**
 * Notes for the access record to whom a route without a caller names people, and whom it names.
 * @param of.login on its way, where there is one
 * @param of.named references of whom the answer names
 */
export function noteViewer(
  { disclosure, memory, now }: Services,
  { membership }: Standing,
  of: { heads: EmergencyHeads; login?: { id: string; clientId: string }; named: readonly string[] },
): void {
  if (!disclosure) return;
  const { heads, login, named } = of;
  const { id, profile } = membership;
  if (profile.display !== undefined) memory.names.set(id, profile.display);
  disclosure.viewer = {
    project: projectIdOf(membership),
    profile: profile.reference,
    membershipId: id,
    clientId: login?.clientId ?? '',
    ...(login ? { loginId: login.id } : {}),
  };
  disclosure.isAudited = auditsReads(heads.project);
  disclosure.isEmergency = activeGrant(membership, heads, now()) !== undefined;
  for (const reference of named) noteNamed(disclosure, reference);
}

/** What the page behind an invitation's link may tell whoever holds the link: they are the one invited. */
export interface InvitationOfLink {
  project: Reference;
  /** The name that the Project knows them by, and the address that the mail went to. */
  name?: string;
  email?: string;
  inviter?: string;
  profileType: string;
  /** ISO 8601. */
  expires: string;
  /** How they accept: with a new password, the one that they have, or the sign-in of this issuer. */
  method: 'new-password' | 'own-password' | { issuer: string };
}

/**
 * Reads the invitation of a link, and consumes nothing.
 * @param body `{id, secret}` from the link's fragment
 * @throws {Refusal} invalid, one text for a link that is expired, revoked, superseded, used or made up
 */
export async function readInvitation(services: LoginServices, body: unknown): Promise<InvitationOfLink> {
  const standing = await requireLink(services, parse(linkBody, body));
  const { membership, invitation, userId, login, profileType } = standing;
  const project = projectIdOf(membership);
  const inviter = parseReference(membership.invitedBy?.reference ?? '');
  const [passwordKey, projectKey] = [keys.password(userId), keys.resource(project, 'Project', project)];
  const inviterKey = inviter && keys.resource(project, inviter.type, inviter.id);
  const found = await services.table.read([passwordKey, projectKey, ...(inviterKey ? [inviterKey] : [])]);
  const head = inviterKey && found.get(inviterKey);
  const opened = head && (await openState(services.table, head));
  const name = inlineResource('Project', found.get(projectKey))?.name;
  const { authentication } = membership;
  const email = addressOf(login);
  const from = opened && nameOf(opened.resource);
  noteViewer(services, standing, {
    // Nobody has taken emergency access before they have accepted.
    heads: { member: undefined, project: found.get(projectKey) },
    named: [membership.profile.reference, ...(from && inviter ? [`${inviter.type}/${inviter.id}`] : [])],
  });
  return {
    project: { reference: `Project/${project}`, ...(typeof name === 'string' ? { display: name } : {}) },
    ...(membership.profile.display ? { name: membership.profile.display } : {}),
    ...(email ? { email } : {}),
    ...(from ? { inviter: from } : {}),
    profileType,
    expires: new Date(invitation.expiresAtMs).toISOString(),
    method:
      typeof authentication === 'object'
        ? { issuer: authentication.issuer }
        : found.get(passwordKey)
          ? 'own-password'
          : 'new-password',
  };
}

/** Of a person or a program, as text. */
export function nameOf(resource: Resource | undefined): string | undefined {
  const { name } = fieldsOf(resource);
  if (typeof name === 'string') return name;
  const { text, given, family } = fieldsOf(fieldsOf(name)[0]);
  if (typeof text === 'string') return text;
  return [given ?? [], family]
    .flat()
    .filter((part) => typeof part === 'string')
    .join(' ');
}
