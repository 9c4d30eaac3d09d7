import { number, object, string } from 'valibot';
import { emergencyMail } from '../../shared/email/emergency-mail.ts';
import type { Mail } from '../../shared/email/mailer.ts';
import { parseReference } from '../../shared/fhir/resource.ts';
import { emailOf } from '../../shared/login/user-email.ts';
import { senderNameOf } from '../../shared/project-settings.ts';
import { stored } from '../../shared/schema/stored.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import type { Item } from '../../shared/table/item.ts';
import { keys } from '../../shared/table/keys.ts';
import type { OutboxServices } from './services.ts';

const readOrder = stored(
  'mail about emergency access',
  object({
    project: string(),
    /** Who took it. */
    takenBy: object({ membershipId: string(), name: string() }),
    /** Who is told. */
    toldId: string(),
    untilMs: number(),
  }),
);

/**
 * It goes out even when the access has ended meanwhile. Undefined when its reader is no active administrator any more
 * and did not take it themself, or has no address.
 */
export async function emergencyOfItem(services: OutboxServices, item: Item): Promise<Mail | undefined> {
  const { table, baseUrl } = services;
  const order = readOrder(item);
  if (!order) return undefined;
  const { project, takenBy, toldId, untilMs } = order;
  const memberKey = keys.resource(project, 'ProjectMembership', toldId);
  const projectKey = keys.resource(project, 'Project', project);
  const found = await table.read([memberKey, projectKey]);
  const member = inlineResource('ProjectMembership', found.get(memberKey));
  const isTheirs = toldId === takenBy.membershipId;
  if (!member || (!isTheirs && !(member.active && member.admin))) return undefined;
  const userKey = keys.user(parseReference(member.user.reference)?.id ?? 'none');
  const email = emailOf((await table.read([userKey])).get(userKey));
  if (email === undefined) return undefined;
  const projectName = String(inlineResource('Project', found.get(projectKey))?.name ?? '');
  return emergencyMail({
    ...{ to: email, isTheirs, name: takenBy.name, projectName, untilMs },
    senderName: senderNameOf(found.get(projectKey), projectName),
    url: isTheirs ? `${baseUrl}/app` : `${baseUrl}/app/members/${takenBy.membershipId}`,
  });
}
