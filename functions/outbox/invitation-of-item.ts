import type { Mail } from '../../shared/email/mailer.ts';
import { invitationMail } from '../../shared/invitation/invitation-mail.ts';
import { invitationUrl } from '../../shared/invitation/link.ts';
import { standingOf, stateOf } from '../../shared/invitation/state.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import type { Item } from '../../shared/table/item.ts';
import { keys } from '../../shared/table/keys.ts';
import { mailTags } from './mail-event.ts';
import { markDelivery } from './mark-delivery.ts';
import type { OutboxServices } from './services.ts';

/**
 * The mail of an invitation; undefined when it is no longer pending, when there is a newer link, or when
 * the address has complained of this Project's mails: then the invitation says so.
 */
export async function invitationOfItem(services: OutboxServices, item: Item): Promise<Mail | undefined> {
  const { project, membershipId, generation, email } = item as Item & Record<string, string>;
  const membershipKey = keys.resource(String(project), 'ProjectMembership', String(membershipId));
  const projectKey = keys.resource(String(project), 'Project', String(project));
  const complaintKey = keys.complaint(String(project), String(email));
  const found = await services.table.read([membershipKey, projectKey, complaintKey]);
  const standing = standingOf(found.get(membershipKey));
  const isLive =
    standing?.invitation.generation === Number(generation) &&
    stateOf(standing.invitation, services.now()) === 'pending';
  if (!standing || !isLive) return undefined;
  const link = { project: String(project), membershipId: String(membershipId), ...standing.invitation };
  if (found.get(complaintKey)) {
    await markDelivery(services, link, 'complained');
    return undefined;
  }
  return invitationMail({
    to: String(email),
    projectName: String(inlineResource('Project', found.get(projectKey))?.name ?? ''),
    invitee: standing.membership.profile.display ?? '',
    url: invitationUrl(services.baseUrl, await services.secret(), link),
    expiresAtMs: standing.invitation.expiresAtMs,
    tags: mailTags(link),
  });
}
