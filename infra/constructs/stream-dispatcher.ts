import { Aws, Duration, Validations } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Role } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { EventSourceMapping, FilterCriteria, MetricType, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { BlockPublicAccess, Bucket, BucketEncryption, type CfnBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { timeoutSeconds } from '../deployed-functions.ts';
import { streamFilters, streamReading } from '../table-definition.ts';
import { alarmPeriod, ImpactAlarm } from './alarms.ts';
import { inBoth } from './findings.ts';
import { allow, type Grounded, granted } from './grants.ts';
import { HouseFunction } from './house-function.ts';

const logged =
  'Only the dispatcher writes here and only an operator reads. A trail with data events, which docs/hipaa.md asks ' +
  'for, has both.';
const copied =
  'The table is what is kept and restored. This holds, for 14 days, what could not be handed on.';

const bucketFindings = [
  { id: 'AwsSolutions-S1', reason: logged },
  ...inBoth('S3BucketLoggingEnabled', logged),
  ...inBoth('S3BucketReplicationEnabled', copied),
  ...inBoth('S3BucketVersioningEnabled', `${copied} Each object is written once.`),
];

/**
 * Where records of the stream go that could not be handed on, with all that they hold: the stream itself
 * forgets them after a day. They are health data, so they are kept as the table is, and not for long.
 */
function unreadRecords(scope: Construct, encryptionKey: IKey): Bucket {
  const bucket = new Bucket(new Construct(scope, 'Unread'), 'Bucket', {
    encryption: BucketEncryption.KMS,
    encryptionKey,
    bucketKeyEnabled: true,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    enforceSSL: true,
    lifecycleRules: [{ expiration: Duration.days(14) }],
  });
  Validations.of(bucket).acknowledge(...bucketFindings);
  return bucket;
}

/** Lets Lambda write there in the name of the function that has failed. */
function grantWriting(bucket: Bucket, key: IKey, role: Role): void {
  const throughS3 = { StringEquals: { 'kms:ViaService': `s3.${Aws.REGION}.amazonaws.com` } };
  const statements = [
    allow(['s3:ListBucket'], [bucket.bucketArn]),
    allow(['s3:PutObject'], [bucket.arnForObjects('aws/lambda/*')]),
    allow(['kms:Decrypt', 'kms:GenerateDataKey'], [key.keyArn], throughS3),
  ];
  for (const statement of statements) role.addToPrincipalPolicy(statement);
  const bucketId = bucket.stack.getLogicalId(bucket.node.defaultChild as CfnBucket);
  Validations.of(role).acknowledge({
    id: `AwsSolutions-IAM5[Resource::<${bucketId}.Arn>/aws/lambda/*]`,
    reason: 'Lambda names the objects, each of its own name, below this prefix.',
  });
}

/** The one reader of the table's stream. It gets what the filters let through and hands it to the queues. */
export class StreamDispatcher extends Construct {
  constructor(scope: Construct, id: string, { ground, alarms }: Grounded) {
    super(scope, id);
    const { tableStreamArn } = ground.table;
    if (!tableStreamArn) throw new Error('The table has no stream');
    const unread = unreadRecords(this, ground.tableKey);
    const reading = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'];
    const readStream = allow(
      reading.map((action) => `dynamodb:${action}`),
      [tableStreamArn],
    );
    const dispatcher = new HouseFunction(this, 'Dispatch', {
      ...granted('dispatch', ground, { statements: [readStream] }),
      description: 'Hands changes of the table to the queues of what follows them',
      timeoutSeconds: timeoutSeconds.dispatch,
      memoryMb: streamReading.memoryMb,
      impact:
        'Mails, Bots that wait for changes and the upkeep of the index wait. Nothing is lost for a day: the ' +
        'stream keeps its records so long.',
      alarms,
    });
    grantWriting(unread, ground.tableKey, dispatcher.role);
    const mapping = new EventSourceMapping(this, 'Mapping', {
      target: dispatcher.lambda,
      eventSourceArn: tableStreamArn,
      startingPosition: StartingPosition.TRIM_HORIZON,
      filters: Object.values(streamFilters).map((pattern) => FilterCriteria.filter(pattern)),
      batchSize: streamReading.batchSize,
      parallelizationFactor: streamReading.atOncePerShard,
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
      retryAttempts: streamReading.retryAttempts,
      maxRecordAge: Duration.hours(streamReading.hoursTried),
      onFailure: { bind: () => ({ destination: unread.bucketArn }) },
      metricsConfig: { metrics: [MetricType.EVENT_COUNT] },
    });
    new ImpactAlarm(this, 'GivenUp', {
      metric: new Metric({
        namespace: 'AWS/Lambda',
        metricName: 'OnFailureDestinationDeliveredEventCount',
        // Metrics of a mapping have this dimension alone.
        dimensionsMap: { EventSourceMappingUUID: mapping.eventSourceMappingId },
        statistic: 'Sum',
        period: alarmPeriod,
      }),
      impact:
        'Changes were not handed on in many attempts, and lie in the bucket of unread records for 14 days: mails ' +
        'wait for the sweep, index upkeep and deliveries for somebody who puts the records back.',
      runbook: 'stream-given-up',
      atOnce: true,
      topic: alarms,
    });
    new ImpactAlarm(this, 'Behind', {
      metric: dispatcher.lambda.metric('IteratorAge', { statistic: 'Maximum', period: alarmPeriod }),
      threshold: Duration.minutes(10).toMilliseconds(),
      impact: 'Invitations and whatever else follows a change come more than ten minutes late.',
      runbook: 'stream-behind',
      topic: alarms,
    });
  }
}
