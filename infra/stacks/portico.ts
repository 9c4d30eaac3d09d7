import { type App, Aspects, RemovalPolicies, Tags } from 'aws-cdk-lib';
import { LogsKept } from '../constructs/kept-logs.ts';
import { ConcurrencyShared, measureFunctions, traceFunctions } from '../running/shape-functions.ts';
import type { Stage } from '../stage.ts';
import { AccessStack } from './access.ts';
import { ApiStack } from './api.ts';
import { DataStack } from './data.ts';
import { EdgeStack, edgeRegion } from './edge.ts';
import { EventsStack } from './events.ts';
import { NetworkStack } from './network.ts';
import { ProvisionStack } from './provision.ts';
import { ReindexStack } from './reindex.ts';
import { SandboxStack } from './sandbox.ts';
import { WatchStack } from './watch.ts';

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
  Aspects.of(app).add(new ConcurrencyShared(stage));
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
