import { Duration, Validations } from 'aws-cdk-lib';
import { EventSourceMapping, type IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { DeduplicationScope, FifoThroughputLimit, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { QueueDefinition } from '../queues.ts';
import { alarmPeriod, ImpactAlarm } from './alarms.ts';
import { deadLetterFindings, mappingFindings } from './findings.ts';

/** High throughput: order and deduplication are each group's own. */
const orderKept = {
  fifo: true,
  deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
  fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
} as const;

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
    const order = definition.keepsOrder ? orderKept : {};
    this.deadLetters = new Queue(this, 'DeadLetters', {
      ...kept,
      ...(definition.keepsOrder ? { fifo: true } : {}),
    });
    Validations.of(this.deadLetters).acknowledge(...deadLetterFindings);
    this.queue = new Queue(this, 'Queue', {
      ...kept,
      ...order,
      visibilityTimeout: Duration.seconds(definition.hiddenSeconds),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: definition.mostReceives },
    });
    new ImpactAlarm(this, 'GivenUp', {
      metric: this.deadLetters.metricApproximateNumberOfMessagesVisible({ period: alarmPeriod }),
      impact: definition.impact,
      runbook: 'dead-letters',
      topic: alarms,
    });
    if (definition.oldestSeconds === undefined) return;
    new ImpactAlarm(this, 'Late', {
      metric: this.queue.metricApproximateAgeOfOldestMessage({ period: alarmPeriod }),
      threshold: definition.oldestSeconds,
      impact: 'Bots and hooks are told late of changes: look for Subscriptions whose deliveries fail.',
      runbook: 'deliveries-late',
      topic: alarms,
    });
  }

  /** Lets the function take from the queue; what it reports as failed stays. */
  feed(lambda: IFunction): void {
    const mapping = new EventSourceMapping(this, 'Mapping', {
      target: lambda,
      eventSourceArn: this.queue.queueArn,
      batchSize: this.#definition.batchSize,
      maxConcurrency: this.#definition.mostConcurrent,
      reportBatchItemFailures: true,
    });
    Validations.of(mapping).acknowledge(...mappingFindings);
  }
}
