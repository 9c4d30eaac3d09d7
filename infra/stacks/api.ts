import { CfnOutput } from 'aws-cdk-lib';
import type { CfnApi, HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { type FunctionName, functionNames } from '../../functions/routes.ts';
import { reservedFor } from '../../shared/carry/shares.ts';
import { settingDefaults } from '../../shared/identity/projects/settings.ts';
import { watchLogs } from '../constructs/alarms.ts';
import { type Ground, granted } from '../constructs/grants.ts';
import { addSite, HouseFunction, keepCallersLines } from '../constructs/house-function.ts';
import { JobsFunction, StageKeysFunction } from '../constructs/own-functions.ts';
import { functionRoutes, PublicApi, throttleRoutes } from '../constructs/public-api.ts';
import { apiFunctions } from '../deployed-functions.ts';
import { Front, originEnvironment } from '../edge/front.ts';
import { permissions } from '../permissions.ts';
import type { Stage } from '../stage.ts';
import { type StageParts, StageStack } from './stage-stack.ts';

interface ApiParts extends StageParts {
  ground: Omit<Ground, 'baseUrl'>;
  /** Where the stage has a firewall. */
  webAclArn?: string | undefined;
}

/** The HTTP API: a function with a role of its own per folder, a route per row of the route table. */
export class ApiStack extends StageStack {
  readonly baseUrl: string;
  readonly api: HttpApi;
  readonly jobs: IFunction;

  constructor(app: Construct, { stage, ground, alarms, webAclArn }: ApiParts) {
    // The ACL's name is brought over from its region.
    super(app, stage, 'api', stage.firewall ? { crossRegionReferences: true } : {});
    const { api, baseUrl, served, domainName } = new PublicApi(this, 'Public', stage, alarms);
    this.baseUrl = baseUrl;
    // With a domain nobody needs it; a stack that imports it may get a domain.
    this.exportValue((api.node.defaultChild as CfnApi).attrApiEndpoint);
    this.api = api;
    const parts = { ground: { ...ground, baseUrl }, alarms };
    const keysMade = new StageKeysFunction(this, 'stage-keys', { stage, ...parts });
    const jobs = new JobsFunction(this, 'jobs', parts);
    this.jobs = jobs.lambda;
    keysMade.goesBefore(jobs);
    const whole = { ...parts.ground, jobs: jobs.lambda };
    const houses = new Map<FunctionName, HouseFunction>();
    const routes = new Map<FunctionName, ReturnType<typeof functionRoutes>>();
    for (const name of functionNames.filter((one) => !isBehindQueues(one))) {
      const house = new HouseFunction(this, name, {
        ...granted(name, whole, {
          environment: {
            ...originEnvironment(stage),
            ...(permissions[name].botSecrets === 'opens' ? runBounds(stage) : {}),
            ...(name === 'login' ? { FAILED_ADDRESSES: String(stage.failedAddresses) } : {}),
          },
        }),
        ...apiFunctions[name],
        alarms,
        ...(name === 'site' ? { addFiles: addSite } : {}),
      });
      keysMade.goesBefore(house);
      if (name !== 'site') keepCallersLines(house, stage);
      if (name === 'account') watchLogs(house, 'UnaskedEmergency', [house], alarms);
      houses.set(name, house);
      routes.set(name, functionRoutes(house, api, name));
    }
    throttleRoutes(served, routes);
    const running = [...houses.values()].filter(({ folder }) => folder.startsWith('execute-'));
    watchLogs(this, 'LostRecords', [...running, jobs], alarms);
    const recording = [...houses.values()].filter(({ folder }) => folder !== 'site');
    watchLogs(this, 'LostAudit', [...recording, jobs], alarms);
    watchLogs(this, 'LostAccess', recording, alarms);
    if (webAclArn && domainName) {
      const { distributionDomainName: value } = new Front(this, stage, domainName, webAclArn);
      new CfnOutput(this, 'FrontName', { value });
    }
    if (domainName) {
      const description = 'The name of the API leads here, or with a firewall to FrontName';
      new CfnOutput(this, 'OriginName', { value: domainName.regionalDomainName, description });
    }
    new CfnOutput(this, 'AppUrl', { value: `${baseUrl}/app`, description: 'The administration app' });
    new CfnOutput(this, 'BaseUrl', { value: baseUrl, description: 'Where the API is reached' });
  }
}

/** What a Project may run at once, for functions that start runs: of jobs at most half of their share. */
export function runBounds({ projectRuns, accountConcurrency }: Stage): Record<string, string> {
  const jobs = reservedFor('jobs', accountConcurrency);
  const half =
    jobs === undefined ? undefined : Math.min(Math.floor(jobs / 2), settingDefaults.concurrentRuns);
  return {
    ...(projectRuns === undefined ? {} : { PROJECT_RUNS: String(projectRuns) }),
    ...(half === undefined ? {} : { STARTED_RUNS: String(half) }),
  };
}

/** What works with queues is made with them. */
export function isBehindQueues(name: FunctionName): boolean {
  return permissions[name].sendsTo !== undefined;
}
