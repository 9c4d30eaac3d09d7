import { type Finding, inBoth } from '../constructs/findings.ts';

/** Found in the network of invokers. */
export const networkFindings: readonly Finding[] = [
  ...inBoth(
    'VPCNoUnrestrictedRouteToIGW',
    'The subnets of the NAT gateways have this route and hold nothing else. Invokers reach them through the filter only.',
  ),
];

/** Found in the role by which the VPC writes its flow log. */
export const flowRoleFindings: readonly Finding[] = inBoth(
  'IAMNoInlinePolicy',
  'The role is the flow log’s and its policy names that one log group. As a managed policy it could be attached to ' +
    'another role.',
);

/** Found in invokers that are connected to a VPC. */
export const interfaceFindings: readonly Finding[] = [
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
