import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { RunbookEntry } from '../running/runbook.ts';

interface ImpactAlarmProps {
  metric: IMetric;
  /** What people notice and what to do, in plain words: it is all that the woken person reads first. */
  impact: string;
  /** The entry of docs/operate.md that says what to do. */
  runbook: RunbookEntry;
  /** Goes off at this value and above; 1 when left out. */
  threshold?: number;
  /** Goes off at the threshold and below. */
  isFloor?: true;
  /**
   * One period is enough: something is lost, or the period is a day. All others need two of three: what is tried every
   * ten minutes can fail in every other period only.
   */
  atOnce?: true;
  topic: ITopic;
}

/** Every alarm says what its going off means to people. */
export class ImpactAlarm extends Construct {
  constructor(scope: Construct, id: string, props: ImpactAlarmProps) {
    super(scope, id);
    const { metric, impact, runbook, threshold = 1, isFloor, atOnce, topic } = props;
    const [bad, looked] = atOnce ? [1, 1] : [2, 3];
    new Alarm(this, 'Alarm', {
      metric,
      alarmDescription: `${impact} What to do: docs/operate.md#${runbook}.`,
      threshold,
      evaluationPeriods: looked,
      datapointsToAlarm: bad,
      comparisonOperator: isFloor
        ? ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    }).addAlarmAction(new SnsAction(topic));
  }
}

/** Metrics are summed over this time. */
export const alarmPeriod = Duration.minutes(5);
