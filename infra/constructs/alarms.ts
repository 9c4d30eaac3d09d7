import { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { FilterPattern } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { Stage } from '../stage.ts';
import type { KeptLogs } from './logs.ts';

interface ImpactAlarmProps {
  metric: IMetric;
  /** What people notice and what to do, in plain words: it is all that the woken person reads first. */
  impact: string;
  /** The entry of docs/operate.md that says what to do. */
  runbook: string;
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

/** What a log entry with exactly this message means to people. */
type WatchedEntry = { message: string } & Pick<ImpactAlarmProps, 'impact' | 'runbook' | 'atOnce'>;

/** What functions survive and only their logs know, by the name of its alarm. */
const watchedEntries = {
  // LostAudit, LostRecords and LostAccess: the answer beside which it was written stands.
  LostAudit: {
    message: 'audit entry lost',
    impact:
      'Something was done or refused, and answered, but its audit entry is missing. The log entries ' +
      '`audit entry lost` say which: keep them.',
    runbook: 'audit-entry-lost',
    atOnce: true,
  },
  LostRecords: {
    message: 'execution record lost',
    impact:
      'Bots ran and answered, but their execution records are missing from the audit trail. The log entries ' +
      '`execution record lost` say which: keep them.',
    runbook: 'execution-record-lost',
    atOnce: true,
  },
  LostAccess: {
    message: 'access record lost',
    impact:
      'Callers were answered, but who they were and what they were shown is missing from the access records. The log ' +
      'entries `access record lost` have the trace ids: keep them.',
    runbook: 'access-record-lost',
    atOnce: true,
  },
  // Emergency access that was given to a session alone, because an issuer did not answer.
  UnaskedEmergency: {
    message: 'emergency access without a sign-in',
    impact:
      'Somebody took emergency access while the issuer that they sign in with did not answer, so they were not asked ' +
      'to sign in again. The administrators of their Project were told by mail.',
    runbook: 'emergency-unasked',
    atOnce: true,
  },
  NotStarted: {
    message: 'sandbox not started',
    impact:
      'No Bot runs: the process that they run in does not come up, and callers get 503. The log entry holds what ' +
      "the loader said: usually a library that the runtime's image has lost, see docs/deploy.md.",
    runbook: 'sandbox-not-started',
  },
  Late: {
    message: 'schedule late',
    impact: 'Bots with a schedule were run more than five minutes late. Look at the errors of the function.',
    runbook: 'schedules-late',
  },
  Unsent: {
    message: 'mail not sent',
    impact:
      'The mail service refused invitations: those people wait. Every ten minutes they are tried again. ' +
      'Look whether SES has verified the sender and left its sandbox.',
    runbook: 'mail-not-sent',
  },
  UnreadSubscriptions: {
    message: 'subscription not read',
    impact:
      'A stored Subscription cannot be read by this release: changes are not told to its receiver, and those of ' +
      'this time never will be by themselves.',
    runbook: 'subscription-not-read',
    atOnce: true,
  },
  Unswept: {
    message: 'cut-off write not swept',
    impact: 'Writes that were cut off have left items behind, which lead nowhere. Nobody sees them.',
    runbook: 'leftovers-not-swept',
  },
} as const satisfies Record<string, WatchedEntry>;

/** Watches the logs of functions for an entry. */
export function watchLogs(
  scope: Construct,
  id: keyof typeof watchedEntries,
  functions: readonly { readonly logGroup: KeptLogs }[],
  topic: ITopic,
): void {
  const { message, ...meant }: WatchedEntry = watchedEntries[id];
  const own = new Construct(scope, id);
  const name = { metricNamespace: 'Portico', metricName: own.node.path };
  for (const { logGroup } of functions) {
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
  new ImpactAlarm(own, 'Alarm', { metric, ...meant, topic });
}

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
