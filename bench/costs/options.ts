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
