import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type LogGroup } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { RunbookEntry } from '../running/runbook.ts';
import { alarmPeriod, ImpactAlarm } from './impact-alarm.ts';

interface LogAlarmProps {
  logGroups: readonly LogGroup[];
  /** The `message` of the log entry that means it, exactly. */
  message: string;
  impact: string;
  runbook: RunbookEntry;
  /** One entry is enough. */
  atOnce?: true;
  alarms: ITopic;
}

/** For what functions survive and only their logs know. */
export class LogAlarm extends Construct {
  constructor(scope: Construct, id: string, { logGroups, message, alarms, ...said }: LogAlarmProps) {
    super(scope, id);
    const name = { metricNamespace: 'Portico', metricName: this.node.path };
    for (const logGroup of logGroups) {
      logGroup.addMetricFilter(`${id}Filter`, {
        filterPattern: FilterPattern.stringValue('$.message', '=', message),
        ...name,
        metricValue: '1',
      });
    }
    const metric = new Metric({
      namespace: name.metricNamespace,
      metricName: name.metricName,
      statistic: 'Sum',
      period: alarmPeriod,
    });
    new ImpactAlarm(this, 'Alarm', { metric, ...said, topic: alarms });
  }
}
