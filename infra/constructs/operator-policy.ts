import { ArnFormat, Stack } from 'aws-cdk-lib';
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { provisionName, reindexName, type Stage, stageKeysName } from '../stage.ts';

/**
 * What whoever operates the stage is given, and nobody else needs: to invoke the functions that no route leads to. It
 * is attached to nobody here. The invokers are not in it: only functions invoke them.
 */
export function operatorPolicy(scope: Construct, stage: Stage): ManagedPolicy {
  const functionArn = (resourceName: string) =>
    Stack.of(scope).formatArn({
      service: 'lambda',
      resource: 'function',
      resourceName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
  return new ManagedPolicy(scope, 'Operator', {
    managedPolicyName: `portico-${stage.name}-operator-${stage.region}`,
    description: `Portico ${stage.name}: makes and changes Projects, gives resources new index items`,
    statements: [
      new PolicyStatement({
        actions: ['lambda:InvokeFunction'],
        resources: [provisionName, stageKeysName, reindexName].map((nameOf) => functionArn(nameOf(stage))),
      }),
    ],
  });
}
