import { Duration, Validations } from 'aws-cdk-lib';
import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  type FunctionOptions,
  Function as LambdaFunction,
  Runtime,
  type TenancyConfig,
} from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { RunbookEntry } from '../running/runbook.ts';
import type { Retention } from '../stage.ts';
import { bundledCode } from './bundled-code.ts';
import { functionFindings } from './findings.ts';
import { alarmPeriod, ImpactAlarm } from './impact-alarm.ts';
import { KeptLogs } from './kept-logs.ts';

export interface HouseFunctionProps {
  /** Under functions/; its handler.ts is the entry. */
  folder: string;
  description: string;
  /** For what people invoke by name; CloudFormation names the others. */
  functionName?: string;
  timeoutSeconds: number;
  /** MiB; one vCPU is 1769. */
  memoryMb: number;
  environment?: Record<string, string>;
  /** All that the function may do beside writing its own log. */
  statements?: readonly PolicyStatement[];
  /** What people notice when it fails. */
  impact: string;
  /** The entry of docs/operate.md that its failing leads to; `function-failing` when left out. */
  runbook?: RunbookEntry;
  alarms: ITopic;
  architecture?: Architecture;
  tenancyConfig?: TenancyConfig;
  /** The kind of its log; `functions` when left out. */
  keptAs?: keyof Retention;
  logging?: Pick<FunctionOptions, 'loggingFormat' | 'systemLogLevelV2'>;
  /** Where it runs in a VPC; most run in none. */
  network?: Pick<FunctionOptions, 'vpc' | 'vpcSubnets' | 'securityGroups'>;
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
      code: bundledCode(props.folder, props.addFiles),
      handler: 'index.handler',
      description: props.description,
      ...(props.functionName ? { functionName: props.functionName } : {}),
      runtime: Runtime.NODEJS_24_X,
      architecture: props.architecture ?? Architecture.ARM_64,
      timeout: Duration.seconds(props.timeoutSeconds),
      memorySize: props.memoryMb,
      role: this.role,
      logGroup: this.logGroup,
      ...props.logging,
      ...props.network,
      ...(props.environment ? { environment: props.environment } : {}),
      ...(props.tenancyConfig ? { tenancyConfig: props.tenancyConfig } : {}),
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
