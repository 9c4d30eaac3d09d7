import { type App, Aspects, CfnOutput, Fn, RemovalPolicies, Stack, type StackProps, Tags } from 'aws-cdk-lib';
import { CfnEIP } from 'aws-cdk-lib/aws-ec2';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { watchCertificate, watchConcurrency } from '../constructs/alarms.ts';
import { measureFunctions, shareFunctions, traceFunctions } from '../constructs/house-function.ts';
import { LockedInvoker } from '../constructs/locked-invoker.ts';
import { alarmTopic, LogsKept, LogsKey } from '../constructs/logs.ts';
import { PorticoTable, StageKeys } from '../constructs/portico-table.ts';
import { makeOriginSecrets } from '../edge/front.ts';
import { WebAcl } from '../edge/web-acl.ts';
import { LookupFilter, NameFilter } from '../network/filters.ts';
import { InvokerNetwork } from '../network/invoker-network.ts';
import type { Stage } from '../stage.ts';
import { ApiStack } from './api.ts';
import { EventsStack } from './events.ts';
import { AccessStack, ProvisionStack, ReindexStack, WatchStack } from './operators.ts';

interface DataStackProps extends StackProps {
  stage: Stage;
}

/** What outlives every release: the table, the keys, the place where alarms go. */
class DataStack extends Stack {
  readonly table: PorticoTable;
  readonly keys: StageKeys;
  readonly alarms: ITopic;
  readonly logsKey: LogsKey;

  constructor(scope: Construct, id: string, { stage, ...props }: DataStackProps) {
    super(scope, id, props);
    this.table = new PorticoTable(this, 'Table', stage);
    this.keys = new StageKeys(this, 'Keys', stage);
    this.logsKey = new LogsKey(this, 'Logs', stage);
    this.alarms = alarmTopic(this, { stage, key: this.logsKey });
    this.table.watchThrottles(this.alarms);
    watchConcurrency(this, stage, this.alarms);
    makeOriginSecrets(this, stage);
  }
}

interface EdgeStackProps extends StackProps {
  stage: Stage;
  firewall: NonNullable<Stage['firewall']>;
}

/** Where AWS takes web ACLs for CloudFront. */
const edgeRegion = 'us-east-1';

/**
 * The web ACL, in the one region that has them for CloudFront, with the log of what it refuses; and what watches the
 * certificate that CloudFront shows: an alarm sees metrics of its own region only, and tells topics of its own region only.
 */
class EdgeStack extends Stack {
  readonly webAclArn: string;

  constructor(scope: Construct, id: string, { stage, firewall, ...props }: EdgeStackProps) {
    super(scope, id, props);
    const logsKey = new LogsKey(this, 'Logs', stage, `aws-waf-logs-portico-${stage.name}-*`);
    this.webAclArn = new WebAcl(this, 'Firewall', { stage, firewall, logsKey: logsKey.key }).arn;
    const alarms = alarmTopic(this, { stage, key: logsKey });
    watchCertificate(this, firewall.certificateArn, alarms);
    new CfnOutput(this, 'EdgeAlarms', {
      value: alarms.topicArn,
      description: 'Told of alarms of this region',
    });
  }
}

interface NetworkStackProps extends StackProps {
  name: string;
  egress: NonNullable<Stage['egress']>;
}

/**
 * What invokers are connected to when their egress is filtered. A stack of its own: switched off, it stays until
 * it is destroyed by hand, because Lambda gives its network interfaces back minutes after the invokers have left.
 */
class NetworkStack extends Stack {
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

interface SandboxStackProps extends StackProps {
  alarms: ITopic;
  /** Where egress is filtered. */
  network?: InvokerNetwork | undefined;
}

/** Where customers' code runs: a stack of its own, so that nothing else can slip into its role. */
class SandboxStack extends Stack {
  readonly invoker: IFunction;
  readonly longInvoker: IFunction;
  readonly evaluator: IFunction;

  constructor(scope: Construct, id: string, { alarms, network, ...props }: SandboxStackProps) {
    super(scope, id, props);
    this.invoker = new LockedInvoker(this, 'Invoker', { alarms, network }).lambda;
    this.longInvoker = new LockedInvoker(this, 'LongInvoker', { alarms, network, use: 'jobs' }).lambda;
    this.evaluator = new LockedInvoker(this, 'Evaluator', { alarms, network, use: 'expressions' }).lambda;
  }
}

/** All stacks of a stage; each needs only those before it. */
export function porticoStacks(app: App, stage: Stage) {
  const name = (part: string) => `portico-${stage.name}-${part}`;
  const env = { region: stage.region };

  const data = new DataStack(app, name('data'), { env, stage });
  const { alarms } = data;
  const { egress } = stage;
  const network = egress && new NetworkStack(app, name('network'), { env, egress, name: name('egress') });
  const sandbox = new SandboxStack(app, name('sandbox'), { env, alarms, network: network?.network });
  const access = new AccessStack(app, name('access'), { env, stage, alarms });
  const ground = {
    table: data.table.table,
    tableKey: data.table.key,
    keys: data.keys,
    invoker: sandbox.invoker,
    longInvoker: sandbox.longInvoker,
    evaluator: sandbox.evaluator,
    searchParameters: stage.searchParameters.join(),
  };
  const { firewall } = stage;
  // The ACL's name is brought over from its region.
  const across = firewall ? { crossRegionReferences: true } : {};
  const edge =
    firewall &&
    // Stages of all regions have theirs in that one.
    new EdgeStack(app, name(`edge-${stage.region}`), {
      ...{ env: { region: edgeRegion }, ...across },
      ...{ stage, firewall },
    });
  const api = new ApiStack(app, name('api'), {
    ...{ env, stage, ground, alarms },
    ...across,
    webAclArn: edge?.webAclArn,
  });
  // Its function has to be there before a log can be brought to it.
  api.addStackDependency(access);
  const reachable = { ...ground, baseUrl: api.baseUrl, jobs: api.jobs };
  const events = new EventsStack(app, name('events'), {
    env,
    stage,
    ground: reachable,
    alarms,
    api: api.api,
  });
  const provision = new ProvisionStack(app, name('provision'), {
    env,
    stage,
    ground: { ...reachable, queues: events.queues },
    alarms,
  });
  const reindex = new ReindexStack(app, name('reindex'), { env, stage, ground: reachable, alarms });

  const watch = new WatchStack(app, name('watch'), { env, stage, baseUrl: api.baseUrl, alarms });

  if (stage.metrics) measureFunctions(app, stage);
  if (stage.tracing) traceFunctions(app);
  shareFunctions(app, stage);
  Aspects.of(app).add(new LogsKept(data.logsKey.key, stage.retention));
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
    data,
    ...(network ? { network } : {}),
    sandbox,
    access,
    ...(edge ? { edge } : {}),
    api,
    events,
    provision,
    reindex,
    watch,
  };
}
