import { Duration, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { scheduleFindings } from '../constructs/findings.ts';
import type { Grounded } from '../constructs/grants.ts';
import type { Stage } from '../stage.ts';

/** What the stacks of a stage are made with. */
export interface StageParts {
  stage: Stage;
  alarms: ITopic;
}

/** And those with functions that work on something. */
export type GroundedParts = StageParts & Grounded;

/** A stack of a stage, named by both; in the stage's region unless another is said. */
export class StageStack extends Stack {
  constructor(app: Construct, stage: Stage, part: string, more: StackProps = {}) {
    super(app, `portico-${stage.name}-${part}`, { env: { region: stage.region }, ...more });
  }
}

/** Has a function invoked every so many minutes; what fails is not repeated, the next time comes. */
export function onSchedule(
  scope: Construct,
  id: string,
  description: string,
  minutes: number,
  lambda: IFunction,
): void {
  const rule = new Rule(scope, id, {
    description,
    schedule: Schedule.rate(Duration.minutes(minutes)),
    targets: [new LambdaFunction(lambda, { retryAttempts: 0 })],
  });
  Validations.of(rule).acknowledge(...scheduleFindings);
}
