import { describe, expect, it } from '@jest/globals';
import { timeoutSeconds } from '../../infra/timeouts.ts';
import { outboxPartitions } from '../../shared/table/keys.ts';
import { functionsOf, ofType, only, stageTemplates } from './stage-templates.ts';

const { outbox, provision, reindex } = stageTemplates();
const mapping = only(outbox, 'AWS::Lambda::EventSourceMapping');
const rules = ofType(outbox, 'AWS::Events::Rule').map(([, rule]) => rule);
const queue = only(outbox, 'AWS::SQS::Queue');

describe('the outbox', () => {
  it('is fed by the table’s stream from its beginning, in small batches that are halved on a fault', () => {
    expect(mapping.Properties).toMatchObject({
      StartingPosition: 'TRIM_HORIZON',
      BatchSize: 10,
      BisectBatchOnFunctionError: true,
      MaximumRetryAttempts: 3,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    });
    expect(JSON.stringify(mapping.Properties.EventSourceArn)).toContain('StreamArn');
  });

  it('does not lose what it gives up', () => {
    expect(mapping.Properties.DestinationConfig).toEqual({
      OnFailure: { Destination: { 'Fn::GetAtt': [queue.id, 'Arn'] } },
    });
    expect(queue.Properties.SqsManagedSseEnabled).toBe(true);
  });

  it('is woken by writes of outbox items only', () => {
    const { Filters } = mapping.Properties.FilterCriteria as { Filters: { Pattern: string }[] };
    const [pattern] = Filters.map(({ Pattern }) => JSON.parse(Pattern));
    expect(pattern.eventName).toEqual(['INSERT', 'MODIFY']);
    const [{ prefix }] = pattern.dynamodb.Keys.pk.S;
    expect(outboxPartitions().filter((pk) => !pk.startsWith(prefix))).toEqual([]);
  });

  it('sweeps every ten minutes', () => {
    const [lambda] = functionsOf(outbox);
    const [rule] = rules.filter(({ Properties }) => Properties.ScheduleExpression);
    expect(rule?.Properties.ScheduleExpression).toBe('rate(10 minutes)');
    expect(rule?.Properties.Targets).toEqual([
      expect.objectContaining({ Arn: { 'Fn::GetAtt': [lambda?.id, 'Arn'] } }),
    ]);
  });

  it('is told of bounces and complaints of its own mails, by the bus that only AWS speaks on as SES', () => {
    const mail = only(outbox, 'AWS::SES::ConfigurationSet');
    const destination = only(outbox, 'AWS::SES::ConfigurationSetEventDestination');
    expect(destination.Properties).toMatchObject({
      ConfigurationSetName: { Ref: mail.id },
      EventDestination: { Enabled: true, MatchingEventTypes: ['bounce', 'complaint'] },
    });
    const [rule] = rules.filter(({ Properties }) => Properties.EventPattern);
    expect(rule?.Properties.EventPattern).toEqual({
      source: ['aws.ses'],
      detail: {
        eventType: ['Bounce', 'Complaint'],
        mail: { tags: { 'ses:configuration-set': [{ Ref: mail.id }] } },
      },
    });
    const invoking = ofType(outbox, 'AWS::Lambda::Permission').map(
      ([, { Properties }]) => Properties.Principal,
    );
    expect(new Set(invoking)).toEqual(new Set(['events.amazonaws.com']));
  });

  it('ends before the claim of a mail that it is sending', () => {
    expect(timeoutSeconds.outbox).toBeLessThan(60);
    expect(functionsOf(outbox)[0]?.properties.Timeout).toBe(timeoutSeconds.outbox);
  });

  it('sends over TLS, with the addresses that bounced left out', () => {
    const mail = only(outbox, 'AWS::SES::ConfigurationSet');
    expect(mail.Properties).toMatchObject({
      DeliveryOptions: { TlsPolicy: 'REQUIRE' },
      SuppressionOptions: { SuppressedReasons: ['BOUNCE', 'COMPLAINT'] },
    });
  });
});

describe.each([
  ['provisioning', provision],
  ['reindexing', reindex],
])('%s', (_name, resources) => {
  it('is reached by the account’s own principals only: no route, no URL, no permission', () => {
    expect(functionsOf(resources)).toHaveLength(1);
    expect(Object.values(resources).filter(({ Type }) => /ApiGateway|Url|Permission/.test(Type))).toEqual([]);
  });
});
