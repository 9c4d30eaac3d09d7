import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Listening, listen, readBody } from '../gateway/listen.ts';
import type { QueueStore } from './queue-store.ts';

/** SQS: a batch, and a message. */
const longestBodyBytes = 1024 * 1024;
/** Unless a request says otherwise. */
const hiddenMs = 30_000;

export interface SqsApi extends Listening {
  /** The URL of a queue; it need not be made before. */
  urlOf(queue: string): string;
}

/** The operations of SQS that the handlers call, over its JSON protocol, on loopback. */
export async function serveSqs(store: QueueStore): Promise<SqsApi> {
  const listening = await listen(0, (request, response) => {
    serve(store, request, response).catch(() => answer(response, 500, { __type: 'InternalError' }));
  });
  return { ...listening, urlOf: (queue) => `${listening.url}/000000000000/${queue}` };
}

interface Request {
  QueueUrl?: string;
  SourceArn?: string;
  Entries?: {
    Id: string;
    MessageBody: string;
    MessageGroupId?: string;
    MessageDeduplicationId?: string;
    DelaySeconds?: number;
  }[];
  MaxNumberOfMessages?: number;
  VisibilityTimeout?: number;
  ReceiptHandle?: string;
}

const operations: Readonly<
  Record<string, (store: QueueStore, queue: string, request: Request) => Record<string, unknown>>
> = {
  SendMessageBatch(store, queue, { Entries = [] }) {
    const ids = store.send(
      queue,
      Entries.map(({ MessageBody, MessageGroupId, MessageDeduplicationId, DelaySeconds }) => ({
        ...{ body: MessageBody, group: MessageGroupId, deduplication: MessageDeduplicationId },
        delayMs: DelaySeconds && DelaySeconds * 1000,
      })),
    );
    const Successful = Entries.map(({ Id, MessageBody }, i) => ({
      Id,
      MessageId: ids[i],
      MD5OfMessageBody: md5(MessageBody),
    }));
    return { Successful, Failed: [] };
  },
  ReceiveMessage(store, queue, { MaxNumberOfMessages: most = 1, VisibilityTimeout: seconds }) {
    const received = store.receive(queue, {
      most,
      hiddenMs: seconds === undefined ? hiddenMs : seconds * 1000,
    });
    const Messages = received.map(({ id, body, receipt }) => ({
      MessageId: id,
      ReceiptHandle: receipt,
      MD5OfBody: md5(body),
      Body: body,
    }));
    return { Messages };
  },
  ChangeMessageVisibility(store, _queue, { ReceiptHandle = '', VisibilityTimeout = 0 }) {
    store.postpone(ReceiptHandle, VisibilityTimeout * 1000);
    return {};
  },
  GetQueueAttributes(store, queue) {
    return {
      Attributes: { QueueArn: arnOf(queue), ApproximateNumberOfMessages: String(store.count(queue)) },
    };
  },
  /** From dead letters to the queue that they come from. */
  StartMessageMoveTask(store, queue) {
    store.move(queue, queue.replace(/-dead$/, ''));
    return { TaskHandle: queue };
  },
  DeleteMessage(store, _queue, { ReceiptHandle = '' }) {
    store.remove(ReceiptHandle);
    return {};
  },
};

async function serve(store: QueueStore, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const operation = operations[String(request.headers['x-amz-target']).replace('AmazonSQS.', '')];
  const body = await readBody(request, longestBodyBytes);
  if (!operation || !body) return answer(response, 400, { __type: 'com.amazonaws.sqs#UnsupportedOperation' });
  const asked = JSON.parse(body.toString('utf8')) as Request;
  const queue = (asked.SourceArn ?? asked.QueueUrl ?? '').split(/[/:]/).at(-1) ?? '';
  answer(response, 200, operation(store, queue, asked));
}

function arnOf(queue: string): string {
  return `arn:aws:sqs:eu-west-1:000000000000:${queue}`;
}

function answer(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
  response.end(JSON.stringify(value));
}

function md5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}
