import { Duration } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping, FilterCriteria, MetricType, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { permissions } from '../permissions.ts';
import { streamFilters } from '../stream-filters.ts';
import { streamReading } from '../stream-reading.ts';
import { timeoutSeconds } from '../timeouts.ts';
import { environmentOf, type Ground, statementsOf } from './grants.ts';
import { HouseFunction } from './house-function.ts';
import { alarmPeriod, ImpactAlarm } from './impact-alarm.ts';
import { UnreadRecords } from './unread-records.ts';

interface StreamDispatcherProps {
  ground: Ground;
  alarms: ITopic;
}

/** The one reader of the table's stream. It gets what the filters let through and hands it to the queues. */
export class StreamDispatcher extends Construct {
  constructor(scope: Construct, id: string, { ground, alarms }: StreamDispatcherProps) {
    super(scope, id);
    const { tableStreamArn } = ground.table;
    if (!tableStreamArn) throw new Error('The table has no stream');
    const unread = new UnreadRecords(this, 'Unread', { tableKey: ground.tableKey });
    const dispatcher = new HouseFunction(this, 'Dispatch', {
      folder: 'dispatch',
      description: 'Hands changes of the table to the queues of what follows them',
      timeoutSeconds: timeoutSeconds.dispatch,
      memoryMb: streamReading.memoryMb,
      environment: environmentOf(permissions.dispatch, ground),
      statements: [
        ...statementsOf(permissions.dispatch, ground),
        new PolicyStatement({
          actions: ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'].map(
            (action) => `dynamodb:${action}`,
          ),
          resources: [tableStreamArn],
        }),
      ],
      impact:
        'Mails, Bots that wait for changes and the upkeep of the index wait. Nothing is lost for a day: the ' +
        'stream keeps its records so long.',
      alarms,
    });
    unread.grantTo(dispatcher.role);
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
      onFailure: unread,
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
