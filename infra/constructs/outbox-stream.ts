import { Duration, Validations } from 'aws-cdk-lib';
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping, FilterCriteria, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { streamFilters } from '../stream-filters.ts';
import type { HouseFunction } from './house-function.ts';
import { alarmPeriod, ImpactAlarm } from './impact-alarm.ts';

interface OutboxStreamProps {
  table: TableV2;
  consumer: HouseFunction;
  alarms: ITopic;
}

/** The consumer gets of the table's stream what the filters let through, nothing else. */
export class OutboxStream extends Construct {
  constructor(scope: Construct, id: string, { table, consumer, alarms }: OutboxStreamProps) {
    super(scope, id);
    const { tableStreamArn } = table;
    if (!tableStreamArn) throw new Error('The table has no stream');
    consumer.role.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'].map(
          (action) => `dynamodb:${action}`,
        ),
        resources: [tableStreamArn],
      }),
    );
    const failed = new Queue(this, 'Failed', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    Validations.of(failed).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason: 'This is the queue for what failed; nothing consumes it that could fail again.',
    });
    new EventSourceMapping(this, 'Mapping', {
      target: consumer.lambda,
      eventSourceArn: tableStreamArn,
      startingPosition: StartingPosition.TRIM_HORIZON,
      filters: Object.values(streamFilters).map((pattern) => FilterCriteria.filter(pattern)),
      batchSize: 10,
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
      // The sweep has taken over long before the stream forgets.
      retryAttempts: 3,
      maxRecordAge: Duration.hours(1),
      onFailure: new SqsDlq(failed),
    });
    new ImpactAlarm(this, 'GivenUp', {
      metric: failed.metricApproximateNumberOfMessagesVisible({ period: alarmPeriod }),
      impact:
        'The outbox gave up on part of the stream: invitations may go out up to ten minutes late, with the ' +
        'sweep. The queue names the shard and the sequence numbers.',
      topic: alarms,
    });
    new ImpactAlarm(this, 'Behind', {
      metric: consumer.lambda.metric('IteratorAge', { statistic: 'Maximum', period: alarmPeriod }),
      threshold: Duration.minutes(10).toMilliseconds(),
      impact: 'Invitations go out more than ten minutes late.',
      topic: alarms,
    });
  }
}
