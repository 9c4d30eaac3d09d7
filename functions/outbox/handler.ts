import type { EventBridgeEvent, ScheduledEvent, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { sesMailer } from '../../shared/aws/ses.ts';
import { coreServices } from '../../shared/composition/core-services.ts';
import { openDeadLetters } from '../../shared/composition/queues.ts';
import { stageKeys } from '../../shared/composition/stage-keys.ts';
import { requireVariable } from '../../shared/env.ts';
import { consume } from '../../shared/queue/consume.ts';
import { parseKey } from '../../shared/queue/key-message.ts';
import { retryDead } from '../../shared/queue/retry-dead.ts';
import { noteMailEvent } from './mark-delivery.ts';
import { sendMail } from './send-mail.ts';
import type { OutboxServices } from './services.ts';
import { sweep } from './sweep.ts';

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
const dead = openDeadLetters(process.env, 'mail');

const work = (body: unknown) => sendMail(services, parseKey(body));

/**
 * Fed by its queue; every ten minutes a schedule calls it to sweep what was left undone; and
 * EventBridge passes on what the mail service says of mails. Nobody else may invoke it.
 */
export async function handler(
  event: SQSEvent | ScheduledEvent | MailServiceEvent,
): Promise<SQSBatchResponse> {
  if ('Records' in event) return consume(services, event.Records, work);
  if (event.source === 'aws.ses') {
    await noteMailEvent(services, event.detail);
    return { batchItemFailures: [] };
  }
  await sweep(services);
  await retryDead(services, dead, work);
  return { batchItemFailures: [] };
}
