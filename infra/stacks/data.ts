import { Stack, type StackProps } from 'aws-cdk-lib';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { alarmTopic } from '../constructs/alarm-topic.ts';
import { LogsKey } from '../constructs/logs-key.ts';
import { PorticoTable } from '../constructs/portico-table.ts';
import { StageKeys } from '../constructs/stage-keys.ts';
import { makeOriginSecrets } from '../edge/origin-secrets.ts';
import { watchConcurrency } from '../running/quota-alarms.ts';
import type { Stage } from '../stage.ts';

interface DataStackProps extends StackProps {
  stage: Stage;
}

/** What outlives every release: the table, the keys, the place where alarms go. */
export class DataStack extends Stack {
  readonly table: PorticoTable;
  readonly keys: StageKeys;
  readonly alarms: ITopic;
  readonly logsKey: LogsKey;

  constructor(scope: Construct, id: string, { stage, ...props }: DataStackProps) {
    super(scope, id, props);
    this.table = new PorticoTable(this, 'Table', stage);
    this.keys = new StageKeys(this, 'Keys', stage);
    this.logsKey = new LogsKey(this, 'Logs', stage);
    this.alarms = alarmTopic(this, { stage, key: this.logsKey });
    this.table.watchThrottles(this.alarms);
    watchConcurrency(this, stage, this.alarms);
    makeOriginSecrets(this, stage);
  }
}
