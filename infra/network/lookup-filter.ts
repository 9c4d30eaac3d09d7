import {
  CfnFirewallDomainList,
  CfnFirewallRuleGroup,
  CfnFirewallRuleGroupAssociation,
  CfnResolverQueryLoggingConfig,
  CfnResolverQueryLoggingConfigAssociation,
} from 'aws-cdk-lib/aws-route53resolver';
import { Construct } from 'constructs';
import { KeptLogs } from '../constructs/kept-logs.ts';

interface LookupFilterProps {
  name: string;
  vpcId: string;
  /** Names that are looked up; `*.` before one means all below it. */
  hosts: readonly string[];
}

/**
 * DNS Firewall of the VPC's resolver: a name that is not listed does not exist. So a Bot that asks for one is told at
 * once (ENOTFOUND), and no name carries anything out. Every query stands in a log. When it cannot judge, it refuses.
 */
export class LookupFilter extends Construct {
  constructor(scope: Construct, id: string, { name, vpcId, hosts }: LookupFilterProps) {
    super(scope, id);
    const list = (part: string, domains: readonly string[]) =>
      new CfnFirewallDomainList(this, part, { name: `${name}-${part.toLowerCase()}`, domains: [...domains] });
    const rules = new CfnFirewallRuleGroup(this, 'Rules', {
      name,
      firewallRules: [
        {
          priority: 1,
          action: 'ALLOW',
          firewallDomainListId: list('Listed', hosts).attrId,
          // Where a listed name leads is its owner's to say.
          firewallDomainRedirectionAction: 'TRUST_REDIRECTION_DOMAIN',
        },
        {
          priority: 2,
          action: 'BLOCK',
          blockResponse: 'NXDOMAIN',
          firewallDomainListId: list('Every', ['*']).attrId,
        },
      ],
    });
    new CfnFirewallRuleGroupAssociation(this, 'Association', {
      name,
      firewallRuleGroupId: rules.attrId,
      vpcId,
      priority: 101,
    });
    const logging = new CfnResolverQueryLoggingConfig(this, 'Logging', {
      name,
      destinationArn: new KeptLogs(this, 'Queries').logGroupArn,
    });
    new CfnResolverQueryLoggingConfigAssociation(this, 'Logged', {
      resolverQueryLogConfigId: logging.attrId,
      resourceId: vpcId,
    });
  }
}
