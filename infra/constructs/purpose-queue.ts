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
export function purposeQueue(scope: Construct, id: string, definition: QueueDefinition, topic: ITopic) {
  const own = new Construct(scope, id);
  const dead = deadLetters(own, 'DeadLetters', definition.keepsOrder);
  const queue = new Queue(own, 'Queue', {
    ...kept,
    ...(definition.keepsOrder ? orderKept : {}),
    visibilityTimeout: Duration.seconds(hiddenSecondsOf(definition)),
    deadLetterQueue: { queue: dead, maxReceiveCount: definition.mostReceives },
  });
  new ImpactAlarm(own, 'GivenUp', {
    metric: dead.metricApproximateNumberOfMessagesVisible({ period: alarmPeriod }),
    impact: definition.impact,
    runbook: 'dead-letters',
    topic,
  });
  if (definition.oldestSeconds !== undefined) {
    new ImpactAlarm(own, 'Late', {
      metric: queue.metricApproximateAgeOfOldestMessage({ period: alarmPeriod }),
      threshold: definition.oldestSeconds,
      impact: 'Bots and hooks are told late of changes: look for Subscriptions whose deliveries fail.',
      runbook: 'deliveries-late',
      topic,
    });
  }
  /** Lets the function take from the queue; what it reports as failed stays. */
  const feed = (lambda: IFunction): void => {
    const mapping = new EventSourceMapping(own, 'Mapping', {
      target: lambda,
      eventSourceArn: queue.queueArn,
      batchSize: definition.batchSize,
      maxConcurrency: definition.mostConcurrent,
      reportBatchItemFailures: true,
    });
    Validations.of(mapping).acknowledge(...mappingFindings);
  };
  return { queue, deadLetters: dead, feed };
}

export type PurposeQueue = ReturnType<typeof purposeQueue>;
