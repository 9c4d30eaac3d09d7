import { createHash, randomUUID } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { longestPayloadBytes } from '../context.ts';
import { type Listening, listen, readBody } from '../gateway/listen.ts';
import type { QueueStore, SentMessage } from './queue-store.ts';

/** What a service answers to its client of the SDK. */
interface ServiceAnswer {
  status: number;
  /** Sent as JSON. */
  value?: unknown;
  headers?: Record<string, string>;
}

/**
 * A service of AWS, or as much of it as handlers call: undefined for a request to another one. A body that is longer
 * than `mostBytes` is refused; without an answer the connection is closed.
 */
export type AwsService = (
  request: IncomingMessage,
) => { mostBytes: number; answer(body: Buffer): Promise<ServiceAnswer | undefined> } | undefined;

/** How a service says no: in the header or in the body, as its protocol has it. */
export function refusal(status: number, type: string, message = type): ServiceAnswer {
  return { status, value: { __type: type, message }, headers: { 'x-amzn-errortype': type } };
}

/** Services of AWS on loopback, behind one port: the SDK of handlers is led here. */
export function serveAws(...services: AwsService[]): Promise<Listening> {
  return listen(0, async (request, response) => {
    // Who breaks off while they send is answered nothing either.
    const answer = await ask(services, request).catch(() => undefined);
    if (!answer) return void request.socket.destroy();
    const headers = { 'content-type': 'application/json', 'x-amzn-requestid': randomUUID() };
    response.writeHead(answer.status, { ...headers, ...answer.headers });
    response.end(answer.value === undefined ? undefined : JSON.stringify(answer.value));
  });
}

async function ask(services: AwsService[], request: IncomingMessage) {
  const asked = services.map((service) => service(request)).find((one) => one !== undefined);
  const body = await readBody(request, asked?.mostBytes ?? 0);
  if (!asked) return refusal(404, 'UnknownOperationException');
  if (!body) return refusal(413, 'RequestTooLargeException', 'Request must be smaller');
  return asked.answer(body).catch(() => refusal(500, 'InternalError'));
}

interface Invoked {
  functionNames: readonly string[];
  /** In tenant isolation mode: then every call names its tenant. */
  isTenanted: boolean;
  /**
   * Runs the function, for one tenant when it has them, on a parsed payload; its result goes back as JSON.
   * @throws {Error} called TooManyRequestsException when nothing was run because no place was free
   */
  invoke(payload: unknown, tenantId: string): Promise<unknown>;
  /** An Event failed: nobody waited for it. */
  onEventFault(error: Error): void;
}

const invocations = /^\/2015-03-31\/functions\/([^/?]+)\/invocations$/;
/** Of an Event invocation, of a batch of SQS, of a request to EventBridge. */
const mebibyte = 1024 * 1024;

/** Lambda's Invoke operation, of one function, which may have several names: as a request or, not waited for, as an Event. */
export function invokeService(invoked: Invoked): AwsService {
  return ({ url = '', headers }) => {
    const [, name] = invocations.exec(url) ?? [];
    if (name === undefined) return undefined;
    const isEvent = headers['x-amz-invocation-type'] === 'Event';
    const tenantId = headers['x-amz-tenant-id'];
    return {
      mostBytes: isEvent ? mebibyte : longestPayloadBytes,
      async answer(body) {
        if (!invoked.functionNames.includes(name)) {
          return refusal(404, 'ResourceNotFoundException', 'Function not found');
        }
        if (invoked.isTenanted !== (tenantId !== undefined)) {
          return refusal(400, 'InvalidParameterValueException', 'Add a valid tenant ID in your request');
        }
        const running = invoked.invoke(JSON.parse(body.toString('utf8')), String(tenantId));
        if (!isEvent) return running.then(resultOf, errorOf);
        void running.catch(invoked.onEventFault);
        return { status: 202 };
      },
    };
  };
}

function resultOf(result: unknown): ServiceAnswer {
  const value = result ?? null;
  const isTooLong = Buffer.byteLength(JSON.stringify(value)) > longestPayloadBytes;
  return isTooLong
    ? failed('Function.ResponseSizeTooLarge', `Response payload size exceeded ${longestPayloadBytes} bytes`)
    : { status: 200, value, headers: version };
}

function errorOf(error: unknown): ServiceAnswer {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return name === 'TooManyRequestsException' ? refusal(429, name, 'Rate exceeded') : failed(name, message);
}

