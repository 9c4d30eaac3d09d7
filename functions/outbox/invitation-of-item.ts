import { boolean, exactOptional, number, object, string } from 'valibot';
import type { Mail } from '../../shared/email/mailer.ts';
import { invitationMail } from '../../shared/invitation/invitation-mail.ts';
import { invitationUrl } from '../../shared/invitation/link.ts';
import { standingOf, stateOf } from '../../shared/invitation/state.ts';
import { lacks } from '../../shared/project-features.ts';
import { isDisabled, senderNameOf } from '../../shared/project-settings.ts';
import { stored } from '../../shared/schema/stored.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import type { Item } from '../../shared/table/item.ts';
import { keys } from '../../shared/table/keys.ts';
import { mailTags } from './mail-event.ts';
import { markDelivery } from './mark-delivery.ts';
import type { OutboxServices } from './services.ts';

const readOrder = stored(
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
  const { project, membershipId, generation, email, isFromOperator = false } = readOrder(item);
  const membershipKey = keys.resource(project, 'ProjectMembership', membershipId);
  const projectKey = keys.resource(project, 'Project', project);
  const complaintKey = keys.complaint(project, email);
  const found = await services.table.read([membershipKey, projectKey, complaintKey]);
  const standing = standingOf(found.get(membershipKey));
  const isLive =
    standing?.invitation.generation === generation &&
    stateOf(standing.invitation, services.now()) === 'pending';
  const head = found.get(projectKey);
  const mayMail = isFromOperator || !lacks(head, 'email');
  if (!standing || !isLive || isDisabled(head) || !mayMail) return undefined;
  const link = { project: project, membershipId: membershipId, ...standing.invitation };
  if (found.get(complaintKey)) {
    await markDelivery(services, link, 'complained');
    return undefined;
  }
  const projectName = String(inlineResource('Project', found.get(projectKey))?.name ?? '');
  return invitationMail({
    to: email,
    projectName,
    senderName: senderNameOf(found.get(projectKey), projectName),
    invitee: standing.membership.profile.display ?? '',
    url: await invitationUrl(services.baseUrl, services.keyRings['invitation-link'], link),
    expiresAtMs: standing.invitation.expiresAtMs,
    tags: mailTags(link),
  });
}
