import { CfnCustomResource, Duration } from 'aws-cdk-lib';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import type { Construct } from 'constructs';
import { keyPurposes } from '../../shared/carry/keys/key-ring.ts';
import { timeoutSeconds } from '../deployed-functions.ts';
import { functionNameOf, type Stage } from '../stage.ts';
import { alarmPeriod, ImpactAlarm } from './alarms.ts';
import { type Grounded, granted } from './grants.ts';
import { HouseFunction } from './house-function.ts';
import { deadLetters } from './purpose-queue.ts';

/**
 * Runs Bots for callers who do not wait. It is invoked with a job's id, and Lambda repeats nothing: a
 * Bot that may have run is not run again.
 */
export class JobsFunction extends HouseFunction {
  constructor(scope: Construct, id: string, { ground, alarms }: Grounded) {
    super(scope, id, {
      ...granted('jobs', ground),
      description: 'Runs Bots that nobody waits for',
      timeoutSeconds: timeoutSeconds.jobs,
      memoryMb: 1024,
      impact:
        'Asynchronous runs of Bots ended without a result: their callers are told that the outcome is unknown. ' +
        'Compare with the execution records of the time in question.',
      alarms,
    });
    const failed = deadLetters(this, 'Failed');
    this.lambda.configureAsyncInvoke({
      retryAttempts: 0,
      // A job that waited longer does not begin: shared/bots/run/job.ts.
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

/**
 * Makes the secret keys of the stage, one for each purpose. CloudFormation calls it before it makes or changes the
 * functions that open them, and again when there is another purpose or the table is another one.
 */
export class StageKeysFunction extends HouseFunction {
  readonly #made: CfnCustomResource;

  constructor(scope: Construct, id: string, { stage, ground, alarms }: Grounded & { stage: Stage }) {
    super(scope, id, {
      ...granted('stage-keys', ground),
      functionName: functionNameOf(stage, 'stage-keys'),
      description: 'Makes the secret keys of the stage',
      timeoutSeconds: timeoutSeconds.short,
      memoryMb: 1024,
      impact: 'Keys of the stage were not made or replaced. Whoever deployed or called was told why.',
      alarms,
    });
    this.#made = new CfnCustomResource(this, 'Made', {
      serviceToken: this.lambda.functionArn,
      serviceTimeout: timeoutSeconds.stageKeysMade,
    });
    this.#made.addPropertyOverride('Purposes', keyPurposes);
    this.#made.addPropertyOverride('Table', ground.table.tableName);
  }

  /**
   * What opens keys is made and changed when they are there. So is its role: code of an earlier release, which opens the
   * one secret for all purposes, keeps its right until it is about to be replaced.
   */
  goesBefore({ lambda, role }: HouseFunction): void {
    for (const { node } of [lambda, role]) node.addDependency(this.#made);
  }
}
