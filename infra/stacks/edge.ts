import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { LogsKey } from '../constructs/logs-key.ts';
import { WebAcl } from '../edge/web-acl.ts';
import type { Stage } from '../stage.ts';
import type { Firewall } from '../stage-network.ts';

interface EdgeStackProps extends StackProps {
  stage: Stage;
  firewall: Firewall;
}

/** Where AWS takes web ACLs for CloudFront. */
export const edgeRegion = 'us-east-1';

/** The web ACL, in the one region that has them for CloudFront, with the log of what it refuses. */
export class EdgeStack extends Stack {
  readonly webAclArn: string;

  constructor(scope: Construct, id: string, { stage, firewall, ...props }: EdgeStackProps) {
    super(scope, id, props);
    const { key } = new LogsKey(this, 'Logs', stage, `aws-waf-logs-portico-${stage.name}-*`);
    this.webAclArn = new WebAcl(this, 'Firewall', { stage, firewall, logsKey: key }).arn;
  }
}
