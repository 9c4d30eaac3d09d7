import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { HouseFunction } from './house-function.ts';
import { LogAlarm } from './log-alarm.ts';

/** Watches for entries of the audit trail that could not be written beside an answer that stands. */
export function watchAudit(scope: Construct, functions: readonly HouseFunction[], alarms: ITopic): void {
  new LogAlarm(scope, 'LostAudit', {
    logGroups: functions.map(({ logGroup }) => logGroup),
    message: 'audit entry lost',
    impact:
      'Something was done or refused, and answered, but its audit entry is missing. The log entries ' +
      '`audit entry lost` say which: keep them.',
    runbook: 'audit-entry-lost',
    atOnce: true,
    alarms,
  });
}

/** Watches for execution records that could not be written after a run. */
export function watchRecords(scope: Construct, functions: readonly HouseFunction[], alarms: ITopic): void {
  new LogAlarm(scope, 'LostRecords', {
    logGroups: functions.map(({ logGroup }) => logGroup),
    message: 'execution record lost',
    impact:
      'Bots ran and answered, but their execution records are missing from the audit trail. The log entries ' +
      '`execution record lost` say which: keep them.',
    runbook: 'execution-record-lost',
    atOnce: true,
    alarms,
  });
}

/** Watches for lines of the access log that could not be written beside an answer that stands. */
export function watchAccess(scope: Construct, functions: readonly HouseFunction[], alarms: ITopic): void {
  new LogAlarm(scope, 'LostAccess', {
    logGroups: functions.map(({ logGroup }) => logGroup),
    message: 'access record lost',
    impact:
      'Callers were answered, but who they were and what they were shown is missing from the access records. The log ' +
      'entries `access record lost` have the trace ids: keep them.',
    runbook: 'access-record-lost',
    atOnce: true,
    alarms,
  });
}