/** The function's own error is a 200 that says so; nothing of it is retried. */
function failed(errorType: string, errorMessage: string): ServiceAnswer {
  const headers = { ...version, 'x-amz-function-error': 'Unhandled' };
  return { status: 200, value: { errorType, errorMessage, trace: [] }, headers };
}

const version = { 'x-amz-executed-version': '$LATEST' };

/** An operation of a service whose requests name it in a header. */
function operationOf({ headers }: IncomingMessage, prefix: string): string | undefined {
  const target = String(headers['x-amz-target']);
  return target.startsWith(prefix) ? target.slice(prefix.length) : undefined;
}

interface QueueRequest {
  QueueUrl?: string;
  SourceArn?: string;
  Entries?: (SentMessage & { Id: string })[];
  MaxNumberOfMessages?: number;
  VisibilityTimeout?: number;
  ReceiptHandle?: string;
}

const operations: Readonly<
  Record<string, (store: QueueStore, queue: string, request: QueueRequest) => object | undefined>
> = {
  SendMessageBatch(store, queue, { Entries = [] }) {
    const ids = store.send(queue, Entries);
    const sent = Entries.map(({ Id, MessageBody }, i) => ({
      ...{ Id, MessageId: ids[i], MD5OfMessageBody: md5(MessageBody) },
    }));
    return { Successful: sent, Failed: [] };
  },
  ReceiveMessage(store, queue, { MaxNumberOfMessages: most = 1, VisibilityTimeout: seconds = 30 }) {
    const received = store.receive(queue, { most, hiddenMs: seconds * 1000 });
    const Messages = received.map(({ id, body, receipt }) => ({
      ...{ MessageId: id, ReceiptHandle: receipt, MD5OfBody: md5(body), Body: body },
    }));
    return { Messages };
  },
  ChangeMessageVisibility: (store, _queue, { ReceiptHandle = '', VisibilityTimeout = 0 }) =>
    void store.postpone(ReceiptHandle, VisibilityTimeout * 1000),
  DeleteMessage: (store, _queue, { ReceiptHandle = '' }) => void store.remove(ReceiptHandle),
  GetQueueAttributes: (store, queue) => ({
    Attributes: { QueueArn: arnOf(queue), ApproximateNumberOfMessages: String(store.count(queue)) },
  }),
  /** From dead letters to the queue that they come from. */
  StartMessageMoveTask(store, queue) {
    store.move(queue, queue.replace(/-dead$/, ''));
    return { TaskHandle: queue };
  },
};

/** SQS. Queues need not be made before: any `<url of the services>/000000000000/<name>` is one. */
export function queueService(store: QueueStore): AwsService {
  return (request) => {
    const operation = operations[operationOf(request, 'AmazonSQS.') ?? ''];
    return (
      operation && {
        mostBytes: mebibyte,
        async answer(body) {
          const asked = JSON.parse(body.toString('utf8')) as QueueRequest;
          const queue = (asked.SourceArn ?? asked.QueueUrl ?? '').split(/[/:]/).at(-1) ?? '';
          return { status: 200, value: operation(store, queue, asked) ?? {} };
        },
      }
    );
  };
}

/** @returns what a queue of this machine is called in events */
export function arnOf(queue: string): string {
  return `arn:aws:sqs:eu-west-1:000000000000:${queue}`;
}

function md5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

interface PutEvents {
  Entries?: { Source: string; DetailType: string; Time: number; Detail: string }[];
}

/** EventBridge's PutEvents. Each event becomes a line of a file, as targets of a rule would get it. */
export function busService(file: string): AwsService {
  return (request) => {
    if (operationOf(request, 'AWSEvents.') !== 'PutEvents') return undefined;
    const answer = async (body: Buffer) => {
      const { Entries: entries = [] } = JSON.parse(body.toString('utf8')) as PutEvents;
      const events = entries.map(({ Source: source, DetailType, Time, Detail }) => ({
        ...{ version: '0', id: randomUUID(), 'detail-type': DetailType, source, account: '000000000000' },
        // EventBridge keeps whole seconds.
        time: new Date(Math.trunc(Time) * 1000).toISOString().replace('.000', ''),
        ...{ region: 'eu-west-1', resources: [], detail: JSON.parse(Detail) },
      }));
      await appendFile(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''), { mode: 0o600 });
      return {
        status: 200,
        value: { FailedEntryCount: 0, Entries: events.map(({ id }) => ({ EventId: id })) },
      };
    };
    return { mostBytes: mebibyte, answer };
  };
}
