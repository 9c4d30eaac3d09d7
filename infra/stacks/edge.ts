import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { alarmTopic } from '../constructs/alarm-topic.ts';
import { LogsKey } from '../constructs/logs-key.ts';
import { WebAcl } from '../edge/web-acl.ts';
import { watchCertificate } from '../running/quota-alarms.ts';
import type { Stage } from '../stage.ts';
import type { Firewall } from '../stage-network.ts';

interface EdgeStackProps extends StackProps {
  stage: Stage;
  firewall: Firewall;
}

/** Where AWS takes web ACLs for CloudFront. */
export const edgeRegion = 'us-east-1';

/**
 * The web ACL, in the one region that has them for CloudFront, with the log of what it refuses; and what watches the
 * certificate that CloudFront shows: an alarm sees metrics of its own region only, and tells topics of its own region only.
 */
export class EdgeStack extends Stack {
  readonly webAclArn: string;

  constructor(scope: Construct, id: string, { stage, firewall, ...props }: EdgeStackProps) {
    super(scope, id, props);
    const logsKey = new LogsKey(this, 'Logs', stage, `aws-waf-logs-portico-${stage.name}-*`);
    this.webAclArn = new WebAcl(this, 'Firewall', { stage, firewall, logsKey: logsKey.key }).arn;
    const alarms = alarmTopic(this, { stage, key: logsKey });
    watchCertificate(this, firewall.certificateArn, alarms);
    new CfnOutput(this, 'EdgeAlarms', {
      value: alarms.topicArn,
      description: 'Told of alarms of this region',
    });
  }
}
