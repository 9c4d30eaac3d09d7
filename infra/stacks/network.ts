import { CfnOutput, Fn, Stack, type StackProps } from 'aws-cdk-lib';
import { CfnEIP } from 'aws-cdk-lib/aws-ec2';
import type { Construct } from 'constructs';
import { InvokerNetwork } from '../network/invoker-network.ts';
import { LookupFilter } from '../network/lookup-filter.ts';
import { NameFilter } from '../network/name-filter.ts';
import type { Egress } from '../stage-network.ts';

interface NetworkStackProps extends StackProps {
  name: string;
  egress: Egress;
}

/**
 * What invokers are connected to when their egress is filtered. A stack of its own: switched off, it stays until
 * it is destroyed by hand, because Lambda gives its network interfaces back minutes after the invokers have left.
 */
export class NetworkStack extends Stack {
  readonly network: InvokerNetwork;

  constructor(scope: Construct, id: string, { name, egress, ...props }: NetworkStackProps) {
    super(scope, id, props);
    const { hosts } = egress;
    this.network = new InvokerNetwork(this, 'Network');
    const { vpcId } = this.network.vpc;
    const filter = new NameFilter(this, 'Names', { name, vpcId, hosts, subnets: this.network.filterSubnets });
    this.network.leadThrough(filter.endpoints);
    const addresses = this.node.findAll().filter((one) => one instanceof CfnEIP);
    new CfnOutput(this, 'ExitAddresses', {
      value: Fn.join(
        ' ',
        addresses.map(({ attrPublicIp }) => attrPublicIp),
      ),
      description: 'Where Bots come from',
    });
    new LookupFilter(this, 'Lookups', { name, vpcId, hosts });
  }
}
