import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { environmentOf, type Ground, statementsOf } from '../constructs/grants.ts';
import { HouseFunction } from '../constructs/house-function.ts';
import { operatorPolicy } from '../constructs/operator-policy.ts';
import { permissions } from '../permissions.ts';
import { provisionName, type Stage } from '../stage.ts';
import { timeoutSeconds } from '../timeouts.ts';

interface ProvisionStackProps extends StackProps {
  stage: Stage;
  ground: Ground;
  alarms: ITopic;
}

/**
 * Creates Projects. No route leads here: who may is decided by the account's own IAM, so the API needs
 * nobody above Projects.
 */
export class ProvisionStack extends Stack {
  constructor(scope: Construct, id: string, { stage, ground, alarms, ...props }: ProvisionStackProps) {
    super(scope, id, props);
    const { lambda } = new HouseFunction(this, 'Provision', {
      folder: 'provision',
      functionName: provisionName(stage),
      description: 'Creates a Project and its first administrator',
      timeoutSeconds: timeoutSeconds.short,
      memoryMb: 1024,
      environment: environmentOf(permissions.provision, ground),
      statements: statementsOf(permissions.provision, ground),
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
