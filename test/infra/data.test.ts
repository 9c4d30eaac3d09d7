import { describe, expect, it } from '@jest/globals';
import { tableDefinition } from '../../infra/table-definition.ts';
import { ofType, only, stageTemplates } from './stage-templates.ts';

const { data } = stageTemplates();
const table = only(data, 'AWS::DynamoDB::GlobalTable');
const keys = ofType(data, 'AWS::KMS::Key').map(([, key]) => key);
const [replica] = table.Properties.Replicas as Record<string, unknown>[];

describe('the table', () => {
  it('is one, has the keys of the laptop’s table and is paid by request', () => {
    const { partitionKey, sortKey } = tableDefinition;
    expect(table.Properties).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: partitionKey.name, KeyType: 'HASH' },
        { AttributeName: sortKey.name, KeyType: 'RANGE' },
      ],
    });
    expect(table.Properties).not.toHaveProperty('GlobalSecondaryIndexes');
  });

  it('can be put back to any second and is not deleted by mistake', () => {
    expect(replica).toMatchObject({
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      DeletionProtectionEnabled: true,
    });
    expect(table.DeletionPolicy).toBe('Retain');
  });

  it('streams both images and forgets what has expired', () => {
    expect(table.Properties).toMatchObject({
      StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
      TimeToLiveSpecification: { AttributeName: tableDefinition.ttlAttribute, Enabled: true },
    });
  });

  it('is encrypted with a key of the account’s own', () => {
    const [tableKey = ''] = Object.keys(data).filter((id) => id.startsWith('TableKey'));
    expect(replica?.SSESpecification).toEqual({ KMSMasterKeyId: { 'Fn::GetAtt': [tableKey, 'Arn'] } });
  });
});

describe('the keys', () => {
  it('are kept, and rotated where KMS can', () => {
    expect(keys).toHaveLength(3);
    for (const key of keys) {
      expect(key.DeletionPolicy).toBe('Retain');
      expect(key.Properties.KeyUsage === 'SIGN_VERIFY' || key.Properties.EnableKeyRotation).toBe(true);
    }
  });

  it('hold one for RS256', () => {
    const signing = keys.filter(({ Properties }) => Properties.KeyUsage === 'SIGN_VERIFY');
    expect(signing.map(({ Properties }) => Properties.KeySpec)).toEqual(['RSA_2048']);
  });
});

describe('alarms', () => {
  it('may be published by CloudWatch, and over TLS only', () => {
    const policy = only(data, 'AWS::SNS::TopicPolicy');
    const { Statement } = policy.Properties.PolicyDocument as { Statement: unknown[] };
    expect(Statement).toContainEqual(
      expect.objectContaining({ Effect: 'Allow', Principal: { Service: 'cloudwatch.amazonaws.com' } }),
    );
    expect(Statement).toContainEqual(
      expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
    );
  });
});

describe('a stage that is to be destroyed', () => {
  const destroyed = stageTemplates({ removalPolicy: 'destroy' });

  it('leaves nothing behind', () => {
    const kept = Object.values(destroyed)
      .flatMap((resources) => Object.entries(resources))
      .filter(([, { DeletionPolicy }]) => DeletionPolicy === 'Retain');
    expect(kept).toEqual([]);
    const { Properties } = only(destroyed.data, 'AWS::DynamoDB::GlobalTable');
    expect(Properties.Replicas).toEqual([expect.objectContaining({ DeletionProtectionEnabled: false })]);
  });
});
