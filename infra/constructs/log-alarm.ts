import { FilterPattern, type LogGroup } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { alarmPeriod, ImpactAlarm } from './impact-alarm.ts';

interface LogAlarmProps {
  logGroup: LogGroup;
  /** The `message` of the log entry that means it, exactly. */
  message: string;
  impact: string;
  alarms: ITopic;
}

/** For what a function survives and only its log knows. */
export class LogAlarm extends Construct {
  constructor(scope: Construct, id: string, { logGroup, message, impact, alarms }: LogAlarmProps) {
    super(scope, id);
    const entries = logGroup.addMetricFilter(`${id}Filter`, {
      filterPattern: FilterPattern.stringValue('$.message', '=', message),
      metricNamespace: 'Portico',
      metricName: this.node.path,
      metricValue: '1',
    });
    new ImpactAlarm(this, 'Alarm', {
      metric: entries.metric({ statistic: 'Sum', period: alarmPeriod }),
      impact,
      topic: alarms,
    });
  }
}
