import { Stack, type StackProps } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { LockedInvoker } from '../constructs/locked-invoker.ts';

interface SandboxStackProps extends StackProps {
  alarms: ITopic;
}

/** Where customers' code runs: a stack of its own, so that nothing else can slip into its role. */
export class SandboxStack extends Stack {
  readonly invoker: IFunction;
  readonly longInvoker: IFunction;
  readonly evaluator: IFunction;

  constructor(scope: Construct, id: string, { alarms, ...props }: SandboxStackProps) {
    super(scope, id, props);
    this.invoker = new LockedInvoker(this, 'Invoker', { alarms }).lambda;
    this.longInvoker = new LockedInvoker(this, 'LongInvoker', { alarms, use: 'jobs' }).lambda;
    this.evaluator = new LockedInvoker(this, 'Evaluator', { alarms, use: 'expressions' }).lambda;
  }
}
