import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiFunctions } from '../../infra/deployed-functions.ts';
import type { Stage } from '../../infra/stage.ts';
import {
  actionsOf,
  functionsOf,
  ofType,
  only,
  type Resource,
  type Statement,
  statementsOfRole,
} from './stage-templates.ts';
import { root } from './synthesised.ts';

const api = 'api.example.org';
const domain = { name: api, certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/c' };
const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
/** A stage with every setting: none of them may fail the rule packs. */
const settings = {
  ...{ region: 'eu-west-1', mailFrom: 'portico@example.org', domain },
  ...{
    mailSandbox: true,
    alarmEmail: 'ops@example.org',
    backup: { keepDays: 365 },
    deletionProtection: true,
  },
  ...{
    accountConcurrency: 1000,
    projectRuns: 75,
    projectShare: 40,
    sourceShare: 60,
    metrics: true,
    tracing: true,
    trustedHops: 1,
    failedAddresses: 30,
  },
  ...{ allowedOrigins: ['https://app.example.org'], searchParameters: ['us-core'], signingKeys: [2, 1] },
  ...{
    sourceKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    removalPolicy: 'retain',
  },
  ...{ retention: 'standard' },
  restoredTable: `arn:aws:dynamodb:eu-west-1:123456789012:table/restored/stream/2026-01-01T00:00:00.000`,
  egress: { hosts: ['hooks.example.com', '*.example.net'] },
  firewall: {
    certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/e',
    requestsPerFiveMinutes: 3000,
    uncounted: ['198.51.100.7/32'],
    secrets: [2, 1],
  },
} satisfies Record<Exclude<keyof Stage, 'name'>, unknown>;

let folder: string;
/** Resources of each stack. */
let stacks: Record<string, Record<string, Resource>>;

/** As `npm run synth` does it, rule packs included: they fail it. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-options-'));
  const context = { stage: 'test', stages: { test: settings }, 'aws:cdk:bundling-stacks': [] };
  const env = {
    ...process.env,
    CDK_OUTDIR: folder,
    CDK_CONTEXT_JSON: JSON.stringify(context),
    NODE_OPTIONS: '',
  };
  await promisify(execFile)(process.execPath, ['infra/app.ts'], {
    cwd: root,
    env,
    maxBuffer: 64 * 1024 ** 2,
  });
  const files = (await readdir(folder)).filter((file) => file.endsWith('.template.json'));
  const read = files.map(async (file) => {
    const { Resources } = JSON.parse(await readFile(join(folder, file), 'utf8'));
    return [file.slice('portico-test-'.length, -'.template.json'.length), Resources];
  });
  stacks = Object.fromEntries(await Promise.all(read));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** In us-east-1, where stages of all regions have theirs. */
const edge = 'edge-eu-west-1';
const resources = (stack: string) => stacks[stack] ?? {};
const properties = (stack: string, type: string) =>
  ofType(resources(stack), type).map(([, { Properties }]) => Properties);

describe('filtered egress', () => {
  it('is for the invokers and for nothing else', () => {
    for (const [name, stack] of Object.entries(stacks)) {
      const own = functionsOf(stack).filter(({ properties: { Description } }) => Description !== undefined);
      for (const { properties } of own) expect('VpcConfig' in properties).toBe(name === 'sandbox');
    }
    for (const { properties } of functionsOf(resources('sandbox'))) {
      const { SubnetIds, SecurityGroupIds } = properties.VpcConfig as Record<string, unknown[]>;
      expect(JSON.stringify(SubnetIds)).toMatch(/Invokers\w*Subnet1.*Invokers\w*Subnet2/);
      expect([SubnetIds?.length, SecurityGroupIds?.length]).toEqual([2, 1]);
      expect(properties.TenancyConfig).toEqual({ TenantIsolationMode: 'PER_TENANT' });
    }
  });

  it('lets Lambda work on network interfaces in an invoker’s name, and denies it to the code', () => {
    for (const { roleId } of functionsOf(resources('sandbox'))) {
      const statements = statementsOfRole(resources('sandbox'), roleId);
      const of = (some: readonly Statement[]) =>
        actionsOf(some).filter((action) => !action.startsWith('logs:'));
      const allowed = of(statements.filter(({ Effect }) => Effect === 'Allow'));
      const denied = statements.filter(({ Effect }) => Effect === 'Deny');
      expect(allowed).toEqual([
        'ec2:AssignPrivateIpAddresses',
        'ec2:CreateNetworkInterface',
        'ec2:DeleteNetworkInterface',
        'ec2:DescribeNetworkInterfaces',
        'ec2:DescribeSubnets',
        'ec2:UnassignPrivateIpAddresses',
      ]);
      expect(of(denied)).toEqual(allowed);
      expect(denied.map(({ Resource, Condition }) => ({ Resource, Condition }))).toEqual([
        { Resource: '*', Condition: { Null: { 'lambda:SourceFunctionArn': 'false' } } },
      ]);
    }
  });

  it('gives those rights before the network, and takes them after it', () => {
    const sandbox = resources('sandbox');
    for (const [, one] of ofType(sandbox, 'AWS::Lambda::Function')) {
      const { DependsOn } = one as Resource & { DependsOn: string[] };
      expect(DependsOn.filter((id) => /Interfaces/.test(id))).toHaveLength(1);
    }
    const rights = ofType(sandbox, 'AWS::IAM::Policy').filter(([id]) => id.includes('Interfaces'));
    expect(rights).toHaveLength(3);
  });

  it('leads out of the invokers’ subnets through the filter of their zone only, and back', () => {
    const routes = properties('network', 'AWS::EC2::Route');
    const from = (subnet: string) =>
      routes.filter(({ RouteTableId }) => JSON.stringify(RouteTableId).includes(`Vpc${subnet}RouteTable`));
    for (const zone of [1, 2]) {
      const endpoint = expect.stringContaining(`NamesFirewall${zone}`);
      const through = (route: Record<string, unknown>) => JSON.stringify(route.VpcEndpointId);
      const out = from(`InvokersSubnet${zone}`);
      expect(out.map(({ DestinationCidrBlock }) => DestinationCidrBlock)).toEqual(['0.0.0.0/0']);
      expect(out.map(through)).toEqual([endpoint]);
      expect(JSON.stringify(from(`FilterSubnet${zone}`))).toMatch(/"NatGatewayId":\{"Ref":"\w*ExitSubnet/);
      const back = from(`ExitSubnet${zone}`).filter((route) => 'VpcEndpointId' in route);
      expect(back.map(through)).toEqual([endpoint]);
      const subnet = ofType(resources('network'), 'AWS::EC2::Subnet').find(([id]) =>
        id.includes(`InvokersSubnet${zone}`),
      );
      expect(back[0]?.DestinationCidrBlock).toBe(subnet?.[1].Properties.CidrBlock);
    }
    for (const subnet of properties('network', 'AWS::EC2::Subnet')) {
      expect(subnet.MapPublicIpOnLaunch).toBe(false);
    }
  });

  it('passes the names of the list and drops the rest, strictly', () => {
    const group = only(resources('network'), 'AWS::NetworkFirewall::RuleGroup').Properties;
    expect(group.RuleGroup).toEqual({
      RulesSource: {
        RulesSourceList: {
          GeneratedRulesType: 'ALLOWLIST',
          TargetTypes: ['TLS_SNI', 'HTTP_HOST'],
          Targets: [api, 'hooks.example.com', '.example.net'],
        },
      },
      StatefulRuleOptions: { RuleOrder: 'STRICT_ORDER' },
    });
    const { FirewallPolicy } = only(resources('network'), 'AWS::NetworkFirewall::FirewallPolicy').Properties;
    expect(FirewallPolicy).toEqual({
      StatefulDefaultActions: ['aws:drop_established_app_layer', 'aws:alert_established_app_layer'],
      StatefulRuleGroupReferences: [{ Priority: 1, ResourceArn: expect.anything() }],
      StatelessFragmentDefaultActions: ['aws:drop'],
      StatefulEngineOptions: { RuleOrder: 'STRICT_ORDER', StreamExceptionPolicy: 'DROP' },
      StatelessDefaultActions: ['aws:forward_to_sfe'],
    });
    const [invokers] = properties('network', 'AWS::EC2::SecurityGroup');
    expect(invokers).not.toHaveProperty('SecurityGroupIngress');
    const ports = invokers?.SecurityGroupEgress as { IpProtocol: string; FromPort: number; ToPort: number }[];
    expect(ports.map(({ IpProtocol, FromPort, ToPort }) => [IpProtocol, FromPort, ToPort])).toEqual([
      ['tcp', 443, 443],
      ['tcp', 80, 80],
    ]);
    expect(ofType(resources('network'), 'Custom::VpcRestrictDefaultSG')).toHaveLength(1);
  });

  it('looks up the names of the list and no other', () => {
    const network = resources('network');
    const { FirewallRules } = only(network, 'AWS::Route53Resolver::FirewallRuleGroup').Properties;
    const rules = FirewallRules as { FirewallDomainListId: { 'Fn::GetAtt': [string, string] } }[];
    const listed = rules.map(({ FirewallDomainListId, ...rule }) => ({
      ...rule,
      names: network[FirewallDomainListId['Fn::GetAtt'][0]]?.Properties.Domains,
    }));
    expect(listed).toEqual([
      {
        ...{ Priority: 1, Action: 'ALLOW', FirewallDomainRedirectionAction: 'TRUST_REDIRECTION_DOMAIN' },
        names: [api, 'hooks.example.com', '*.example.net'],
      },
      { Priority: 2, Action: 'BLOCK', BlockResponse: 'NXDOMAIN', names: ['*'] },
    ]);
    expect(ofType(network, 'AWS::Route53Resolver::FirewallRuleGroupAssociation')).toHaveLength(1);
  });

  it('keeps flows, alerts and queries under the stage’s key, for as long as it keeps what functions say', () => {
    const groups = properties('network', 'AWS::Logs::LogGroup');
    expect(groups).toHaveLength(3);
    for (const group of groups) {
      expect(JSON.stringify(group.KmsKeyId)).toContain('portico-test-data:');
      expect(group.RetentionInDays).toBe(90);
    }
    expect(only(resources('network'), 'AWS::EC2::FlowLog').Properties.TrafficType).toBe('ALL');
    expect(properties('network', 'AWS::NetworkFirewall::LoggingConfiguration')).toHaveLength(2);
  });
});

describe('what the rule packs passed', () => {
  it('mails alarms, copies the restored table each day, and watches it', () => {
    expect(properties('data', 'AWS::SNS::Subscription')).toEqual([
      expect.objectContaining({ Protocol: 'email', Endpoint: settings.alarmEmail }),
    ]);
    const { BackupSelection } = only(resources('data'), 'AWS::Backup::BackupSelection').Properties;
    expect(JSON.stringify(BackupSelection)).toContain(':table/restored"');
    const plan = only(resources('data'), 'AWS::Backup::BackupPlan').Properties.BackupPlan;
    expect(plan).toMatchObject({ BackupPlanName: 'portico-test' });
  });
});

describe('what AWS takes', () => {
  const all = () =>
    Object.entries(stacks).flatMap(([stack, own]) =>
      Object.entries(own).map(([id, { Type, Properties }]) => ({ name: `${stack}/${id}`, Type, Properties })),
    );
  const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

  it('is not passed by a template: 500 resources and a million bytes, with room to grow', () => {
    for (const [stack, own] of Object.entries(stacks)) {
      expect([stack, Object.keys(own).length < 400, sizeOf(own) < 800_000]).toEqual([stack, true, true]);
    }
  });

  it('is not passed by what the policies of a role hold: 10,240 characters', () => {
    const sizes = new Map<string, number>();
    for (const { Type, Properties } of all().filter((one) => one.Type === 'AWS::IAM::Policy')) {
      for (const role of (Properties as { Roles: unknown[] }).Roles) {
        const key = JSON.stringify([Type, role]);
        sizes.set(key, (sizes.get(key) ?? 0) + sizeOf(Properties.PolicyDocument));
      }
    }
    expect(sizes.size).toBeGreaterThan(20);
    expect(Math.max(...sizes.values())).toBeLessThan(5_000);
  });

  it('is not passed by texts and variables of functions and alarms', () => {
    for (const { name, Properties, Type } of all()) {
      const most = { 'AWS::CloudWatch::Alarm': 1024, 'AWS::Lambda::Function': 256 }[Type];
      const text = String(Properties?.AlarmDescription ?? Properties?.Description ?? '');
      if (most !== undefined) expect([name, text.length <= most]).toEqual([name, true]);
      // Of 4,096 bytes, which ARNs and secrets fill that are put in at deployment.
      if (Properties?.Environment)
        expect([name, sizeOf(Properties.Environment) < 3_500]).toEqual([name, true]);
    }
  });
});

describe('a firewall', () => {
  const secret = (number: number) =>
    `{{resolve:secretsmanager:portico-test-origin-${number}:SecretString:::}}`;
  const acl = () => only(resources(edge), 'AWS::WAFv2::WebACL').Properties;
  const rules = () => acl().Rules as Record<string, unknown>[];
  const distribution = () =>
    // biome-ignore lint/suspicious/noExplicitAny: a template as JSON
    only(resources('api'), 'AWS::CloudFront::Distribution').Properties.DistributionConfig as any;

  it('has every function behind the API know the secrets, whichever is sent, and no other function', () => {
    const knowing = Object.values(stacks).flatMap((stack) =>
      functionsOf(stack).flatMap(({ properties: { Description, Environment } }) => {
        const { ORIGIN_SECRETS: known } =
          (Environment as { Variables?: Record<string, string> })?.Variables ?? {};
        return known === undefined ? [] : [[Description, known]];
      }),
    );
    const known = `${secret(1)},${secret(2)}`;
    const served = Object.values(apiFunctions).map(({ description }) => [description, known]);
    expect(knowing.sort()).toEqual(served.sort());
    expect(distribution().Origins[0].OriginCustomHeaders).toEqual([
      { HeaderName: 'x-portico-origin', HeaderValue: secret(2) },
    ]);
    const made = properties('data', 'AWS::SecretsManager::Secret').map(({ Name }) => Name);
    expect(made.sort()).toEqual(['portico-test-origin-1', 'portico-test-origin-2']);
  });

  it('stands before the API under its name, keeps nothing and passes all on', () => {
    const { Aliases, DefaultCacheBehavior, Origins, ViewerCertificate, WebACLId, ...more } = distribution();
    expect(Aliases).toEqual([api]);
    expect(DefaultCacheBehavior).toMatchObject({
      AllowedMethods: expect.arrayContaining(['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'POST', 'DELETE']),
      // Managed by AWS: CachingDisabled and AllViewer.
      CachePolicyId: '4135ea2d-6df8-44a3-9df3-4b5a84be39ad',
      OriginRequestPolicyId: '216adef6-5c7f-47e4-b989-5492eafa07d3',
      ViewerProtocolPolicy: 'https-only',
      Compress: false,
    });
    expect(Origins[0].DomainName).toEqual({
      'Fn::GetAtt': [expect.stringContaining('Domain'), 'RegionalDomainName'],
    });
    expect(Origins[0].CustomOriginConfig).toMatchObject({
      OriginProtocolPolicy: 'https-only',
      OriginReadTimeout: 35,
    });
    expect(ViewerCertificate).toMatchObject({
      AcmCertificateArn: settings.firewall.certificateArn,
      MinimumProtocolVersion: 'TLSv1.2_2021',
    });
    expect(JSON.stringify(WebACLId)).toMatch(/ExportsReader.*FirewallAcl/);
    expect(more).not.toHaveProperty('Logging');
  });

  it('counts by address, and reads no body under fhir/R4', () => {
    expect(acl()).toMatchObject({ Scope: 'CLOUDFRONT', DefaultAction: { Allow: {} } });
    expect(rules().map(({ Name }) => Name)).toEqual(['BadAddresses', 'Rate', 'BadInputs']);
    const [, rate, inputs] = rules();
    expect(rate?.Statement).toMatchObject({
      RateBasedStatement: {
        ...{ AggregateKeyType: 'IP', Limit: 3000, EvaluationWindowSec: 300 },
        ScopeDownStatement: { NotStatement: { Statement: { IPSetReferenceStatement: expect.anything() } } },
      },
    });
    expect(rate?.Action).toMatchObject({ Block: { CustomResponse: { ResponseCode: 429 } } });
    expect(inputs?.Statement).toMatchObject({
      ManagedRuleGroupStatement: {
        ScopeDownStatement: {
          NotStatement: {
            Statement: {
              ByteMatchStatement: { SearchString: '/fhir/R4', PositionalConstraint: 'STARTS_WITH' },
            },
          },
        },
      },
    });
  });

  it('has its certificate watched where it is, by an alarm that tells a topic of that region', () => {
    const there = resources(edge);
    const alarm = only(there, 'AWS::CloudWatch::Alarm').Properties;
    expect(alarm).toMatchObject({
      ...{ Namespace: 'AWS/CertificateManager', MetricName: 'DaysToExpiry', Threshold: 30 },
      Dimensions: [{ Name: 'CertificateArn', Value: settings.firewall.certificateArn }],
    });
    const topic = only(there, 'AWS::SNS::Topic');
    expect(alarm.AlarmActions).toEqual([{ Ref: topic.id }]);
    expect(only(there, 'AWS::SNS::Subscription').Properties).toMatchObject({
      ...{ TopicArn: { Ref: topic.id }, Endpoint: settings.alarmEmail },
    });
    const key = only(there, 'AWS::KMS::Key');
    expect(topic.Properties.KmsMasterKeyId).toEqual({ 'Fn::GetAtt': [key.id, 'Arn'] });
    expect(JSON.stringify(key.Properties.KeyPolicy)).toContain('cloudwatch.amazonaws.com');
    const watched = properties('api', 'AWS::CloudWatch::Alarm').filter(
      ({ MetricName }) => MetricName === 'DaysToExpiry',
    );
    expect(JSON.stringify(watched.map(({ Dimensions }) => Dimensions))).toContain(domain.certificateArn);
  });

  it('keeps no sample of a request, and logs what it refused without path, query, token or cookie', () => {
    const seen = [acl(), ...rules()].map(({ VisibilityConfig }) => VisibilityConfig);
    for (const one of seen) expect(one).toMatchObject({ SampledRequestsEnabled: false });
    const logging = only(resources(edge), 'AWS::WAFv2::LoggingConfiguration').Properties;
    expect(logging.RedactedFields).toEqual([
      ...['authorization', 'cookie', 'referer', 'if-none-exist'].map((Name) => ({ SingleHeader: { Name } })),
      { UriPath: {} },
      { QueryString: {} },
    ]);
    expect(logging.LoggingFilter).toMatchObject({ DefaultBehavior: 'DROP' });
    const group = only(resources(edge), 'AWS::Logs::LogGroup').Properties;
    expect(JSON.stringify(group.LogGroupName)).toContain('aws-waf-logs-portico-test-');
    expect(group).toMatchObject({
      KmsKeyId: { 'Fn::GetAtt': [expect.any(String), 'Arn'] },
      RetentionInDays: 365,
    });
  });
});
