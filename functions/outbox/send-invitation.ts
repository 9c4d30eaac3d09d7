import type { StageSecret } from '../../shared/auth/signer.ts';
import { invitationMail } from '../../shared/email/invitation-mail.ts';
import type { Mailer } from '../../shared/email/mailer.ts';
import { invitationUrl } from '../../shared/invitation/link.ts';
import { standingOf, stateOf } from '../../shared/invitation/state.ts';
import type { Services } from '../../shared/services.ts';
import { type Key, keys } from '../../shared/table/keys.ts';
import { resourceOf } from '../../shared/table/resource-item.ts';
import type { Item } from '../../shared/table/table.ts';
import { claim, dropMail, releaseClaim, takeQuota } from './claim.ts';

export interface OutboxServices extends Services {
  mailer: Mailer;
  secret(): Promise<StageSecret>;
}

/**
 * Sends the mail of one outbox item, once: stream records come twice and out of order, so the item
 * is read again, claimed, and removed after the mail service took the mail. A mail of an older
 * generation, or for an invitation that is no longer pending, is dropped.
 * @throws {Error} when the mail service did not take it; the item stays for the next sweep
 */
export async function sendInvitation(services: OutboxServices, outboxKey: Key): Promise<void> {
  const item = (await services.table.read([outboxKey])).get(outboxKey);
  if (!item) return;
  const { project, membershipId, generation, email } = item as Item & Record<string, string>;
  const membershipKey = keys.resource(String(project), 'ProjectMembership', String(membershipId));
  const projectKey = keys.resource(String(project), 'Project', String(project));
  const found = await services.table.read([membershipKey, projectKey]);
  const standing = standingOf(found.get(membershipKey));
  const isLive =
    standing?.invitation.generation === Number(generation) &&
    stateOf(standing.invitation, services.now()) === 'pending';
  if (!standing || !isLive) return dropMail(services, item);

  if (!(await claim(services, item))) return;
  if (!(await takeQuota(services, String(email), 1))) {
    services.log.info('mail quota of this address is used up', { membership: membershipId });
    return dropMail(services, item);
  }
  const link = { project: String(project), membershipId: String(membershipId), ...standing.invitation };
  try {
    await services.mailer.send(
      invitationMail({
        to: String(email),
        projectName: String(resourceOf(found.get(projectKey))?.name ?? ''),
        invitee: standing.membership.profile.display ?? '',
        url: invitationUrl(services.baseUrl, await services.secret(), link),
        expiresAtMs: standing.invitation.expiresAtMs,
      }),
    );
  } catch (error) {
    await takeQuota(services, String(email), -1);
    await releaseClaim(services, item);
    throw error;
  }
  await dropMail(services, item);
}
