import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { environmentOf, type Ground, statementsOf } from '../constructs/grants.ts';
import { HouseFunction } from '../constructs/house-function.ts';
import { permissions } from '../permissions.ts';
import { reindexName, type Stage } from '../stage.ts';
import { timeoutSeconds } from '../timeouts.ts';

interface ReindexStackProps extends StackProps {
  stage: Stage;
  ground: Ground;
  alarms: ITopic;
}

/** Gives stored resources the index items of new search parameters. No route leads here: IAM decides. */
export class ReindexStack extends Stack {
  constructor(scope: Construct, id: string, { stage, ground, alarms, ...props }: ReindexStackProps) {
    super(scope, id, props);
    const { lambda } = new HouseFunction(this, 'Reindex', {
      folder: 'reindex',
      functionName: reindexName(stage),
      description: 'Gives stored resources the index items of new search parameters',
      timeoutSeconds: timeoutSeconds.reindex,
      memoryMb: 1024,
      environment: environmentOf(permissions.reindex, ground),
      statements: statementsOf(permissions.reindex, ground),
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
