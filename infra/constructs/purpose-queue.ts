import { Duration, Validations } from 'aws-cdk-lib';
import { EventSourceMapping, type IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { DeduplicationScope, FifoThroughputLimit, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { hiddenSecondsOf, type QueueDefinition } from '../queues.ts';
import { alarmPeriod, ImpactAlarm } from './alarms.ts';
import { deadLetterFindings, mappingFindings } from './findings.ts';

/** What both kinds of queues have. */
const kept = {
  encryption: QueueEncryption.SQS_MANAGED,
  enforceSSL: true,
  retentionPeriod: Duration.days(14),
};

/** A queue of what could not be handed on, for two weeks. */
export function deadLetters(scope: Construct, id: string, isFifo = false): Queue {
  const queue = new Queue(scope, id, { ...kept, ...(isFifo ? { fifo: true } : {}) });
  Validations.of(queue).acknowledge(...deadLetterFindings);
  return queue;
}

/** High throughput: order and deduplication are each group's own. */
const orderKept = {
  fifo: true,
  deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
  fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
} as const;

/** A queue of one purpose, and where its messages go that were never taken. They name things and hold none. */
export class PurposeQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly #definition: QueueDefinition;

  constructor(scope: Construct, id: string, definition: QueueDefinition, alarms: ITopic) {
    super(scope, id);
    this.#definition = definition;
    this.deadLetters = deadLetters(this, 'DeadLetters', definition.keepsOrder);
    this.queue = new Queue(this, 'Queue', {
      ...kept,
      ...(definition.keepsOrder ? orderKept : {}),
      visibilityTimeout: Duration.seconds(hiddenSecondsOf(definition)),
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
