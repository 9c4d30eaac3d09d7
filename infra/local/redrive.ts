import { readFile } from 'node:fs/promises';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { GetQueueAttributesCommand, SQSClient, StartMessageMoveTaskCommand } from '@aws-sdk/client-sqs';
import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';
import { requireVariable } from '../../shared/base/env.ts';
import { fieldsOf } from '../../shared/base/values.ts';
import { type Purpose, purposes } from '../../shared/carry/work/queue.ts';
import { queueVariables } from '../../shared/composition/queues.ts';
import { command, text, texts } from '../command.ts';
import { invokeDeployed } from './deployed.ts';
import { settings } from './environment.ts';
import { handlerLoader } from './functions.ts';
import { withStack } from './stack.ts';

/**
 * `npm run redrive`: puts dead letters back into the queues that they come from, and hands on records of the
 * stream that were kept when nobody took them; on this machine, or in the account that the credentials name.
 */
const usage = `npm run redrive -- [<${purposes.join('|')}> …]
npm run redrive -- --queue <URL of dead letters> …
npm run redrive -- --records <file> … [--function <deployed dispatch function>]
`;
/** SQS itself moves them, to the queue whose dead letters they are. @param url of the dead letters */
async function redrive(url: string): Promise<void> {
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
  print({ queue: pathname.split('/').at(-1), messages });
}

/** The records of an object of the bucket of unread records, or of its `payload` alone. */
async function readRecords(file: string): Promise<DynamoDBStreamEvent> {
  const read = fieldsOf(JSON.parse(await readFile(file, 'utf8')));
  const payload = read.payload ?? read;
  const event = (typeof payload === 'string' ? JSON.parse(payload) : payload) as DynamoDBStreamEvent;
  if (!Array.isArray(event.Records)) throw new Error(`${file} holds no records of the stream`);
  return event;
}

async function handOn(files: readonly string[], functionName: string | undefined): Promise<void> {
  const dispatch = functionName
    ? (event: DynamoDBStreamEvent) =>
        invokeDeployed<DynamoDBBatchResponse>(new LambdaClient({ maxAttempts: 1 }), functionName, event)
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

const options = { queue: texts, records: texts, function: text };
await command(usage, { failed: 1, allowPositionals: true, options }, async ({ values, positionals }) => {
  const { queue: urls, records: files, function: functionName } = values;
  const isHere = files.length > 0 ? functionName === undefined : urls.length === 0;
  const work = async () => {
    if (files.length > 0) return handOn(files, functionName);
    const unknown = positionals.filter((one) => !purposes.includes(one as Purpose));
    if (unknown.length > 0) throw new Error(`There is no queue ${unknown.join(', ')}`);
    const named = purposes.filter((one) => positionals.length === 0 || positionals.includes(one));
    const here = () => named.map((one) => requireVariable(process.env, queueVariables(one).deadLetters));
    for (const url of urls.length > 0 ? urls : here()) await redrive(url);
  };
  await (isHere ? withStack(settings(), work) : work());
  process.exit(0);
});
