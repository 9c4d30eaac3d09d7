import { Duration, Validations } from 'aws-cdk-lib';
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from 'aws-cdk-lib/aws-backup';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import {
  AttributeType,
  Billing,
  type ITableV2,
  StreamViewType,
  TableEncryptionV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import { Key, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { Stage } from '../stage.ts';
import { tableDefinition } from '../table-definition.ts';
import { alarmPeriod, ImpactAlarm } from './alarms.ts';

/** A table as functions reach it. */
export type StageTable = Pick<ITableV2, 'tableName' | 'tableArn'> & { tableStreamArn?: string | undefined };

/** The single table: on-demand, encrypted with a key of the account's own, hard to lose. */
export class PorticoTable extends Construct {
  /** The table that the stage works on: the one made here, or one that was restored. */
  readonly table: StageTable;
  readonly key: Key;

  constructor(scope: Construct, id: string, stage: Stage) {
    super(scope, id);
    this.key = new Key(this, 'Key', {
      description: `Portico ${stage.name}: everything at rest in the table`,
      enableKeyRotation: true,
    });
    const made = new TableV2(this, 'Table', {
      partitionKey: { name: tableDefinition.partitionKey.name, type: AttributeType.STRING },
      sortKey: { name: tableDefinition.sortKey.name, type: AttributeType.STRING },
      billing: Billing.onDemand(),
      dynamoStream: StreamViewType[tableDefinition.stream],
      timeToLiveAttribute: tableDefinition.ttlAttribute,
      encryption: TableEncryptionV2.customerManagedKey(this.key),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: stage.deletionProtection,
    });
    const { restoredTable } = stage;
    this.table =
      restoredTable === undefined
        ? made
        : TableV2.fromTableAttributes(this, 'Restored', {
            tableArn: restoredTable.replace(/\/stream\/.*$/, ''),
            tableStreamArn: restoredTable,
            encryptionKey: this.key,
          });
    if (stage.backup) this.#backUp(stage.name, stage.backup);
    // Stacks that change to another table import these until they have changed.
    const { stack } = made;
    for (const value of [made.tableName, made.tableArn, made.tableStreamArn]) stack.exportValue(value);
  }

  /** A copy a day, in a vault under the table's key. */
  #backUp(stage: string, { keepDays }: NonNullable<Stage['backup']>): void {
    const vault = new BackupVault(this, 'Vault', { encryptionKey: this.key });
    const plan = new BackupPlan(this, 'Backup', {
      backupPlanName: `portico-${stage}`,
      backupVault: vault,
      backupPlanRules: [new BackupPlanRule({ ruleName: 'Daily', deleteAfter: Duration.days(keepDays) })],
    });
    const selection = plan.addSelection('Table', {
      resources: [BackupResource.fromArn(this.table.tableArn)],
    });
    Validations.of(selection).acknowledge({
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup]',
      reason:
        'Only AWS Backup takes this role, with the policy that AWS keeps for it; the plan selects one table.',
    });
  }

  /** Keys that get more than a partition bears, for ten minutes. */
  watchThrottles(topic: ITopic): void {
    const events = (kind: 'Read' | 'Write') =>
      new Metric({
        namespace: 'AWS/DynamoDB',
        metricName: `${kind}ThrottleEvents`,
        dimensionsMap: { TableName: this.table.tableName },
        statistic: 'Sum',
      });
    new ImpactAlarm(this, 'Throttled', {
      metric: new MathExpression({
        expression: 'FILL(reads, 0) + FILL(writes, 0)',
        usingMetrics: { reads: events('Read'), writes: events('Write') },
        period: alarmPeriod,
      }),
      impact: 'The table refuses requests for minutes: callers wait for repeats, and some get 503.',
      runbook: 'table-throttled',
      threshold: 10,
      topic,
    });
  }
}

/** The keys of a stage that shared/composition/stage-keys.ts opens: neither ever leaves KMS. */
export class KmsKeys extends Construct {
  /** RS256 for access tokens. KMS rotates no asymmetric keys: `signingKeys` of the stage does. */
  readonly signing: Key;
  /** Published, and signing nothing: the next one, or the one before. */
  readonly published: readonly Key[];
  /** Wraps the stage's secret keys, each for its purpose, which lie wrapped in the table. */
  readonly wrapping: Key;

  constructor(scope: Construct, id: string, stage: Stage) {
    super(scope, id);
    // Those that were retired too, so that no stack gives up what another one imports.
    const made = Array.from({ length: Math.max(...stage.signingKeys) }, (_, i) => {
      const key = new Key(this, i === 0 ? 'Signing' : `Signing${i + 1}`, {
        description: `Portico ${stage.name}: signs access tokens`,
        keySpec: KeySpec.RSA_2048,
        keyUsage: KeyUsage.SIGN_VERIFY,
      });
      key.stack.exportValue(key.keyArn);
      return key;
    });
    const [signing, ...published] = stage.signingKeys.flatMap((number) => made[number - 1] ?? []);
    if (!signing) throw new Error('No key signs');
    this.signing = signing;
    this.published = published;
    this.wrapping = new Key(this, 'Wrapping', {
      description: `Portico ${stage.name}: wraps the secret keys of the stage`,
      enableKeyRotation: true,
    });
  }

  /** What the environment variable KEYS says of them. */
  get specification(): string {
    return `kms:${[this.signing, this.wrapping, ...this.published].map((key) => key.keyArn).join()}`;
  }
}
