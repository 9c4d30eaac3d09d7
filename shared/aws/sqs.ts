import {
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { errorName } from '../error-name.ts';
import type { DeadLetters, Message, NotTaken, Queue } from '../queue/queue.ts';
import { createExchanger } from './wire/exchange.ts';
import { leanClient } from './wire/lean-client.ts';

/** SQS: a batch has ten entries. */
const batch = 10;
const batchesAtOnce = 4;

/** A queue by its URL. */
export function sqsQueue(url: string): Queue {
  const sqs = connect(url);
  return {
    async send(messages) {
      const notTaken: NotTaken[] = [];
      const starts = Array.from({ length: Math.ceil(messages.length / batch) }, (_, i) => i * batch).values();
      await Promise.all(
        Array.from({ length: batchesAtOnce }, async () => {
          for (const at of starts) notTaken.push(...(await sendBatch(sqs, url, messages, at)));
        }),
      );
      return notTaken;
    },
  };
}

async function sendBatch(
  sqs: SQSClient,
  url: string,
  messages: readonly Message[],
  at: number,
): Promise<NotTaken[]> {
  const some = messages.slice(at, at + batch);
  try {
    const { Failed = [] } = await sqs.send(
      new SendMessageBatchCommand({
        QueueUrl: url,
        Entries: some.map(({ body }, i) => ({ Id: String(i), MessageBody: JSON.stringify(body) })),
      }),
    );
    return Failed.map(({ Id, Code = '' }) => ({ position: at + Number(Id), cause: Code }));
  } catch (error) {
    return some.map((_, i) => ({ position: at + i, cause: errorName(error) }));
  }
}

/** A queue's URL says where SQS is: on a laptop on loopback. */
function connect(url: string): SQSClient {
  const endpoint = new URL(url).origin;
  return leanClient(
    'sqs',
    createExchanger(),
    (options) => new SQSClient({ maxAttempts: 3, endpoint, ...options }),
  );
}

export function sqsDeadLetters(url: string): DeadLetters {
  const sqs = connect(url);
  return {
    async take() {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: batch }),
      );
      return Messages.map(({ Body: text = '', ReceiptHandle }) => ({
        text,
        async remove() {
          await sqs.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle }));
        },
      }));
    },
  };
}
