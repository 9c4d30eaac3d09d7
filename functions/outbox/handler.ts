import type { EventBridgeEvent, ScheduledEvent, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { sesMailer } from '../../shared/aws/ses.ts';
import { requireVariable } from '../../shared/base/env.ts';
import { parseKey } from '../../shared/carry/work/queue.ts';
import { coreServices } from '../../shared/composition/core-services.ts';
import { queueHandler } from '../../shared/composition/queues.ts';
import { stageKeys } from '../../shared/composition/stage-keys.ts';
import { noteMailEvent } from '../../shared/identity/mail/mail-event.ts';
import type { OutboxServices } from '../../shared/identity/mail/mail-of-item.ts';
import { sendMail, sweep } from '../../shared/identity/mail/send-mail.ts';

type MailServiceEvent = EventBridgeEvent<string, unknown>;

const core = coreServices(process.env);
const services: OutboxServices = {
  ...core,
  keyRings: stageKeys(requireVariable(process.env, 'KEYS'), core.table, [
    'invitation-link',
    'reset-link',
    'address-link',
  ]).keyRings,
  mailer: sesMailer({
    from: requireVariable(process.env, 'MAIL_FROM'),
    configurationSet: process.env.SES_CONFIGURATION_SET,
    endpoint: process.env.SES_ENDPOINT,
  }),
};
const fed = queueHandler(process.env, 'mail', services, (body) => sendMail(services, parseKey(body)), {
  sweep: () => sweep(services),
});

/** Fed by its queue; and EventBridge passes on what the mail service says of mails. */
export async function handler(
  event: SQSEvent | ScheduledEvent | MailServiceEvent,
): Promise<SQSBatchResponse> {
  if (!('source' in event) || event.source !== 'aws.ses') return fed(event);
  await noteMailEvent(services, event.detail);
  return { batchItemFailures: [] };
}
