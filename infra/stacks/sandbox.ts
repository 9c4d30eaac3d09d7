import { Stack, type StackProps } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { LockedInvoker } from '../constructs/locked-invoker.ts';
import type { InvokerNetwork } from '../network/invoker-network.ts';

interface SandboxStackProps extends StackProps {
  alarms: ITopic;
  /** Where egress is filtered. */
  network?: InvokerNetwork | undefined;
}

/** Where customers' code runs: a stack of its own, so that nothing else can slip into its role. */
export class SandboxStack extends Stack {
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
