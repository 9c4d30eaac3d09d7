import { isId } from '../../base/resource.ts';
import { fieldsOf } from '../../base/values.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { readItem } from '../../carry/table/table.ts';
import { type Action, whenConditionFailed } from '../../carry/table/transact.ts';
import { inlineResource } from '../../store/items/content.ts';
import { auditAction, operator, targetOf } from '../audit/audit-event.ts';
import { stayingAction } from '../projects/settings.ts';
import { normaliseAddress } from './address.ts';
import type { Mail } from './letters.ts';

/** Which mail of which invitation. */
interface InvitationMail {
  project: string;
  membershipId: string;
  generation: number;
}

/** What the mail service says of a mail of ours. */
interface MailEvent {
  mail: InvitationMail;
  /** Normalised; undefined when the event names none. */
  address: string | undefined;
  delivery: 'bounced' | 'complained';
}

/** With these the mail service names the invitation again. */
export function mailTags({ project, membershipId, generation }: InvitationMail): Record<string, string> {
  return { project, membership: membershipId, generation: String(generation) };
}

/** What SES would publish of an invitation that it does not take. */
export function bounceOf({ to, tags = {} }: Pick<Mail, 'to' | 'tags'>): object {
  const named = Object.entries(tags).map(([name, value]) => [name, [value]]);
  return {
    ...{ eventType: 'Bounce', bounce: { bounceType: 'Permanent' } },
    mail: { tags: Object.fromEntries(named), destination: [to] },
  };
}

/**
 * Reads an event that SES has published (docs.aws.amazon.com/ses, event data: Bounce, Complaint).
 * Undefined for what is not about an invitation, and for automatic answers, which SES calls bounces too.
 */
function readMailEvent(detail: unknown): MailEvent | undefined {
  const { eventType, mail, bounce } = fieldsOf(detail);
  const { tags, destination } = fieldsOf(mail);
  const [project, membershipId, generation] = ['project', 'membership', 'generation'].map((name) =>
    firstText(fieldsOf(tags)[name]),
  );
  const delivery = deliveryOf(eventType, fieldsOf(bounce));
  if (!delivery || !project || !membershipId || !isId(project) || !isId(membershipId)) return undefined;
  if (!/^\d{1,9}$/.test(generation ?? '')) return undefined;
  const address = normaliseAddress(firstText(destination) ?? '');
  return { mail: { project, membershipId, generation: Number(generation) }, address, delivery };
}

function deliveryOf(eventType: unknown, bounce: Record<string, unknown>): MailEvent['delivery'] | undefined {
  if (eventType === 'Complaint') return 'complained';
  const isAutomatic = bounce.bounceType === 'Transient' && bounce.bounceSubType === 'General';
  return eventType === 'Bounce' && !isAutomatic ? 'bounced' : undefined;
}

function firstText(value: unknown): string | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : undefined;
  return typeof first === 'string' ? first : undefined;
}

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
  const actions: Action[] = [
    stayingAction(project),
    { name: 'complaint', put: { ...keys.complaint(project, address), atMs: now() } },
  ];
  await table.transact(actions).catch(whenConditionFailed(() => undefined));
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
  const membership = inlineResource('ProjectMembership', await readItem(table, membershipKey));
  if (!membership) return;
  const isNews = delivery === 'complained' ? ' OR invitation.delivery = :bounced' : '';
  const marked: Action = {
    name: 'invitation',
    update: membershipKey,
    set: 'SET invitation.delivery = :delivery',
    if: `invitation.generation = :generation AND attribute_not_exists(deleted) AND (attribute_not_exists(invitation.delivery)${isNews})`,
    values: {
      ...{ ':delivery': delivery, ':generation': generation },
      ...(isNews ? { ':bounced': 'bounced' } : {}),
    },
  };
  const event = { subtype: `mail-${delivery}`, action: 'U', entities: [targetOf(membership)] } as const;
  const audit = auditAction({ newId, now }, { project, agent: operator }, event);
  await table.transact([marked, audit]).catch(whenConditionFailed(() => undefined));
}
