import type {
  DynamoDBBatchItemFailure,
  DynamoDBBatchResponse,
  DynamoDBRecord,
  DynamoDBStreamEvent,
  EventBridgeEvent,
  ScheduledEvent,
} from 'aws-lambda';
import { sesMailer } from '../../shared/aws/ses.ts';
import { coreServices } from '../../shared/core-services.ts';
import { requireVariable } from '../../shared/env.ts';
import { stageKeys } from '../../shared/stage-keys.ts';
import { isOutboxKey } from '../../shared/table/keys.ts';
import { itemOf } from '../../shared/table/stream-image.ts';
import { sweepCutOff, tidyAfter } from '../../shared/table/tidy.ts';
import { noteMailEvent } from './mark-delivery.ts';
import { type OutboxServices, sendMail } from './send-mail.ts';
import { sweep } from './sweep.ts';

type MailServiceEvent = EventBridgeEvent<string, unknown>;

const core = coreServices(process.env);
const services: OutboxServices = {
  ...core,
  secret: stageKeys(requireVariable(process.env, 'KEYS'), core.table).secret,
  mailer: sesMailer({
    from: requireVariable(process.env, 'MAIL_FROM'),
    configurationSet: process.env.SES_CONFIGURATION_SET,
    endpoint: process.env.SES_ENDPOINT,
  }),
};

/**
 * Fed by the table's stream; every ten minutes a schedule calls it to sweep what was left undone; and
 * EventBridge passes on what the mail service says of mails. Nobody else may invoke it.
 */
export async function handler(
  event: DynamoDBStreamEvent | ScheduledEvent | MailServiceEvent,
): Promise<DynamoDBBatchResponse> {
  if (!('Records' in event)) {
    if (event.source === 'aws.ses') {
      await noteMailEvent(services, event.detail);
      return { batchItemFailures: [] };
    }
    await sweep(services);
    await sweepCutOff(services);
    return { batchItemFailures: [] };
  }
  for (const record of event.Records) await consume(record);
  return { batchItemFailures: await tidy(event.Records) };
}

/** Index items that a change left to do; in any order. @returns the first record to be given again */
async function tidy(records: readonly DynamoDBRecord[]): Promise<DynamoDBBatchItemFailure[]> {
  const done = await Promise.allSettled(
    records.map(({ dynamodb }) =>
      tidyAfter(services, { before: itemOf(dynamodb?.OldImage), after: itemOf(dynamodb?.NewImage) }),
    ),
  );
  const failed = done.findIndex(({ status }) => status === 'rejected');
  if (failed < 0) return [];
  services.log.error('index not tidied', {
    error: ((done[failed] as PromiseRejectedResult).reason as Error).name,
  });
  return [{ itemIdentifier: records[failed]?.dynamodb?.SequenceNumber ?? '' }];
}

/** A mail that the service did not take must not hold up the stream: the sweep sends it later. */
async function consume({ eventName, dynamodb }: DynamoDBRecord): Promise<void> {
  const pk = dynamodb?.Keys?.pk?.S;
  const sk = dynamodb?.Keys?.sk?.S;
  if (eventName === 'REMOVE' || pk === undefined || sk === undefined || !isOutboxKey(pk)) return;
  if (dynamodb?.OldImage?.generation?.N === dynamodb?.NewImage?.generation?.N) return;
  try {
    await sendMail(services, { pk, sk });
  } catch (error) {
    services.log.error('mail not sent', { error: (error as Error).name });
  }
}
