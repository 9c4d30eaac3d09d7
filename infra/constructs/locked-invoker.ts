import { join } from 'node:path';
import { Architecture, TenancyConfig } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { runBuild } from '../bundle.ts';
import { timeoutSeconds } from '../deployed-functions.ts';
import { type InvokerNetwork, interfaceRights } from '../network/invoker-network.ts';
import { watchLogs } from './alarms.ts';
import { HouseFunction } from './house-function.ts';

interface LockedInvokerProps {
  alarms: ITopic;
  /** For jobs: as long as Lambda lets it run. For expressions: no Bot comes here, and no token of a run. */
  use?: 'bots' | 'jobs' | 'expressions';
  /** Where egress is filtered; left out, it runs in no VPC. */
  network?: InvokerNetwork | undefined;
  /** The processor it runs on, which the native addon is built for. */
  platform?: 'linux-arm64' | 'linux-x64';
}

const descriptions = {
  bots: 'Runs one Bot in the sandbox',
  jobs: 'Runs one Bot in the sandbox, for jobs',
  expressions: 'Evaluates expressions of Subscriptions in the sandbox',
};

/**
 * Where customers' code runs. Its role may write its own log and nothing else, it has no environment,
 * and Lambda gives each Project execution environments of its own. In a network, Lambda may make and remove
 * interfaces in the role's name, and the code that runs may not.
 */
export class LockedInvoker extends HouseFunction {
  constructor(scope: Construct, id: string, props: LockedInvokerProps) {
    const { alarms, use = 'bots', network, platform = 'linux-arm64' } = props;
    super(scope, id, {
      folder: 'invoker',
      description: descriptions[use],
      timeoutSeconds: use === 'jobs' ? timeoutSeconds.longInvoker : timeoutSeconds.invoker,
      // One whole vCPU; the largest isolate, 512 MiB, leaves room for a run that overshoots.
      memoryMb: 1769,
      tenancyConfig: TenancyConfig.PER_TENANT,
      architecture: platform === 'linux-arm64' ? Architecture.ARM_64 : Architecture.X86_64,
      // The folder that the sandbox's child runs from.
      addFiles: (assetDir) => runBuild('infra/guest/build.ts', join(assetDir, 'guest'), platform),
      impact:
        'Bots do not run, or end without an answer: callers get 429 or 409 and do not know whether the Bot ran. ' +
        'Look for exceptions in the log of the invoker, and at the concurrency left in the account.',
      alarms,
      ...(network
        ? {
            network: {
              vpc: network.vpc,
              vpcSubnets: { subnets: [...network.subnets] },
              securityGroups: [network.securityGroup],
            },
          }
        : {}),
    });
    if (network) this.lambda.node.addDependency(interfaceRights(this, this.role));
    watchLogs(this, 'NotStarted', [this], alarms);
  }
}
