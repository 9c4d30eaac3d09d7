import { dirname, join } from 'node:path';
import { AssetHashType, Aws, DockerImage, Duration, Validations } from 'aws-cdk-lib';
import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  type CfnFunction,
  Code,
  type FunctionOptions,
  Function as LambdaFunction,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { CfnSubscriptionFilter, FilterPattern } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct, type IConstruct } from 'constructs';
import { accessMessage } from '../../shared/base/log.ts';
import { isKeyOf } from '../../shared/base/values.ts';
import { functionShares, reservedFor } from '../../shared/carry/shares.ts';
import { bundleFunction, runBuild, sourceOf } from '../bundle.ts';
import { apiFunctions } from '../deployed-functions.ts';
import { functionNameOf, type Retention, type Stage } from '../stage.ts';
import { alarmPeriod, ImpactAlarm } from './alarms.ts';
import { functionFindings } from './findings.ts';
import { KeptLogs } from './logs.ts';

export interface HouseFunctionProps {
  /** Under functions/; its handler.ts is the entry. */
  folder: string;
  description: string;
  timeoutSeconds: number;
  /** MiB, 1024 when left out; one vCPU is 1769. */
  memoryMb?: number;
  environment?: Record<string, string>;
  /** All that the function may do beside writing its own log. */
  statements?: readonly PolicyStatement[];
  /** What people notice when it fails. */
  impact: string;
  /** The entry of docs/operate.md that its failing leads to; `function-failing` when left out. */
  runbook?: string;
  alarms: ITopic;
  /** The kind of its log; `functions` when left out. */
  keptAs?: keyof Retention;
  /** What is Lambda's own to know: a name where it is invoked by one, another processor, a VPC. */
  own?: FunctionOptions;
  /** Puts files that are not bundled into the asset. */
  addFiles?: (assetDir: string) => void;
}

/** A Lambda function of this house: bundled, with a role, a log group and an alarm of its own. */
export class HouseFunction extends Construct {
  /** Under functions/. */
  readonly folder: string;
  readonly usesTable: boolean;
  readonly lambda: LambdaFunction;
  readonly role: Role;
  readonly logGroup: KeptLogs;

  constructor(scope: Construct, id: string, props: HouseFunctionProps) {
    super(scope, id);
    this.folder = props.folder;
    this.usesTable = props.environment?.TABLE_NAME !== undefined;
    this.logGroup = new KeptLogs(this, 'Log', props.keptAs);
    // An explicit role gets no managed policy: CDK's own would let it write to every log group.
    this.role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      description: `${props.folder}: ${props.description}`,
    });
    this.logGroup.grantWrite(this.role);
    for (const statement of props.statements ?? []) this.role.addToPrincipalPolicy(statement);
    this.lambda = new LambdaFunction(this, 'Function', {
      // Bundled while the app is synthesised, without Docker. NodejsFunction would write one file, parsed whole at every
      // cold start.
      code: Code.fromAsset(sourceOf(props.folder), {
        assetHashType: AssetHashType.OUTPUT,
        bundling: {
          image: DockerImage.fromRegistry('unused'),
          local: {
            tryBundle(assetDir) {
              // The maps lie beside all assets of the synthesised app.
              bundleFunction(props.folder, assetDir, join(dirname(assetDir), 'maps', props.folder));
              props.addFiles?.(assetDir);
              return true;
            },
          },
        },
      }),
      handler: 'index.handler',
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      timeout: Duration.seconds(props.timeoutSeconds),
      memorySize: props.memoryMb ?? 1024,
      role: this.role,
      logGroup: this.logGroup,
      ...(props.environment ? { environment: props.environment } : {}),
      ...props.own,
    });
    new ImpactAlarm(this, 'Failing', {
      metric: new MathExpression({
        // Errors are counted with invocations: a function that is only throttled has none.
        expression: 'FILL(errors, 0) + FILL(throttles, 0)',
        usingMetrics: { errors: this.lambda.metricErrors(), throttles: this.lambda.metricThrottles() },
        period: alarmPeriod,
      }),
      impact: props.impact,
      runbook: props.runbook ?? 'function-failing',
      topic: props.alarms,
    });
    Validations.of(this).acknowledge(...functionFindings);
  }
}

/** The lines of a function of the API: with the addresses of its callers, if the stage has a key for them. */
export function keepCallersLines(house: HouseFunction, stage: Stage): void {
  if (stage.sourceKey !== undefined) house.lambda.addEnvironment('SOURCE_KEY', stage.sourceKey);
  house.lambda.addEnvironment('TRUSTED_HOPS', String(stage.trustedHops));
  keepAccessLines(house, stage);
}

/** Brings the lines of the access log from a function's log to where they are kept. */
export function keepAccessLines(house: HouseFunction, stage: Stage): void {
  new CfnSubscriptionFilter(house, 'Access', {
    logGroupName: house.logGroup.logGroupName,
    filterPattern: FilterPattern.stringValue('$.message', '=', accessMessage).logPatternString,
    // By its name, so that no stack exports it.
    destinationArn: `arn:${Aws.PARTITION}:lambda:${Aws.REGION}:${Aws.ACCOUNT_ID}:function:${functionNameOf(stage, 'access-records')}`,
  });
}

/** Puts the administration app into an asset. */
export const addSite = (assetDir: string) => runBuild('infra/site/build.ts', join(assetDir, 'site'));

/**
 * Gives every function its share of the account's concurrency, where there is enough of it, and tells those of the API
 * what Projects and sources may have of it. With `metrics`, functions that work on the table count figures under the
 * stage's name and theirs. With `tracing` X-Ray follows requests through the functions.
 */
export function tuneFunctions(app: IConstruct, stage: Stage): void {
  const { accountConcurrency, projectShare, sourceShare } = stage;
  for (const house of app.node.findAll().filter((one) => one instanceof HouseFunction)) {
    const { folder, lambda, usesTable } = house;
    const defaultChild = lambda.node.defaultChild as CfnFunction;
    if (stage.metrics && usesTable) lambda.addEnvironment('METRICS', `${stage.name}/${folder}`);
    // Whoever ran code in an invoker could write traces.
    if (stage.tracing && folder !== 'invoker') trace(house, defaultChild);
    const reserved = reservedFor(folder, accountConcurrency);
    if (reserved !== undefined) defaultChild.reservedConcurrentExecutions = reserved;
    if (!isKeyOf(functionShares, folder) || !isKeyOf(apiFunctions, folder)) continue;
    lambda.addEnvironment('ACCOUNT_CONCURRENCY', String(accountConcurrency));
    if (projectShare !== undefined) lambda.addEnvironment('PROJECT_SHARE', String(projectShare));
    if (sourceShare !== undefined) lambda.addEnvironment('SOURCE_SHARE', String(sourceShare));
  }
}

/** X-Ray has no resource to name, so the role is given its two actions on all there is. */
function trace({ role }: HouseFunction, lambda: CfnFunction): void {
  lambda.tracingConfig = { mode: 'Active' };
  const actions = ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'];
  role.addToPrincipalPolicy(new PolicyStatement({ actions, resources: ['*'] }));
  Validations.of(role).acknowledge({
    id: 'AwsSolutions-IAM5[Resource::*]',
    reason: 'X-Ray’s actions for writing name no resource.',
  });
}
