import { Duration } from 'aws-cdk-lib';
import { EventSourceMapping, type IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { QueueDefinition } from '../queues.ts';
import { alarmPeriod, ImpactAlarm } from './impact-alarm.ts';

interface PurposeQueueProps {
  definition: QueueDefinition;
  alarms: ITopic;
}

/** A queue of one purpose, and where its messages go that were never taken. They name things and hold none. */
export class PurposeQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly #definition: QueueDefinition;

  constructor(scope: Construct, id: string, { definition, alarms }: PurposeQueueProps) {
    super(scope, id);
    this.#definition = definition;
    const kept = {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    };
    this.deadLetters = new Queue(this, 'DeadLetters', kept);
    this.queue = new Queue(this, 'Queue', {
      ...kept,
      visibilityTimeout: Duration.seconds(definition.hiddenSeconds),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: definition.mostReceives },
    });
    new ImpactAlarm(this, 'GivenUp', {
      metric: this.deadLetters.metricApproximateNumberOfMessagesVisible({ period: alarmPeriod }),
      impact: definition.impact,
      topic: alarms,
    });
  }

  /** Lets the function take from the queue; what it reports as failed stays. */
  feed(lambda: IFunction): void {
    new EventSourceMapping(this, 'Mapping', {
      target: lambda,
      eventSourceArn: this.queue.queueArn,
      batchSize: this.#definition.batchSize,
      maxConcurrency: this.#definition.mostConcurrent,
      reportBatchItemFailures: true,
    });
  }
}
