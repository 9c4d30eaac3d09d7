import { Aws, Validations } from 'aws-cdk-lib';
import {
  CfnRoute,
  FlowLogDestination,
  FlowLogTrafficType,
  IpAddresses,
  type ISubnet,
  type IVpc,
  Peer,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { Effect, type IRole, Policy, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { type Finding, inBoth } from '../constructs/findings.ts';
import { KeptLogs } from '../constructs/logs.ts';

/** Found in the network of invokers. */
const networkFindings: readonly Finding[] = [
  ...inBoth(
    'VPCNoUnrestrictedRouteToIGW',
    'The subnets of the NAT gateways have this route and hold nothing else. Invokers reach them through the filter only.',
  ),
];

/** Found in the role by which the VPC writes its flow log. */
const flowRoleFindings: readonly Finding[] = inBoth(
  'IAMNoInlinePolicy',
  'The role is the flow log’s and its policy names that one log group. As a managed policy it could be attached to ' +
    'another role.',
);

/** Found in invokers that are connected to a VPC. */
const interfaceFindings: readonly Finding[] = [
  ...inBoth(
    'IAMNoInlinePolicy',
    'The policy is one function’s. As a managed policy it could be attached to another role.',
  ),
  ...['*', 'arn:<AWS::Partition>:ec2:<AWS::Region>:<AWS::AccountId>:*/*'].map((resource) => ({
    id: `AwsSolutions-IAM5[Resource::${resource}]`,
    reason:
      'Lambda makes and removes the network interfaces of a function in the name of its role. EC2 lists interfaces for ' +
      'all resources or none, and Lambda asks for the others on every id, as its documentation says. Code in the function ' +
      'is denied each of these actions: the condition lambda:SourceFunctionArn is there in its calls and not in Lambda’s.',
  })),
];

/** Subnets by zone. */
const groups = { invokers: 'Invokers', filter: 'Filter', exit: 'Exit' } as const;

/**
 * Where invokers run when their egress is filtered: subnets without a public address in two zones. In each zone the
 * only way out leads through an endpoint of the filter and then through a NAT gateway; what comes back goes through
 * the same endpoint. Until `leadThrough` is called there is no way out.
 */
export function invokerNetwork(scope: Construct) {
  const own = new Construct(scope, 'Network');
  const vpc: IVpc = new Vpc(own, 'Vpc', {
    ipAddresses: IpAddresses.cidr('10.0.0.0/22'),
    maxAzs: 2,
    natGateways: 2,
    subnetConfiguration: [
      { name: groups.invokers, subnetType: SubnetType.PRIVATE_ISOLATED, cidrMask: 24 },
      { name: groups.filter, subnetType: SubnetType.PRIVATE_WITH_EGRESS, cidrMask: 28 },
      { name: groups.exit, subnetType: SubnetType.PUBLIC, cidrMask: 28, mapPublicIpOnLaunch: false },
    ],
    restrictDefaultSecurityGroup: true,
  }) as IVpc;
  const subnetsOf = (group: keyof typeof groups) =>
    vpc.selectSubnets({ subnetGroupName: groups[group] }).subnets;
  const subnets = subnetsOf('invokers');
  const securityGroup = new SecurityGroup(own, 'Invokers', {
    vpc,
    description: 'Invokers: out to HTTPS and HTTP, and nothing in',
    allowAllOutbound: false,
  });
  securityGroup.addEgressRule(Peer.anyIpv4(), Port.tcp(443), 'HTTPS');
  securityGroup.addEgressRule(Peer.anyIpv4(), Port.tcp(80), 'HTTP');
  keepFlows(own, vpc);
  Validations.of(vpc).acknowledge(...networkFindings);
  return {
    vpcId: vpc.vpcId,
    /** Of invokers, in their subnets. */
    connection: { vpc, vpcSubnets: { subnets }, securityGroups: [securityGroup] },
    /** For the filter, one beside the invokers' own in each zone. */
    filterSubnets: subnetsOf('filter'),
    /**
     * Has what leaves the invokers' subnets, and what comes back to them, go through endpoints.
     * @param endpoints ids of VPC endpoints, in the order of `filterSubnets`
     */
    leadThrough(endpoints: readonly string[]): void {
      const exits = subnetsOf('exit');
      endpoints.forEach((vpcEndpointId, zone) => {
        const route = (name: string, subnet: ISubnet | undefined, destinationCidrBlock: string) =>
          new CfnRoute(own, `${name}${zone + 1}`, {
            routeTableId: subnet?.routeTable.routeTableId ?? '',
            destinationCidrBlock,
            vpcEndpointId,
          });
        route('Out', subnets[zone], '0.0.0.0/0');
        route('Back', exits[zone], subnets[zone]?.ipv4CidrBlock ?? '');
      });
    },
  };
}

export type InvokerNetwork = ReturnType<typeof invokerNetwork>;

/** Who connected to which address, with how many bytes: no names and no contents. */
function keepFlows(scope: Construct, vpc: IVpc): void {
  const role = new Role(scope, 'FlowRole', {
    assumedBy: new ServicePrincipal('vpc-flow-logs.amazonaws.com'),
  });
  Validations.of(role).acknowledge(...flowRoleFindings);
  vpc.addFlowLog('Flows', {
    destination: FlowLogDestination.toCloudWatchLogs(new KeptLogs(scope, 'FlowLog'), role),
    trafficType: FlowLogTrafficType.ALL,
  });
}

const listing = ['ec2:DescribeNetworkInterfaces', 'ec2:DescribeSubnets'];
const changing = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:UnassignPrivateIpAddresses',
];

/**
 * What Lambda needs of a function's role to connect it to a VPC, and a denial of the same to the function's own code,
 * whose calls alone have `lambda:SourceFunctionArn` in their context. A policy of its own: CloudFormation deletes it
 * only when the function is out of the VPC again.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html
 */
export function interfaceRights(scope: Construct, role: IRole): Policy {
  const policy = new Policy(scope, 'Interfaces', {
    roles: [role],
    statements: [
      new PolicyStatement({ actions: listing, resources: ['*'] }),
      new PolicyStatement({
        actions: changing,
        resources: [`arn:${Aws.PARTITION}:ec2:${Aws.REGION}:${Aws.ACCOUNT_ID}:*/*`],
      }),
      new PolicyStatement({
        effect: Effect.DENY,
        actions: [...listing, ...changing],
        resources: ['*'],
        conditions: { Null: { 'lambda:SourceFunctionArn': 'false' } },
      }),
    ],
  });
  Validations.of(policy).acknowledge(...interfaceFindings);
  return policy;
}
