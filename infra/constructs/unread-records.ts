import { Aws, Duration, Stack, Validations } from 'aws-cdk-lib';
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IEventSourceDlq } from 'aws-cdk-lib/aws-lambda';
import { BlockPublicAccess, Bucket, BucketEncryption, type CfnBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';

const logged =
  'Only the dispatcher writes here and only an operator reads. A trail with data events, which docs/hipaa.md asks ' +
  'for, has both.';
const copied =
  'The table is what is kept and restored. This holds, for 14 days, what could not be handed on.';

const bucketFindings = [
  { id: 'AwsSolutions-S1', reason: logged },
  ...['HIPAA.Security', 'NIST.800.53.R5'].flatMap((pack) => [
    { id: `${pack}-S3BucketLoggingEnabled`, reason: logged },
    { id: `${pack}-S3BucketReplicationEnabled`, reason: copied },
    { id: `${pack}-S3BucketVersioningEnabled`, reason: `${copied} Each object is written once.` },
  ]),
];

/**
 * Where records of the stream go that could not be handed on, with all that they hold: the stream itself
 * forgets them after a day. They are health data, so they are kept as the table is, and not for long.
 */
export class UnreadRecords extends Construct implements IEventSourceDlq {
  readonly #bucket: Bucket;
  readonly #key: IKey;

  constructor(scope: Construct, id: string, { tableKey }: { tableKey: IKey }) {
    super(scope, id);
    this.#key = tableKey;
    this.#bucket = new Bucket(this, 'Bucket', {
      encryption: BucketEncryption.KMS,
      encryptionKey: tableKey,
      bucketKeyEnabled: true,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      enforceSSL: true,
      lifecycleRules: [{ expiration: Duration.days(14) }],
    });
    Validations.of(this.#bucket).acknowledge(...bucketFindings);
  }

  bind() {
    return { destination: this.#bucket.bucketArn };
  }

  /** Lets Lambda write here in the name of the function that has failed. */
  grantTo(role: Role): void {
    const objects = this.#bucket.arnForObjects('aws/lambda/*');
    const statements = [
      new PolicyStatement({ actions: ['s3:ListBucket'], resources: [this.#bucket.bucketArn] }),
      new PolicyStatement({
        actions: ['s3:PutObject'],
        resources: [objects],
      }),
      new PolicyStatement({
        actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
        resources: [this.#key.keyArn],
        conditions: { StringEquals: { 'kms:ViaService': `s3.${Aws.REGION}.amazonaws.com` } },
      }),
    ];
    for (const statement of statements) role.addToPrincipalPolicy(statement);
    const bucketId = Stack.of(this).getLogicalId(this.#bucket.node.defaultChild as CfnBucket);
    Validations.of(role).acknowledge({
      id: `AwsSolutions-IAM5[Resource::<${bucketId}.Arn>/aws/lambda/*]`,
      reason: 'Lambda names the objects, each of its own name, below this prefix.',
    });
  }
}
