import { Aws, Validations } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import type { Stage } from '../stage.ts';
import type { LogsKey } from './logs-key.ts';

/** Alarms themselves; whatever else is to publish needs the topic and its key. */
const publisher = 'cloudwatch.amazonaws.com';

interface AlarmTopicProps {
  stage: Stage;
  key: LogsKey;
}

/** Where alarms go: to the stage's address when it names one, and to whoever subscribes. */
export function alarmTopic(scope: Construct, { stage, key }: AlarmTopicProps): Topic {
  const topic = new Topic(scope, 'Alarms', { enforceSSL: true, masterKey: key.key });
  key.letPublish(publisher);
  // Refusing unencrypted publishers replaces the policy that let every service of the account publish.
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal(publisher)],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
    }),
  );
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
