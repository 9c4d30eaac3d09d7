import type { Reference, Resource } from '../../../shared/fhir/resource.ts';
import { parseReference } from '../../../shared/fhir/resource.ts';
import { addressOf } from '../../../shared/invitation/person.ts';
import { parse } from '../../../shared/schema/check.ts';
import { openState } from '../../../shared/store/content.ts';
import { inlineResource } from '../../../shared/store/inline.ts';
import { keys } from '../../../shared/table/keys.ts';
import { linkBody } from '../bodies.ts';
import { noteViewer } from '../note-viewer.ts';
import { type LoginServices, requireLink } from './invitation-of-link.ts';

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
  const project = membership.project.reference.replace(/^Project\//, '');
  const inviter = parseReference(membership.invitedBy?.reference ?? '');
  const [passwordKey, projectKey] = [keys.password(userId), keys.resource(project, 'Project', project)];
  const inviterKey = inviter && keys.resource(project, inviter.type, inviter.id);
  const found = await services.table.read([passwordKey, projectKey, ...(inviterKey ? [inviterKey] : [])]);
  const head = inviterKey && found.get(inviterKey);
  const opened = head && (await openState({ table: services.table, project }, head));
  const name = inlineResource('Project', found.get(projectKey))?.name;
  const { authentication } = membership;
  const from = opened && nameOf(opened.resource);
  noteViewer(services, standing, {
    // Nobody has taken emergency access before they have accepted.
    heads: { member: undefined, project: found.get(projectKey) },
    named: [membership.profile.reference, ...(from && inviter ? [`${inviter.type}/${inviter.id}`] : [])],
  });
  return {
    project: { reference: `Project/${project}`, ...(typeof name === 'string' ? { display: name } : {}) },
    ...(membership.profile.display ? { name: membership.profile.display } : {}),
    ...emailIn(addressOf(login)),
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

function emailIn(email: string | undefined): { email?: string } {
  return email ? { email } : {};
}

/** Of a person or a program, as text. */
function nameOf({ name }: Resource): string | undefined {
  if (typeof name === 'string') return name;
  const [first] = Array.isArray(name) ? name : [];
  const { text, given, family } = { ...(first as Record<string, unknown> | undefined) };
  if (typeof text === 'string') return text;
  return [...(Array.isArray(given) ? given : []), family]
    .filter((part) => typeof part === 'string')
    .join(' ');
}
