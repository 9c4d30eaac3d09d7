import type { DynamoDBRecord } from 'aws-lambda';

/** A stream record as Lambda hands it over: with where it comes from, its time in whole seconds. */
export function lambdaRecord({ dynamodb, ...record }: DynamoDBRecord, streamArn: string): DynamoDBRecord {
  const at = dynamodb?.ApproximateCreationDateTime;
  return {
    ...record,
    awsRegion: streamArn.split(':')[3] ?? '',
    eventSource: 'aws:dynamodb',
    eventSourceARN: streamArn,
    dynamodb: { ...dynamodb, ...(at === undefined ? {} : { ApproximateCreationDateTime: Math.floor(at) }) },
  };
}
