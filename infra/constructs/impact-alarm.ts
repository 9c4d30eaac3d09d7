import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';

interface ImpactAlarmProps {
  metric: IMetric;
  /** What people notice and what to do, in plain words: it is all that the woken person reads first. */
  impact: string;
  /** Goes off at this value and above; 1 when left out. */
  threshold?: number;
  topic: ITopic;
}

/** Every alarm says what its going off means to people. */
export class ImpactAlarm extends Construct {
  constructor(scope: Construct, id: string, { metric, impact, threshold = 1, topic }: ImpactAlarmProps) {
    super(scope, id);
    new Alarm(this, 'Alarm', {
      metric,
      alarmDescription: impact,
      threshold,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    }).addAlarmAction(new SnsAction(topic));
  }
}

/** Metrics are summed over this time. */
export const alarmPeriod = Duration.minutes(5);
