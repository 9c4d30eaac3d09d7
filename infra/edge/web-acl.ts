import { Aws, Fn } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { CfnIPSet, CfnLoggingConfiguration, CfnWebACL } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import { KeptLogs } from '../constructs/logs.ts';
import type { Stage } from '../stage.ts';

const tooMany = JSON.stringify({
  resourceType: 'OperationOutcome',
  id: 'too-many-requests',
  issue: [
    {
      severity: 'error',
      code: 'throttled',
      details: { text: 'Too many requests from this address within five minutes' },
    },
  ],
});

/** Headers that are logged as REDACTED, beside path and query: they hold what shows a caller, or names of patients. */
const redactedHeaders = ['authorization', 'cookie', 'referer', 'if-none-exist'];

/**
 * What CloudFront asks of each request: whether the address is known for attacks, how many requests it has made, and
 * outside of `fhir/R4`, where records and Bots' code look like attacks, known bad inputs. Only what is refused or counted is logged.
 * @returns its ARN
 */
export function webAcl(
  scope: Construct,
  stage: Stage,
  firewall: NonNullable<Stage['firewall']>,
  encryptionKey: IKey,
): string {
  const own = new Construct(scope, 'Firewall');
  const uncounted = new CfnIPSet(own, 'Uncounted', {
    scope: 'CLOUDFRONT',
    ipAddressVersion: 'IPV4',
    addresses: [...firewall.uncounted],
  });
  const acl = new CfnWebACL(own, 'Acl', {
    scope: 'CLOUDFRONT',
    defaultAction: { allow: {} },
    visibilityConfig: seenAs('Acl'),
    customResponseBodies: { tooMany: { contentType: 'APPLICATION_JSON', content: tooMany } },
    rules: [
      managed('BadAddresses', 0, 'AWSManagedRulesAmazonIpReputationList'),
      {
        name: 'Rate',
        priority: 1,
        statement: {
          rateBasedStatement: {
            aggregateKeyType: 'IP',
            limit: firewall.requestsPerFiveMinutes,
            evaluationWindowSec: 300,
            scopeDownStatement: not({ ipSetReferenceStatement: { arn: uncounted.attrArn } }),
          },
        },
        action: {
          block: {
            customResponse: {
              responseCode: 429,
              customResponseBodyKey: 'tooMany',
              responseHeaders: [{ name: 'Retry-After', value: '300' }],
            },
          },
        },
        visibilityConfig: seenAs('Rate'),
      },
      managed(
        'BadInputs',
        2,
        'AWSManagedRulesKnownBadInputsRuleSet',
        not({
          byteMatchStatement: {
            fieldToMatch: { uriPath: {} },
            positionalConstraint: 'STARTS_WITH',
            searchString: '/fhir/R4',
            textTransformations: [{ priority: 0, type: 'NONE' }],
          },
        }),
      ),
    ],
  });
  // WAF takes log groups of this prefix only; the stack's id makes the name another one each time it is made.
  const logGroupName = `aws-waf-logs-portico-${stage.name}-${Fn.select(2, Fn.split('/', Aws.STACK_ID))}`;
  const log = new KeptLogs(own, 'Log', 'access', { logGroupName, encryptionKey });
  const logging = new CfnLoggingConfiguration(own, 'Logging', {
    resourceArn: acl.attrArn,
    logDestinationConfigs: [
      `arn:${Aws.PARTITION}:logs:${Aws.REGION}:${Aws.ACCOUNT_ID}:log-group:${logGroupName}`,
    ],
    redactedFields: [
      ...redactedHeaders.map((Name) => ({ singleHeader: { Name } })),
      { uriPath: {} },
      { queryString: {} },
    ],
    loggingFilter: {
      DefaultBehavior: 'DROP',
      Filters: [
        {
          Behavior: 'KEEP',
          Requirement: 'MEETS_ANY',
          Conditions: ['BLOCK', 'COUNT'].map((Action) => ({ ActionCondition: { Action } })),
        },
      ],
    },
  });
  logging.node.addDependency(log);
  return acl.attrArn;
}

/** Requests that WAF would keep as samples hold headers and queries, which nothing redacts. */
function seenAs(metricName: string): CfnWebACL.VisibilityConfigProperty {
  return { metricName, cloudWatchMetricsEnabled: true, sampledRequestsEnabled: false };
}

function not(statement: CfnWebACL.StatementProperty): CfnWebACL.StatementProperty {
  return { notStatement: { statement } };
}

/** A group of rules that AWS keeps. */
function managed(
  metricName: string,
  priority: number,
  name: string,
  scopeDownStatement?: CfnWebACL.StatementProperty,
): CfnWebACL.RuleProperty {
  return {
    name: metricName,
    priority,
    statement: {
      managedRuleGroupStatement: {
        vendorName: 'AWS',
        name,
        ...(scopeDownStatement ? { scopeDownStatement } : {}),
      },
    },
    overrideAction: { none: {} },
    visibilityConfig: seenAs(metricName),
  };
}
