import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { inChunks, inParallel } from '../base/in-parallel.ts';
import { errorName } from '../base/values.ts';
import type { DeadLetters, Feed, Message, NotTaken, Queue } from '../carry/work/queue.ts';
import { createExchanger, leanClient, patience } from './wire/transport.ts';

/** SQS: a batch has ten entries. */
const batch = 10;
const batchesAtOnce = 4;

/** A queue by its URL. */
export function sqsQueue(url: string): Queue {
  const sqs = connect(url);
  return {
    async send(messages) {
      const notTaken: NotTaken[] = [];
      for (const round of roundsOf(messages)) {
        const blocked = new Set(notTaken.map(({ position }) => messages[position]?.group?.id));
        const isOpen = ({ group }: Message) => group === undefined || !blocked.has(group.id);
        const open = round.filter(({ message }) => isOpen(message));
        const closed = round.filter(({ message }) => !isOpen(message));
        notTaken.push(...closed.map(({ position }) => ({ position, cause: 'one before it was not taken' })));
        notTaken.push(...(await sendRound(sqs, url, open)));
      }
      return notTaken;
    },
  };
}

interface Positioned {
  position: number;
  message: Message;
}

/** The messages of a group one after the other, each in a round of its own; what has no group in the first. */
function roundsOf(messages: readonly Message[]): Positioned[][] {
  const rounds: Positioned[][] = [];
  const next = new Map<string, number>();
  for (const [position, message] of messages.entries()) {
    const id = message.group?.id;
    const round = id === undefined ? 0 : (next.get(id) ?? 0);
    if (id !== undefined) next.set(id, round + 1);
    rounds[round] = [...(rounds[round] ?? []), { position, message }];
  }
  return rounds;
}

async function sendRound(sqs: SQSClient, url: string, round: readonly Positioned[]): Promise<NotTaken[]> {
  const notTaken: NotTaken[] = [];
  await inParallel(inChunks(round, batch), batchesAtOnce, async (some) => {
    notTaken.push(...(await sendBatch(sqs, url, some)));
  });
  return notTaken;
}

async function sendBatch(sqs: SQSClient, url: string, some: readonly Positioned[]): Promise<NotTaken[]> {
  try {
    const { Failed = [] } = await sqs.send(
      new SendMessageBatchCommand({
        QueueUrl: url,
        Entries: some.map(({ message }, i) => ({ Id: String(i), ...entryOf(message) })),
      }),
    );
    return Failed.map(({ Id, Code = '' }) => ({ position: some[Number(Id)]?.position ?? 0, cause: Code }));
  } catch (error) {
    return some.map(({ position }) => ({ position, cause: errorName(error) }));
  }
}

function entryOf({ body, group, share, delaySeconds }: Message) {
  return {
    MessageBody: JSON.stringify(body),
    ...(share === undefined ? {} : { MessageGroupId: share }),
    ...(group ? { MessageGroupId: group.id, MessageDeduplicationId: group.message } : {}),
    ...(delaySeconds === undefined ? {} : { DelaySeconds: delaySeconds }),
  };
}

/** The queue that feeds a function, by its URL. */
export function sqsFeed(url: string): Feed {
  const sqs = connect(url);
  return {
    async postpone(ReceiptHandle, VisibilityTimeout) {
      await sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl: url, ReceiptHandle, VisibilityTimeout }));
    },
  };
}

/** A queue's URL says where SQS is: on a laptop on loopback, where it is waited for. */
function connect(url: string): SQSClient {
  const { origin: endpoint, protocol } = new URL(url);
  const exchanger = createExchanger(protocol === 'https:' ? patience : {});
  return leanClient('sqs', SQSClient, exchanger, { maxAttempts: 3, endpoint });
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
