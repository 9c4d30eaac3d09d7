import { type App, CfnOutput, Fn, RemovalPolicies, Tags } from 'aws-cdk-lib';
import { CfnEIP } from 'aws-cdk-lib/aws-ec2';
import type { Key } from 'aws-cdk-lib/aws-kms';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { watchCertificate, watchConcurrency } from '../constructs/alarms.ts';
import type { Ground } from '../constructs/grants.ts';
import { tuneFunctions } from '../constructs/house-function.ts';
import { alarmTopic, keepLogs, logsKey } from '../constructs/logs.ts';
import { LockedInvoker } from '../constructs/own-functions.ts';
import { KmsKeys, PorticoTable } from '../constructs/portico-table.ts';
import { makeOriginSecrets } from '../edge/front.ts';
import { webAcl } from '../edge/web-acl.ts';
import { lookupFilter, nameFilter } from '../network/filters.ts';
import { type InvokerNetwork, invokerNetwork } from '../network/invoker-network.ts';
import type { Stage } from '../stage.ts';
import { ApiStack } from './api.ts';
import { EventsStack } from './events.ts';
import { AccessStack, ProvisionStack, ReindexStack, WatchStack } from './operators.ts';
import { type StageParts, StageStack } from './stage-stack.ts';

/** What outlives every release: the table, the keys, the place where alarms go. */
class DataStack extends StageStack {
  readonly table: PorticoTable;
  readonly keys: KmsKeys;
  readonly alarms: ITopic;
  readonly logsKey: Key;

  constructor(app: Construct, stage: Stage) {
    super(app, stage, 'data');
    this.table = new PorticoTable(this, 'Table', stage);
    this.keys = new KmsKeys(this, 'Keys', stage);
    this.logsKey = logsKey(this, stage);
    this.alarms = alarmTopic(this, stage, this.logsKey);
    this.table.watchThrottles(this.alarms);
    watchConcurrency(this, stage, this.alarms);
    makeOriginSecrets(this, stage);
  }
}

/** Where AWS takes web ACLs for CloudFront. */
const edgeRegion = 'us-east-1';

/**
 * The web ACL, in the one region that has them for CloudFront, with the log of what it refuses; and what watches the
 * certificate that CloudFront shows: an alarm sees metrics of its own region only, and tells topics of its own region only.
 */
class EdgeStack extends StageStack {
  readonly webAclArn: string;

  constructor(app: Construct, stage: Stage, firewall: NonNullable<Stage['firewall']>) {
    // Stages of all regions have theirs in that one.
    super(app, stage, `edge-${stage.region}`, { env: { region: edgeRegion }, crossRegionReferences: true });
    const key = logsKey(this, stage, `aws-waf-logs-portico-${stage.name}-*`);
    this.webAclArn = webAcl(this, stage, firewall, key);
    const alarms = alarmTopic(this, stage, key);
    watchCertificate(this, firewall.certificateArn, alarms);
    new CfnOutput(this, 'EdgeAlarms', {
      value: alarms.topicArn,
      description: 'Told of alarms of this region',
    });
  }
}

/**
 * What invokers are connected to when their egress is filtered. A stack of its own: switched off, it stays until
 * it is destroyed by hand, because Lambda gives its network interfaces back minutes after the invokers have left.
 */
class NetworkStack extends StageStack {
  readonly network: InvokerNetwork;

  constructor(app: Construct, stage: Stage, { hosts }: NonNullable<Stage['egress']>) {
    super(app, stage, 'network');
    const name = `portico-${stage.name}-egress`;
    this.network = invokerNetwork(this);
    const { vpcId, filterSubnets: subnets } = this.network;
    this.network.leadThrough(nameFilter(this, { name, vpcId, hosts, subnets }));
    const addresses = this.node.findAll().filter((one) => one instanceof CfnEIP);
    new CfnOutput(this, 'ExitAddresses', {
      value: Fn.join(
        ' ',
        addresses.map(({ attrPublicIp }) => attrPublicIp),
      ),
      description: 'Where Bots come from',
    });
    lookupFilter(this, { name, vpcId, hosts });
  }
}

/** Where customers' code runs: a stack of its own, so that nothing else can slip into its role. */
class SandboxStack extends StageStack {
  readonly invokers: Pick<Ground, 'invoker' | 'longInvoker' | 'evaluator'>;

  /** @param network where egress is filtered */
  constructor(app: Construct, { stage, alarms }: StageParts, network: InvokerNetwork | undefined) {
    super(app, stage, 'sandbox');
    this.invokers = {
      invoker: new LockedInvoker(this, 'Invoker', { alarms, network }).lambda,
      longInvoker: new LockedInvoker(this, 'LongInvoker', { alarms, network, use: 'jobs' }).lambda,
      evaluator: new LockedInvoker(this, 'Evaluator', { alarms, network, use: 'expressions' }).lambda,
    };
  }
}

/** All stacks of a stage; each needs only those before it. */
export function porticoStacks(app: App, stage: Stage) {
  const data = new DataStack(app, stage);
  const parts = { stage, alarms: data.alarms };
  const { egress, firewall } = stage;
  const network = egress && new NetworkStack(app, stage, egress);
  const sandbox = new SandboxStack(app, parts, network?.network);
  const access = new AccessStack(app, parts);
  const ground = {
    table: data.table.table,
    tableKey: data.table.key,
    keys: data.keys,
    ...sandbox.invokers,
    searchParameters: stage.searchParameters.join(),
  };
  const edge = firewall && new EdgeStack(app, stage, firewall);
  const api = new ApiStack(app, { ...parts, ground, webAclArn: edge?.webAclArn });
  // Its function has to be there before a log can be brought to it.
  api.addStackDependency(access);
  const { baseUrl, jobs } = api;
  const reachable = { ...ground, baseUrl, jobs };
  const events = new EventsStack(app, { ...parts, ground: reachable, api: api.api });
  const { queues } = events;
  const provision = new ProvisionStack(app, { ...parts, ground: { ...reachable, queues } });
  const reindex = new ReindexStack(app, { ...parts, ground: reachable });
  const watch = new WatchStack(app, { ...parts, baseUrl });

  tuneFunctions(app, stage);
  keepLogs(app, data.logsKey, stage.retention);
  const kept = {
    applyToResourceTypes: [
      'AWS::DynamoDB::GlobalTable',
      'AWS::KMS::Key',
      'AWS::Logs::LogGroup',
      'AWS::S3::Bucket',
      'AWS::Backup::BackupVault',
    ],
  };
  if (stage.removalPolicy === 'retain') RemovalPolicies.of(app).retain(kept);
  else RemovalPolicies.of(app).destroy(kept);
  Tags.of(app).add('portico:stage', stage.name);
  return {
    ...{ data, ...(network ? { network } : {}), sandbox, access, ...(edge ? { edge } : {}) },
    ...{ api, events, provision, reindex, watch },
  };
}
