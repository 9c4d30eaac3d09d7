import { number, object, string } from 'valibot';
import { failureMail } from '../../shared/email/failure-mail.ts';
import type { Mail } from '../../shared/email/mailer.ts';
import { parseReference } from '../../shared/fhir/resource.ts';
import { fieldsOf } from '../../shared/fields-of.ts';
import { emailOf } from '../../shared/login/user-email.ts';
import { isDisabled, senderNameOf } from '../../shared/project-settings.ts';
import { stored } from '../../shared/schema/stored.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import type { Item } from '../../shared/table/item.ts';
import { keys } from '../../shared/table/keys.ts';
import type { OutboxServices } from './services.ts';

const readOrder = stored(
  'mail of a failed Subscription',
  object({ project: string(), subscriptionId: string(), membershipId: string(), generation: number() }),
);

/**
 * Undefined when the Subscription goes on again, its reader administers the Project no more, has no address, or has
 * complained of this Project's mails.
 */
export async function failureOfItem(services: OutboxServices, item: Item): Promise<Mail | undefined> {
  const { table, baseUrl } = services;
  const { project, subscriptionId, membershipId } = readOrder(item);
  const subscriptionKey = keys.resource(project, 'Subscription', subscriptionId);
  const memberKey = keys.resource(project, 'ProjectMembership', membershipId);
  const projectKey = keys.resource(project, 'Project', project);
  const found = await table.read([subscriptionKey, memberKey, projectKey]);
  const subscription = inlineResource('Subscription', found.get(subscriptionKey));
  const member = inlineResource('ProjectMembership', found.get(memberKey));
  if (isDisabled(found.get(projectKey))) return undefined;
  if (subscription?.status !== 'error' || !member?.active || !member.admin) return undefined;
  const userKey = keys.user(parseReference(member.user.reference)?.id ?? 'none');
  const email = emailOf((await table.read([userKey])).get(userKey));
  if (email === undefined) return undefined;
  const complaintKey = keys.complaint(project, email);
  if ((await table.read([complaintKey])).get(complaintKey)) return undefined;
  const { endpoint } = fieldsOf(subscription.channel);
  const isOfBot = parseReference(endpoint)?.type === 'Bot';
  const projectName = String(inlineResource('Project', found.get(projectKey))?.name ?? '');
  return failureMail({
    to: email,
    projectName,
    senderName: senderNameOf(found.get(projectKey), projectName),
    subscriptionId,
    reason: String(subscription.error ?? ''),
    url: isOfBot ? `${baseUrl}/app/bots/${parseReference(endpoint)?.id}` : `${baseUrl}/app`,
  });
}
