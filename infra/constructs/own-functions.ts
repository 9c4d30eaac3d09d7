import { join } from 'node:path';
import { CfnCustomResource, Duration } from 'aws-cdk-lib';
import { Architecture, TenancyConfig } from 'aws-cdk-lib/aws-lambda';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { keyPurposes } from '../../shared/carry/keys/key-ring.ts';
import { runBuild } from '../bundle.ts';
import { timeoutSeconds } from '../deployed-functions.ts';
import { type InvokerNetwork, interfaceRights } from '../network/invoker-network.ts';
import { functionNameOf, type Stage } from '../stage.ts';
import { alarmPeriod, ImpactAlarm, watchLogs } from './alarms.ts';
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
      own: { functionName: functionNameOf(stage, 'stage-keys') },
      description: 'Makes the secret keys of the stage',
      timeoutSeconds: timeoutSeconds.short,
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

interface LockedInvokerProps {
  alarms: ITopic;
  /** For jobs: as long as Lambda lets it run. For expressions: no Bot comes here, and no token of a run. */
  use?: 'bots' | 'jobs' | 'expressions';
  /** Where egress is filtered; left out, it runs in no VPC. */
  network?: InvokerNetwork | undefined;
  /** The processor it runs on, which the native addon is built for. */
  platform?: 'linux-arm64' | 'linux-x64';
}

const descriptions = {
  bots: 'Runs one Bot in the sandbox',
  jobs: 'Runs one Bot in the sandbox, for jobs',
  expressions: 'Evaluates expressions of Subscriptions in the sandbox',
};

/**
 * Where customers' code runs. Its role may write its own log and nothing else, it has no environment,
 * and Lambda gives each Project execution environments of its own. In a network, Lambda may make and remove
 * interfaces in the role's name, and the code that runs may not.
 */
export class LockedInvoker extends HouseFunction {
  constructor(scope: Construct, id: string, props: LockedInvokerProps) {
    const { alarms, use = 'bots', network, platform = 'linux-arm64' } = props;
    super(scope, id, {
      folder: 'invoker',
      description: descriptions[use],
      timeoutSeconds: use === 'jobs' ? timeoutSeconds.longInvoker : timeoutSeconds.invoker,
      // One whole vCPU; the largest isolate, 512 MiB, leaves room for a run that overshoots.
      memoryMb: 1769,
      own: {
        tenancyConfig: TenancyConfig.PER_TENANT,
        architecture: platform === 'linux-arm64' ? Architecture.ARM_64 : Architecture.X86_64,
        ...network?.connection,
      },
      // The folder that the sandbox's child runs from.
      addFiles: (assetDir) => runBuild('infra/guest/build.ts', join(assetDir, 'guest'), platform),
      impact:
        'Bots do not run, or end without an answer: callers get 429 or 409 and do not know whether the Bot ran. ' +
        'Look for exceptions in the log of the invoker, and at the concurrency left in the account.',
      alarms,
    });
    if (network) this.lambda.node.addDependency(interfaceRights(this, this.role));
    watchLogs(this, 'NotStarted', [this], alarms);
  }
}
