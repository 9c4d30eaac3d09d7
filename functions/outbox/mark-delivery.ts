import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import { targetOf } from '../../shared/audit/who.ts';
import type { Services } from '../../shared/services.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import { keys } from '../../shared/table/keys.ts';
import { ConditionFailed } from '../../shared/table/transact.ts';
import { type InvitationMail, readMailEvent } from './mail-event.ts';

type Store = Pick<Services, 'table' | 'now' | 'newId' | 'log'>;

/** A bounce or complaint, however often and in whatever order it is told. */
export async function noteMailEvent(services: Store, detail: unknown): Promise<void> {
  const event = readMailEvent(detail);
  if (!event) return;
  const { mail, address, delivery } = event;
  // By Project, for whoever operates the stage: the mail service counts those of all together.
  services.log.info('mail came back', { project: mail.project, delivery });
  // First, so that a process that dies here still sends no more to the address.
  if (delivery === 'complained' && address !== undefined)
    await keepComplaint(services, mail.project, address);
  await markDelivery(services, mail, delivery);
}

/** Nothing for a Project that is being deleted or is gone: people complain for weeks. */
async function keepComplaint({ table, now }: Store, project: string, address: string): Promise<void> {
  const check = keys.resource(project, 'Project', project);
  try {
    await table.transact([
      { name: 'project', check, if: 'attribute_exists(pk) AND attribute_not_exists(deletion)' },
      { name: 'complaint', put: { ...keys.complaint(project, address), atMs: now() } },
    ]);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
  }
}

/**
 * Notes at the invitation what became of its mail; nothing when there is a newer link or the member is
 * gone. A complaint outweighs a bounce. Who changes the invitation at the same moment may overwrite it.
 */
export async function markDelivery(
  { table, now, newId }: Store,
  { project, membershipId, generation }: InvitationMail,
  delivery: 'bounced' | 'complained',
): Promise<void> {
  const membershipKey = keys.resource(project, 'ProjectMembership', membershipId);
  const membership = inlineResource(
    'ProjectMembership',
    (await table.read([membershipKey])).get(membershipKey),
  );
  if (!membership) return;
  const isNews = delivery === 'complained' ? ' OR invitation.delivery = :bounced' : '';
  const audited: Audited = {
    project,
    subtype: delivery === 'bounced' ? 'mail-bounced' : 'mail-complained',
    action: 'U',
    outcome: '0',
    agent: { reference: 'system' },
    entities: [targetOf(membership)],
  };
  try {
    await table.transact([
      {
        name: 'invitation',
        update: membershipKey,
        set: 'SET invitation.delivery = :delivery',
        if: `invitation.generation = :generation AND attribute_not_exists(deleted) AND (attribute_not_exists(invitation.delivery)${isNews})`,
        values: {
          ':delivery': delivery,
          ':generation': generation,
          ...(isNews ? { ':bounced': 'bounced' } : {}),
        },
      },
      { name: 'audit', put: auditItem(audited, newId(), now()) },
    ]);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
  }
}
