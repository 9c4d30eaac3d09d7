import { AttributeType, Billing, StreamViewType, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { Stage } from '../stage.ts';
import { tableDefinition } from '../table-definition.ts';

/** The single table: on-demand, encrypted with a key of the account's own, hard to lose. */
export class PorticoTable extends Construct {
  readonly table: TableV2;
  readonly key: Key;

  constructor(scope: Construct, id: string, stage: Stage) {
    super(scope, id);
    this.key = new Key(this, 'Key', {
      description: `Portico ${stage.name}: everything at rest in the table`,
      enableKeyRotation: true,
    });
    this.table = new TableV2(this, 'Table', {
      partitionKey: { name: tableDefinition.partitionKey.name, type: AttributeType.STRING },
      sortKey: { name: tableDefinition.sortKey.name, type: AttributeType.STRING },
      billing: Billing.onDemand(),
      dynamoStream: StreamViewType[tableDefinition.stream],
      timeToLiveAttribute: tableDefinition.ttlAttribute,
      encryption: TableEncryptionV2.customerManagedKey(this.key),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: stage.removalPolicy === 'retain',
    });
  }
}
