import { Aws } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { Stage } from '../stage.ts';

/** Encrypts what a stage says of itself: its log groups and its alarms. Functions do not use it: the services do. */
export class LogsKey extends Construct {
  readonly key: Key;

  /** @param groups pattern of the names of the log groups */
  constructor(scope: Construct, id: string, stage: Stage, groups = `portico-${stage.name}-*`) {
    super(scope, id);
    this.key = new Key(this, 'Key', {
      description: `Portico ${stage.name}: logs and alarms`,
      enableKeyRotation: true,
    });
    this.key.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal(`logs.${Aws.REGION}.amazonaws.com`)],
        // As the service's documentation asks.
        actions: ['kms:Decrypt*', 'kms:Describe*', 'kms:Encrypt*', 'kms:GenerateDataKey*', 'kms:ReEncrypt*'],
        resources: ['*'],
        // For log groups of this stage only: the service names the group in the encryption context.
        conditions: {
          ArnLike: {
            'kms:EncryptionContext:aws:logs:arn': `arn:${Aws.PARTITION}:logs:${Aws.REGION}:${Aws.ACCOUNT_ID}:log-group:${groups}`,
          },
        },
      }),
    );
  }

  /** Lets a service publish to topics under this key. */
  letPublish(service: string): void {
    this.key.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal(service)],
        actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
        resources: ['*'],
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    );
  }
}
