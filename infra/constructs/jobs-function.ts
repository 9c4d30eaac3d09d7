import { Duration, Validations } from 'aws-cdk-lib';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { permissions } from '../permissions.ts';
import { timeoutSeconds } from '../timeouts.ts';
import { deadLetterFindings } from './findings.ts';
import { environmentOf, type Ground, statementsOf } from './grants.ts';
import { HouseFunction } from './house-function.ts';
import { alarmPeriod, ImpactAlarm } from './impact-alarm.ts';

interface JobsFunctionProps {
  ground: Ground;
  alarms: ITopic;
}

/**
 * Runs Bots for callers who do not wait. It is invoked with a job's id, and Lambda repeats nothing: a
 * Bot that may have run is not run again.
 */
export class JobsFunction extends HouseFunction {
  constructor(scope: Construct, id: string, { ground, alarms }: JobsFunctionProps) {
    super(scope, id, {
      folder: 'jobs',
      description: 'Runs Bots that nobody waits for',
      timeoutSeconds: timeoutSeconds.jobs,
      memoryMb: 1024,
      environment: environmentOf(permissions.jobs, ground),
      statements: statementsOf(permissions.jobs, ground),
      impact:
        'Asynchronous runs of Bots ended without a result: their callers are told that the outcome is unknown. ' +
        'Compare with the execution records of the time in question.',
      alarms,
    });
    const failed = new Queue(this, 'Failed', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    Validations.of(failed).acknowledge(...deadLetterFindings);
    this.lambda.configureAsyncInvoke({
      retryAttempts: 0,
      // A job that waited longer does not begin: shared/job/job.ts.
      maxEventAge: Duration.minutes(5),
      onFailure: new SqsDestination(failed),
    });
    new ImpactAlarm(this, 'GivenUp', {
      metric: failed.metricApproximateNumberOfMessagesVisible({ period: alarmPeriod }),
      impact:
        'Jobs were not started or broke off; each message names Project and job. Their callers are told so when ' +
        'they ask after the deadline. Nothing is repeated.',
      runbook: 'jobs-given-up',
      topic: alarms,
    });
  }
}
