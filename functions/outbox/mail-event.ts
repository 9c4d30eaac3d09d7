import { normaliseAddress } from '../../shared/email/address.ts';
import { isId } from '../../shared/fhir/resource.ts';
import { fieldsOf } from '../../shared/fields-of.ts';

/** Which mail of which invitation. */
export interface InvitationMail {
  project: string;
  membershipId: string;
  generation: number;
}

/** What the mail service says of a mail of ours. */
export interface MailEvent {
  mail: InvitationMail;
  /** Normalised; undefined when the event names none. */
  address: string | undefined;
  delivery: 'bounced' | 'complained';
}

/** With these the mail service names the invitation again. */
export function mailTags({ project, membershipId, generation }: InvitationMail): Record<string, string> {
  return { project, membership: membershipId, generation: String(generation) };
}

/**
 * Reads an event that SES has published (docs.aws.amazon.com/ses, event data: Bounce, Complaint).
 * Undefined for what is not about an invitation, and for automatic answers, which SES calls bounces too.
 */
export function readMailEvent(detail: unknown): MailEvent | undefined {
  const { eventType, mail, bounce } = fieldsOf(detail);
  const { tags, destination } = fieldsOf(mail);
  const [project, membershipId, generation] = ['project', 'membership', 'generation'].map((name) =>
    firstText(fieldsOf(tags)[name]),
  );
  if (
    !project ||
    !membershipId ||
    !isId(project) ||
    !isId(membershipId) ||
    !/^\d{1,9}$/.test(generation ?? '')
  ) {
    return undefined;
  }
  const delivery = deliveryOf(eventType, fieldsOf(bounce));
  return (
    delivery && {
      mail: { project, membershipId, generation: Number(generation) },
      address: normaliseAddress(firstText(destination) ?? ''),
      delivery,
    }
  );
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
