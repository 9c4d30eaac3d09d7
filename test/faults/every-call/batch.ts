import type { SQSEvent } from 'aws-lambda';

/** Messages as Lambda hands them over. */
export function batchOf(bodies: readonly string[]): SQSEvent {
  const attributes = {
    ...{ ApproximateReceiveCount: '1', SentTimestamp: '0', SenderId: 'test' },
    ApproximateFirstReceiveTimestamp: '0',
  };
  return {
    Records: bodies.map((body, n) => ({
      ...{ messageId: String(n), receiptHandle: `none/${n}`, body, attributes, messageAttributes: {} },
      ...{ md5OfBody: '', eventSource: 'aws:sqs', eventSourceARN: 'arn:aws:sqs:eu-west-1:0:test' },
      awsRegion: 'eu-west-1',
    })),
  };
}
