import { Aws, Validations } from 'aws-cdk-lib';
import { Effect, type IRole, Policy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { interfaceFindings } from './findings.ts';

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
