import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetQueueAttributesCommand, SQSClient, StartMessageMoveTaskCommand } from '@aws-sdk/client-sqs';
import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';
import { fieldsOf } from '../../shared/base/values.ts';
import { type Purpose, purposes } from '../../shared/carry/work/queue.ts';
import { queueVariables } from '../../shared/composition/queues.ts';
import { command, text } from '../command.ts';
import { handlerLoader } from './gateway/handlers.ts';
import { settings } from './settings.ts';
import { withStack } from './with-stack.ts';

/**
 * `npm run redrive`: puts dead letters back into the queues that they come from, and hands on records of the
 * stream that were kept when nobody took them; on this machine, or in the account that the credentials name.
 */
const usage = `npm run redrive -- [<${purposes.join('|')}> …]
npm run redrive -- --queue <URL of dead letters> …
npm run redrive -- --records <file> … [--function <deployed dispatch function>]
`;
interface Redriven {
  /** Of dead letters. */
  queue: string;
  /** How many were there. */
  messages: number;
}

/** SQS itself moves them, to the queue whose dead letters they are. @param url of the dead letters */
async function redrive(url: string): Promise<Redriven> {
  const { origin, hostname, pathname } = new URL(url);
  const region = /^sqs\.([a-z0-9-]+)\./.exec(hostname)?.[1];
  const sqs = new SQSClient({ endpoint: origin, ...(region ? { region } : {}) });
  const { Attributes: attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl: url,
      AttributeNames: ['QueueArn', 'ApproximateNumberOfMessages'],
    }),
  );
  const messages = Number(attributes.ApproximateNumberOfMessages);
  if (messages > 0) await sqs.send(new StartMessageMoveTaskCommand({ SourceArn: attributes.QueueArn }));
  return { queue: pathname.split('/').at(-1) ?? '', messages };
}

/** The records of an object of the bucket of unread records, or of its `payload` alone. */
async function readRecords(file: string): Promise<DynamoDBStreamEvent> {
  const read = fieldsOf(JSON.parse(await readFile(file, 'utf8')));
  const payload = read.payload ?? read;
  const event = (typeof payload === 'string' ? JSON.parse(payload) : payload) as DynamoDBStreamEvent;
  if (!Array.isArray(event.Records)) throw new Error(`${file} holds no records of the stream`);
  return event;
}

async function invoke(functionName: string, event: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> {
  const lambda = new LambdaClient({ maxAttempts: 1 });
  const { Payload, FunctionError } = await lambda.send(
    new InvokeCommand({ FunctionName: functionName, Payload: JSON.stringify(event) }),
  );
  if (FunctionError) throw new Error(FunctionError);
  return JSON.parse(Buffer.from(Payload ?? []).toString('utf8')) as DynamoDBBatchResponse;
}

async function handOn(files: readonly string[], functionName: string | undefined): Promise<void> {
  const dispatch = functionName
    ? (event: DynamoDBStreamEvent) => invoke(functionName, event)
    : await handlerLoader()('dispatch');
  for (const file of files) {
    const event = await readRecords(file);
    const { batchItemFailures: failed } = await dispatch(event);
    if (failed.length > 0) throw new Error(`${file} was not handed on whole: try again`);
    print({ file, records: event.Records.length });
  }
}

/** Handlers write their logs to stdout too. */
function print(said: object): void {
  process.stdout.write(`${JSON.stringify(said)}\n`);
}

async function redriveHere(named: readonly string[]): Promise<void> {
  const asked = purposes.filter((one) => named.length === 0 || named.includes(one));
  const unknown = named.filter((one) => !purposes.includes(one as Purpose));
  if (unknown.length > 0) throw new Error(`There is no queue ${unknown.join(', ')}`);
  await withStack(settings(process.env), async () => {
    for (const purpose of asked) {
      const url = process.env[queueVariables(purpose).deadLetters];
      if (!url) throw new Error(`The queue ${purpose} is not known`);
      print(await redrive(url));
    }
  });
}

await command(usage, 1, async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      queue: { ...text, multiple: true, default: [] },
      records: { ...text, multiple: true, default: [] },
      function: text,
    },
  });
  const { queue: urls, records: files, function: functionName } = values;
  if (files.length > 0) {
    if (functionName) await handOn(files, functionName);
    else await withStack(settings(process.env), () => handOn(files, undefined));
  } else if (urls.length > 0) {
    for (const url of urls) print(await redrive(url));
  } else {
    await redriveHere(positionals);
  }
  process.exit(0);
});
