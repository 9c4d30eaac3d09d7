import type { Resource } from '../../test/infra/stage-templates.ts';
import type { Line } from './line.ts';
import { hoursOfMonth, prices } from './prices.ts';

const minutesOfMonth = hoursOfMonth * 60;
/** Lambda asks an idle queue by five long polls of twenty seconds at once. */
const pollsOfQueue = (minutesOfMonth * 60 * 5) / 20;
/** Of a function that finds nothing to do. */
const idleRunSeconds = 0.05;
const idleRunGb = 0.5;

/** What the resources of a stage cost in a month in which nobody calls it. */
export function idleLines(resources: readonly Resource[]): Line[] {
  const ofType = (type: string) => resources.filter(({ Type }) => Type === type);
  const keys = ofType('AWS::KMS::Key').length;
  const alarmMetrics = ofType('AWS::CloudWatch::Alarm').reduce((sum, alarm) => sum + metricsOf(alarm), 0);
  const logMetrics = new Set(ofType('AWS::Logs::MetricFilter').map(metricOfFilter)).size;
  const queues = ofType('AWS::Lambda::EventSourceMapping').filter(isOfQueue).length;
  const dashboards = ofType('AWS::CloudWatch::Dashboard').length;
  const runs = ofType('AWS::Events::Rule').reduce((sum, rule) => sum + runsOfMonth(rule), 0);
  const run = prices.lambdaRequest + idleRunSeconds * idleRunGb * prices.lambdaGbSecond;
  return [
    { what: `${keys} KMS keys`, usd: keys * prices.keyMonth },
    { what: `${alarmMetrics} metrics that alarms watch`, usd: alarmMetrics * prices.alarmMetricMonth },
    { what: `${logMetrics} metrics made from logs`, usd: logMetrics * prices.customMetricMonth },
    { what: `${dashboards} dashboard`, usd: dashboards * prices.dashboardMonth },
    { what: `${queues} queues that Lambda polls`, usd: queues * pollsOfQueue * prices.queueRequest },
    { what: `${runs} runs by schedules`, usd: runs * run },
  ];
}

/** AWS charges for each metric of an alarm, and for one where it names none in particular. */
function metricsOf({ Properties }: Resource): number {
  const metrics = Array.isArray(Properties.Metrics) ? Properties.Metrics : [];
  return Math.max(1, metrics.filter((metric: { MetricStat?: unknown }) => metric.MetricStat).length);
}

/** Several log groups may count into one metric. */
function metricOfFilter({ Properties }: Resource): string {
  return JSON.stringify(Properties.MetricTransformations);
}

function isOfQueue({ Properties }: Resource): boolean {
  return JSON.stringify(Properties.EventSourceArn).includes('Fn::GetAtt');
}

function runsOfMonth({ Properties }: Resource): number {
  const [, minutes] = /^rate\((\d+) minutes?\)$/.exec(String(Properties.ScheduleExpression)) ?? [];
  return minutes === undefined ? 0 : minutesOfMonth / Number(minutes);
}
