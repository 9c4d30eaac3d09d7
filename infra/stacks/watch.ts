import { Duration, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { scheduleFindings } from '../constructs/findings.ts';
import { HouseFunction } from '../constructs/house-function.ts';
import { stageDashboard } from '../running/dashboard.ts';
import type { Stage } from '../stage.ts';
import { timeoutSeconds } from '../timeouts.ts';

interface WatchStackProps extends StackProps {
  stage: Stage;
  baseUrl: string;
  alarms: ITopic;
}

/** Whether it is well: a dashboard, and a function that calls the API from outside. Nothing needs it. */
export class WatchStack extends Stack {
  constructor(scope: Construct, id: string, { stage, baseUrl, alarms, ...props }: WatchStackProps) {
    super(scope, id, props);
    const { lambda } = new HouseFunction(this, 'Canary', {
      folder: 'canary',
      description: 'Calls the API from outside, as its callers do',
      timeoutSeconds: timeoutSeconds.canary,
      memoryMb: 256,
      environment: { BASE_URL: baseUrl },
      impact: 'The API does not answer from outside, or not as it should: nobody may reach it.',
      runbook: 'canary',
      alarms,
    });
    const rule = new Rule(this, 'Look', {
      description: 'The API is called from outside',
      schedule: Schedule.rate(Duration.minutes(5)),
      targets: [new LambdaFunction(lambda, { retryAttempts: 0 })],
    });
    Validations.of(rule).acknowledge(...scheduleFindings);
    stageDashboard(this, { stage, canary: lambda });
  }
}
