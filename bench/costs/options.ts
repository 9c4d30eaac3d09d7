import type { Resource } from '../../test/infra/stage-templates.ts';
import type { Line } from './line.ts';
import { hoursOfMonth, prices } from './prices.ts';

/** What filtered egress costs in a month in which no Bot runs, by the resources of its stack. */
export function egressLines(resources: readonly Resource[]): Line[] {
  const count = (type: string) => resources.filter(({ Type }) => Type === type).length;
  const hourly = (many: number, what: string, price: number): Line => ({
    what: `${many} ${what}`,
    usd: many * hoursOfMonth * price,
  });
  return [
    hourly(
      count('AWS::NetworkFirewall::Firewall'),
      'endpoints of Network Firewall',
      prices.firewallEndpointHour,
    ),
    hourly(count('AWS::EC2::NatGateway'), 'NAT gateways', prices.natGatewayHour),
    hourly(count('AWS::EC2::EIP'), 'public addresses', prices.publicAddressHour),
  ];
}

/** What a firewall costs in a month without a request, by its own stack and the stage's secrets. */
export function firewallLines(edge: readonly Resource[], data: readonly Resource[]): Line[] {
  const ofType = (resources: readonly Resource[], type: string) =>
    resources.filter(({ Type }) => Type === type);
  const acls = ofType(edge, 'AWS::WAFv2::WebACL');
  const rules = acls.reduce((sum, { Properties }) => sum + (Properties.Rules as unknown[]).length, 0);
  const secrets = ofType(data, 'AWS::SecretsManager::Secret').length;
  const keys = ofType(edge, 'AWS::KMS::Key').length;
  const alarms = ofType(edge, 'AWS::CloudWatch::Alarm').length;
  return [
    { what: `${acls.length} web ACL`, usd: acls.length * prices.webAclMonth },
    { what: `${rules} rules`, usd: rules * prices.webAclRuleMonth },
    { what: `${secrets} secret`, usd: secrets * prices.secretMonth },
    { what: `${keys} KMS key`, usd: keys * prices.keyMonth },
    { what: `${alarms} alarm`, usd: alarms * prices.alarmMetricMonth },
  ];
}
