import { Aspects, Aws, Validations } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { CfnLogGroup, LogGroup, type LogGroupProps, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct, type IConstruct } from 'constructs';
import type { Retention, Stage } from '../stage.ts';

/** A log group of this house: the stage says how long its kind is kept, see `keepLogs`. */
export class KeptLogs extends LogGroup {
  readonly kind: keyof Retention;

  /** @param own a name, and a key, where the stage's is in another region */
  constructor(
    scope: Construct,
    id: string,
    kind: keyof Retention = 'functions',
    own: Pick<LogGroupProps, 'logGroupName' | 'encryptionKey'> = {},
  ) {
    super(scope, id, { retention: RetentionDays.THREE_MONTHS, ...own });
    this.kind = kind;
  }
}

/** Gives every log group of the app the stage's key unless it has one of its own, and the days of its kind. */
export function keepLogs(app: IConstruct, key: IKey, retention: Retention): void {
  Aspects.of(app).add({
    visit(node) {
      if (!(node instanceof CfnLogGroup)) return;
      const { scope, path } = node.node;
      if (!(scope instanceof KeptLogs)) throw new Error(`${path} is no KeptLogs: how long is it kept?`);
      node.kmsKeyId ??= key.keyArn;
      node.retentionInDays = retention[scope.kind];
    },
  });
}

/**
 * Encrypts what a stage says of itself: its log groups and its alarms. Functions do not use it: the services do.
 * @param groups pattern of the names of the log groups
 */
export function logsKey(scope: Construct, stage: Stage, groups = `portico-${stage.name}-*`): Key {
  const key = new Key(new Construct(scope, 'Logs'), 'Key', {
    description: `Portico ${stage.name}: logs and alarms`,
    enableKeyRotation: true,
  });
  key.addToResourcePolicy(
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
  return key;
}

/** Where alarms go: to the stage's address when it names one, and to whoever subscribes. */
export function alarmTopic(scope: Construct, stage: Stage, key: Key): Topic {
  const topic = new Topic(scope, 'Alarms', { enforceSSL: true, masterKey: key });
  /** Of alarms themselves; whatever else is to publish needs the topic and its key. */
  const publishing = (actions: string[], resource: string) =>
    new PolicyStatement({
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      ...{ actions, resources: [resource] },
      conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
    });
  key.addToResourcePolicy(publishing(['kms:Decrypt', 'kms:GenerateDataKey*'], '*'));
  // Refusing unencrypted publishers replaces the policy that let every service of the account publish.
  topic.addToResourcePolicy(publishing(['sns:Publish'], topic.topicArn));
  if (stage.alarmEmail) {
    const subscription = topic.addSubscription(new EmailSubscription(stage.alarmEmail));
    Validations.of(subscription).acknowledge({
      id: 'Serverless-SNSRedrivePolicy',
      reason:
        'SNS repeats a mail for hours. An alarm whose mail was lost stands in CloudWatch all the same, while a queue ' +
        'of lost mails would be read by nobody.',
    });
  }
  return topic;
}
