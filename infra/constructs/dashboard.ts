import { Duration } from 'aws-cdk-lib';
import {
  Dashboard,
  GraphWidget,
  type IMetric,
  MathExpression,
  Metric,
  SingleValueWidget,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { Stage } from '../stage.ts';

/**
 * Answers "is it well?" in its first row, and where it is not in the others. It finds metrics by the stage's name, which
 * their functions and queues have in theirs, so no other stack has to export anything.
 */
export function stageDashboard(scope: Construct, stage: Stage, canary: IFunction): void {
  // Dashboards are the account's, of all its regions.
  const dashboardName = `portico-${stage.name}-${stage.region}`;
  const dashboard = new Dashboard(scope, 'Dashboard', { dashboardName });
  const found = finder(stage.name);
  const graph = (title: string, ...left: IMetric[]) => new GraphWidget({ title, left, width: 8, height: 6 });
  dashboard.addWidgets(
    new TextWidget({
      width: 24,
      height: 2,
      markdown:
        '**Is it well?** Yes, when the first row has zeros and the others are flat. What to do otherwise: docs/operate.md, ' +
        'under the name at the end of the alarm.',
    }),
  );
  dashboard.addWidgets(
    new SingleValueWidget({
      title: 'The last five minutes: 0, or small while there is work',
      width: 24,
      height: 3,
      metrics: [
        canary.metricErrors({ label: 'not reached from outside', period }),
        sum('functions failed', found.functions('Errors', 'Sum')),
        sum('functions refused', found.functions('Throttles', 'Sum')),
        sum('dead letters', found.deadLetters()),
        sum('minutes that the stream is behind', found.functions('IteratorAge', 'Maximum'), '/ 60000'),
        sum('seconds that messages wait', found.waiting()),
      ],
    }),
  );
  dashboard.addWidgets(
    graph('Latency by function, ms, 99 %', found.own('Latency', 'p99')),
    graph('Bots: time in the isolate, ms, 99 %', found.stage('IsolateTime', 'p99')),
    graph('Cold starts', found.stage('ColdStarts', 'Sum')),
  );
  dashboard.addWidgets(
    graph(
      `Executions at once, of ${stage.accountConcurrency}`,
      found.functions('ConcurrentExecutions', 'Maximum'),
    ),
    graph('Age of messages when taken, ms', found.own('QueueAge', 'Maximum')),
    graph('What logs say is lost or late', found.logged()),
  );
}

const period = Duration.minutes(5);

/** Searches for metrics whose names hold the stage's; CloudWatch shows a line for each. */
function finder(stage: string) {
  const search = (schema: string, words: string, statistic: string) =>
    new MathExpression({
      expression: `SEARCH('{${schema}} ${words}', '${statistic}', 300)`,
      usingMetrics: {},
      label: '',
      period,
    });
  const named = `"portico-${stage}"`;
  const queues = (metric: string, words: string) =>
    search('AWS/SQS,QueueName', `MetricName="${metric}" ${named} ${words}`, 'Maximum');
  return {
    functions: (metric: string, statistic: string) =>
      search('AWS/Lambda,FunctionName', `MetricName="${metric}" ${named}`, statistic),
    waiting: () => queues('ApproximateAgeOfOldestMessage', 'NOT DeadLetters'),
    deadLetters: () => queues('ApproximateNumberOfMessagesVisible', 'DeadLetters'),
    own: (metric: string, statistic: string) =>
      search(`Portico/${stage},Function`, `MetricName="${metric}"`, statistic),
    stage: (metricName: string, statistic: string) =>
      new Metric({ namespace: `Portico/${stage}`, metricName, statistic, period }),
    logged: () => search('Portico', named, 'Sum'),
  };
}

/** One number of all that a search finds; 0 when it finds nothing. */
function sum(label: string, found: MathExpression, factor = ''): MathExpression {
  return new MathExpression({
    expression: `SUM(${found.expression})${factor === '' ? '' : ` ${factor}`}`,
    usingMetrics: {},
    label,
    period,
  });
}
