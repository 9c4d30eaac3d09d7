import { Fn } from 'aws-cdk-lib';
import type { ISubnet } from 'aws-cdk-lib/aws-ec2';
import {
  CfnFirewall,
  CfnFirewallPolicy,
  CfnLoggingConfiguration,
  CfnRuleGroup,
} from 'aws-cdk-lib/aws-networkfirewall';
import {
  CfnFirewallDomainList,
  CfnFirewallRuleGroup,
  CfnFirewallRuleGroupAssociation,
  CfnResolverQueryLoggingConfig,
  CfnResolverQueryLoggingConfigAssociation,
} from 'aws-cdk-lib/aws-route53resolver';
import { Construct } from 'constructs';
import { KeptLogs } from '../constructs/logs.ts';

interface FilterProps {
  /** Part of the names of all that is made here. */
  name: string;
  vpcId: string;
  /** One in each zone; nothing else is in them. */
  subnets: readonly ISubnet[];
  /** Names that pass; `*.` before one means all below it. */
  hosts: readonly string[];
}

/** Of rules: it cannot be changed later, and 200 names make two each. */
const capacity = 500;
/** A ClientHello may come in several packets: these look at a connection when its protocol is known. */
const otherwise = ['aws:drop_established_app_layer', 'aws:alert_established_app_layer'];

/**
 * AWS Network Firewall: TLS passes to the names that its handshake may ask for, HTTP to those that its Host may name,
 * and nothing else does. A firewall in each zone, because one of several zones lists its endpoints in no known order.
 * @returns ids of the VPC endpoints, in the order of the subnets
 */
export function nameFilter(scope: Construct, { name, vpcId, subnets, hosts }: FilterProps): string[] {
  const own = new Construct(scope, 'Names');
  const rules = new CfnRuleGroup(own, 'Names', {
    ruleGroupName: `${name}-names`,
    type: 'STATEFUL',
    capacity,
    ruleGroup: {
      rulesSource: {
        rulesSourceList: {
          generatedRulesType: 'ALLOWLIST',
          targetTypes: ['TLS_SNI', 'HTTP_HOST'],
          targets: hosts.map((host) => host.replace(/^\*/, '')),
        },
      },
      statefulRuleOptions: { ruleOrder: 'STRICT_ORDER' },
    },
  });
  const policy = new CfnFirewallPolicy(own, 'Policy', {
    firewallPolicyName: name,
    firewallPolicy: {
      statelessDefaultActions: ['aws:forward_to_sfe'],
      statelessFragmentDefaultActions: ['aws:drop'],
      statefulEngineOptions: { ruleOrder: 'STRICT_ORDER', streamExceptionPolicy: 'DROP' },
      statefulDefaultActions: otherwise,
      statefulRuleGroupReferences: [{ resourceArn: rules.attrRuleGroupArn, priority: 1 }],
    },
  });
  const alerts = new KeptLogs(own, 'Alerts');
  return subnets.map(({ subnetId }, zone) => {
    const firewall = new CfnFirewall(own, `Firewall${zone + 1}`, {
      firewallName: `${name}-${zone + 1}`,
      firewallPolicyArn: policy.attrFirewallPolicyArn,
      vpcId,
      subnetMappings: [{ subnetId }],
    });
    new CfnLoggingConfiguration(own, `Logging${zone + 1}`, {
      firewallArn: firewall.attrFirewallArn,
      loggingConfiguration: {
        logDestinationConfigs: [
          {
            logType: 'ALERT',
            logDestinationType: 'CloudWatchLogs',
            logDestination: { logGroup: alerts.logGroupName },
          },
        ],
      },
    });
    // Of the form `zone:endpoint`.
    return Fn.select(1, Fn.split(':', Fn.select(0, firewall.attrEndpointIds)));
  });
}

/**
 * DNS Firewall of the VPC's resolver: a name that is not listed does not exist. So a Bot that asks for one is told at
 * once (ENOTFOUND), and no name carries anything out. Every query stands in a log. When it cannot judge, it refuses.
 */
export function lookupFilter(scope: Construct, { name, vpcId, hosts }: Omit<FilterProps, 'subnets'>): void {
  const own = new Construct(scope, 'Lookups');
  const list = (part: string, domains: readonly string[]) =>
    new CfnFirewallDomainList(own, part, { name: `${name}-${part.toLowerCase()}`, domains: [...domains] });
  const rules = new CfnFirewallRuleGroup(own, 'Rules', {
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
  new CfnFirewallRuleGroupAssociation(own, 'Association', {
    name,
    firewallRuleGroupId: rules.attrId,
    vpcId,
    priority: 101,
  });
  const logging = new CfnResolverQueryLoggingConfig(own, 'Logging', {
    name,
    destinationArn: new KeptLogs(own, 'Queries').logGroupArn,
  });
  new CfnResolverQueryLoggingConfigAssociation(own, 'Logged', {
    resolverQueryLogConfigId: logging.attrId,
    resourceId: vpcId,
  });
}
