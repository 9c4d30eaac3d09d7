import { describe, expect, it } from '@jest/globals';
import { tableDefinition } from '../../infra/table-definition.ts';
import { ofType, only, stageTemplates } from './stage-templates.ts';

const stacks = stageTemplates();
const { data } = stacks;
const other = stageTemplates('passing');
const backedUp = stageTemplates('backedUp');
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

  it('is copied to a vault each day where the stage says so', () => {
    expect(ofType(data, 'AWS::Backup::BackupPlan')).toEqual([]);
    const plan = only(backedUp.data, 'AWS::Backup::BackupPlan').Properties.BackupPlan;
    expect(plan).toMatchObject({ BackupPlanRule: [{ Lifecycle: { DeleteAfterDays: 400 } }] });
    const selection = only(backedUp.data, 'AWS::Backup::BackupSelection').Properties.BackupSelection;
    expect(JSON.stringify(selection)).toContain('Table710B521B');
    expect(only(backedUp.data, 'AWS::Backup::BackupVault').DeletionPolicy).toBe('Retain');
    const unprotected = only(backedUp.data, 'AWS::DynamoDB::GlobalTable').Properties.Replicas;
    expect(unprotected).toMatchObject([{ DeletionProtectionEnabled: false }]);
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
    expect(keys).toHaveLength(4);
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

describe('log groups', () => {
  const groupsOf = (templates: typeof stacks) =>
    Object.values(templates).flatMap((resources) =>
      ofType(resources, 'AWS::Logs::LogGroup').map(([id, { Properties }]) => ({ id, ...Properties })),
    );
  const daysOf = (templates: typeof stacks) => {
    const days = (isAccess: boolean) =>
      new Set(
        groupsOf(templates)
          .filter(({ id }) => id.includes('Access') === isAccess)
          .map((group) => (group as { RetentionInDays?: number }).RetentionInDays),
      );
    return { functions: [...days(false)], access: [...days(true)] };
  };

  it('are encrypted with a key of the stage, which opens for log groups of this stage only', () => {
    const groups = groupsOf(stacks);
    expect(groups.length).toBeGreaterThan(20);
    for (const group of groups) expect(JSON.stringify(group)).toMatch(/"KmsKeyId":.*LogsKey/);
    const [, logs] = ofType(data, 'AWS::KMS::Key').find(([id]) => id.startsWith('LogsKey')) ?? [];
    const policy = JSON.stringify(logs?.Properties.KeyPolicy);
    expect(policy).toMatch(/"ArnLike":\{"kms:EncryptionContext:aws:logs:arn":.*:log-group:portico-test-\*/);
  });

  it('and all else under keys of the stage opens to services in the name of this account only', () => {
    const keys = Object.values(stacks).flatMap((stack) => ofType(stack, 'AWS::KMS::Key'));
    const ofServices = keys.flatMap(([id, { Properties }]) =>
      (Properties.KeyPolicy as { Statement: { Principal: unknown; Condition?: unknown }[] }).Statement.filter(
        ({ Principal }) => JSON.stringify(Principal).includes('"Service"'),
      ).map(({ Principal, Condition }) => ({ id, Principal, condition: JSON.stringify(Condition ?? {}) })),
    );
    expect(ofServices.length).toBeGreaterThan(1);
    expect(ofServices.filter(({ condition }) => !condition.includes('"Ref":"AWS::AccountId"'))).toEqual([]);
  });

  it('are kept as the stage says', () => {
    expect(daysOf(stacks)).toEqual({ functions: [90], access: [365] });
    expect(daysOf(other)).toEqual({ functions: [365], access: [2192] });
  });
});

describe('alarms', () => {
  it('may be published by CloudWatch, and over TLS only', () => {
    const policy = only(data, 'AWS::SNS::TopicPolicy');
    const { Statement } = policy.Properties.PolicyDocument as { Statement: unknown[] };
    expect(Statement).toContainEqual(
      expect.objectContaining({ Effect: 'Allow', Principal: { Service: 'cloudwatch.amazonaws.com' } }),
    );
    const topic = only(data, 'AWS::SNS::Topic');
    expect(JSON.stringify(topic.Properties.KmsMasterKeyId)).toContain('LogsKey');
    const [, logs] = ofType(data, 'AWS::KMS::Key').find(([id]) => id.startsWith('LogsKey')) ?? [];
    expect(JSON.stringify(logs?.Properties.KeyPolicy)).toContain('"Service":"cloudwatch.amazonaws.com"');
    expect(Statement).toContainEqual(
      expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
    );
  });
});

describe('a stage that is to be destroyed', () => {
  it('leaves nothing behind', () => {
    const kept = Object.values(other)
      .flatMap((resources) => Object.entries(resources))
      .filter(([, { DeletionPolicy }]) => DeletionPolicy === 'Retain');
    expect(kept).toEqual([]);
    const { Properties } = only(other.data, 'AWS::DynamoDB::GlobalTable');
    expect(Properties.Replicas).toEqual([expect.objectContaining({ DeletionProtectionEnabled: false })]);
  });
});
