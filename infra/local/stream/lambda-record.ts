import type { _Record } from '@aws-sdk/client-dynamodb-streams';
import type { DynamoDBRecord } from 'aws-lambda';

/** A stream record as Lambda hands it over, which is JSON: bytes are base64, times are whole seconds. */
export function lambdaRecord(record: _Record, streamArn: string): DynamoDBRecord {
  const at = record.dynamodb?.ApproximateCreationDateTime;
  const plain = JSON.parse(JSON.stringify(record, bytesAsBase64)) as DynamoDBRecord;
  return {
    ...plain,
    awsRegion: streamArn.split(':')[3] ?? '',
    eventSource: 'aws:dynamodb',
    eventSourceARN: streamArn,
    dynamodb: {
      ...plain.dynamodb,
      ...(at ? { ApproximateCreationDateTime: Math.floor(at.getTime() / 1000) } : {}),
    },
  };
}

function bytesAsBase64(_name: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}
