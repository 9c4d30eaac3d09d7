import { ArnFormat, Aws, CfnOutput, Stack } from 'aws-cdk-lib';
import { ManagedPolicy, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LoggingFormat, SystemLogLevel } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { stageDashboard } from '../constructs/dashboard.ts';
import { allow, granted } from '../constructs/grants.ts';
import { HouseFunction } from '../constructs/house-function.ts';
import { timeoutSeconds } from '../deployed-functions.ts';
import { functionNameOf, type Stage } from '../stage.ts';
import { type GroundedParts, onSchedule, type StageParts, StageStack } from './stage-stack.ts';

/**
 * What whoever operates the stage is given, and nobody else needs: to invoke the functions that no route leads to. It
 * is attached to nobody here. The invokers are not in it: only functions invoke them.
 */
function operatorPolicy(scope: Construct, stage: Stage): ManagedPolicy {
  const functionArn = (resourceName: string) =>
    Stack.of(scope).formatArn({
      service: 'lambda',
      resource: 'function',
      resourceName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
  const invoked = (['provision', 'stage-keys', 'reindex'] as const).map((one) => functionNameOf(stage, one));
  return new ManagedPolicy(scope, 'Operator', {
    managedPolicyName: `portico-${stage.name}-operator-${stage.region}`,
    description: `Portico ${stage.name}: makes and changes Projects, gives resources new index items`,
    statements: [allow(['lambda:InvokeFunction'], invoked.map(functionArn))],
  });
}

/**
 * Creates Projects. No route leads here: who may is decided by the account's own IAM, so the API needs
 * nobody above Projects.
 */
export class ProvisionStack extends StageStack {
  constructor(app: Construct, { stage, ground, alarms }: GroundedParts) {
    super(app, stage, 'provision');
    const { lambda } = new HouseFunction(this, 'Provision', {
      ...granted('provision', ground),
      own: { functionName: functionNameOf(stage, 'provision') },
      description: 'Creates a Project and its first administrator',
      timeoutSeconds: timeoutSeconds.short,
      impact: 'A Project was not created. Whoever called was told why.',
      alarms,
    });
    new CfnOutput(this, 'OperatorPolicy', {
      value: operatorPolicy(this, stage).managedPolicyArn,
      description: 'For whoever runs npm run provision and npm run reindex',
    });
    new CfnOutput(this, 'ProvisionFunction', {
      value: lambda.functionName,
      description: 'Called by npm run provision -- --stage',
    });
  }
}

/** Gives stored resources the index items of new search parameters. No route leads here: IAM decides. */
export class ReindexStack extends StageStack {
  constructor(app: Construct, { stage, ground, alarms }: GroundedParts) {
    super(app, stage, 'reindex');
    const { lambda } = new HouseFunction(this, 'Reindex', {
      ...granted('reindex', ground),
      own: { functionName: functionNameOf(stage, 'reindex') },
      description: 'Gives stored resources the index items of new search parameters',
      timeoutSeconds: timeoutSeconds.reindex,
      impact:
        'Older resources are not found by new search parameters. Run it again: it goes on where it was.',
      alarms,
    });
    new CfnOutput(this, 'ReindexFunction', {
      value: lambda.functionName,
      description: 'Called by npm run reindex -- --stage',
    });
  }
}

/**
 * Who called and who looked at what, in a log group of its own: that of a function which prints the lines that
 * CloudWatch brings it from the logs of the API's functions. So no request waits for a log, and no function of the
 * API may write to this one.
 */
export class AccessStack extends StageStack {
  constructor(app: Construct, { stage, alarms }: StageParts) {
    super(app, stage, 'access');
    const { lambda } = new HouseFunction(this, 'AccessRecords', {
      folder: 'access-records',
      description: 'Keeps who called and who looked at what',
      timeoutSeconds: timeoutSeconds.short,
      memoryMb: 256,
      keptAs: 'access',
      own: {
        functionName: functionNameOf(stage, 'access-records'),
        // No lines of Lambda's own between the records.
        ...{ loggingFormat: LoggingFormat.JSON, systemLogLevelV2: SystemLogLevel.WARN },
      },
      impact:
        'Records of who looked at what are late in their log, or are not copied there. They are in the logs of the ' +
        'functions, as entries `access`, for as long as the stage keeps those: copy what is missing from there.',
      alarms,
    });
    lambda.addPermission('Logs', {
      principal: new ServicePrincipal('logs.amazonaws.com'),
      sourceArn: `arn:${Aws.PARTITION}:logs:${Aws.REGION}:${Aws.ACCOUNT_ID}:log-group:portico-${stage.name}-*:*`,
      sourceAccount: Aws.ACCOUNT_ID,
    });
  }
}

/** Whether it is well: a dashboard, and a function that calls the API from outside. Nothing needs it. */
export class WatchStack extends StageStack {
  constructor(app: Construct, { stage, baseUrl, alarms }: StageParts & { baseUrl: string }) {
    super(app, stage, 'watch');
    const { lambda } = new HouseFunction(this, 'Canary', {
      folder: 'canary',
      description: 'Calls the API from outside, as its callers do',
      timeoutSeconds: timeoutSeconds.canary,
      memoryMb: 256,
      environment: { BASE_URL: baseUrl },
      impact: 'The API does not answer from outside, or not as it should: nobody may reach it.',
      runbook: 'canary',
      alarms,
    });
    onSchedule(this, 'Look', 'The API is called from outside', 5, lambda);
    stageDashboard(this, stage, lambda);
  }
}
