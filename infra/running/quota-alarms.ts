import { Duration } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { alarmPeriod, ImpactAlarm } from '../constructs/impact-alarm.ts';
import type { Stage } from '../stage.ts';

/** Of the account's concurrency: at four fifths there is time to ask for more. */
export function watchConcurrency(
  scope: Construct,
  { accountConcurrency }: Pick<Stage, 'accountConcurrency'>,
  topic: ITopic,
): void {
  new ImpactAlarm(scope, 'Concurrency', {
    metric: new Metric({
      namespace: 'AWS/Lambda',
      metricName: 'ClaimedAccountConcurrency',
      statistic: 'Maximum',
      period: alarmPeriod,
    }),
    threshold: Math.floor(accountConcurrency * 0.8),
    impact:
      'Four fifths of the executions that the account may have at once are taken, shares included: beyond all of ' +
      'them callers get 429 and 503.',
    runbook: 'concurrency-used-up',
    topic,
  });
}

/** ACM renews a certificate 60 days before its end, if it can. */
export function watchCertificate(scope: Construct, certificateArn: string, topic: ITopic): void {
  new ImpactAlarm(scope, 'Expiry', {
    metric: new Metric({
      namespace: 'AWS/CertificateManager',
      metricName: 'DaysToExpiry',
      dimensionsMap: { CertificateArn: certificateArn },
      statistic: 'Minimum',
      period: Duration.days(1),
    }),
    threshold: 30,
    isFloor: true,
    atOnce: true,
    impact: 'The certificate of the API ends in 30 days and was not renewed: after that nobody reaches it.',
    runbook: 'certificate-expires',
    topic,
  });
}
