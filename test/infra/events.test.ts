import { describe, expect, it } from '@jest/globals';
import { eventFunctions, timeoutSeconds } from '../../infra/deployed-functions.ts';
import { queues } from '../../infra/queues.ts';
import { streamReading } from '../../infra/table-definition.ts';
import { dispatchPauseSeconds } from '../../shared/base/limits.ts';
import { outboxPartitions } from '../../shared/carry/table/keys.ts';
import { dispatchedPurposes, purposes } from '../../shared/carry/work/queue.ts';
import {
  functionsOf,
  ofType,
  only,
  type Resource,
  stageTemplates,
  statementsOfRole,
} from './stage-templates.ts';

const { events, provision, reindex } = stageTemplates();
const functions = functionsOf(events);
const mappings = ofType(events, 'AWS::Lambda::EventSourceMapping').map(([, mapping]) => mapping.Properties);
const stream = mappings.filter(({ StartingPosition }) => StartingPosition !== undefined);
const rules = ofType(events, 'AWS::Events::Rule').map(([, rule]) => rule);
const queueTypes = ofType(events, 'AWS::SQS::Queue');

function named(description: string) {
  const found = functions.find(({ properties }) => properties.Description === description);
  if (!found) throw new Error(`No function ${description}`);
  return found;
}

const dispatcher = named('Hands changes of the table to the queues of what follows them');
const arnOf = (value: unknown) => (value as { 'Fn::GetAtt': [string, string] })['Fn::GetAtt'][0];

/** The logical id and properties of the queue that feeds a purpose’s function, with its mapping. */
function fed(purpose: (typeof purposes)[number]) {
  const { id } = named(eventFunctions[queues[purpose].consumer].description);
  const mapping = mappings.find(({ FunctionName }) => (FunctionName as { Ref: string }).Ref === id);
  if (!mapping) throw new Error(`${purpose} is fed by nothing`);
  const queueId = arnOf(mapping.EventSourceArn);
  return { mapping, queueId, queue: events[queueId] as Resource };
}

describe('the stream of the table', () => {
  it('has one reader, since a shard bears two, from its beginning', () => {
    expect(stream).toHaveLength(1);
    expect(stream[0]).toMatchObject({
      FunctionName: { Ref: dispatcher.id },
      StartingPosition: 'TRIM_HORIZON',
      BisectBatchOnFunctionError: true,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    });
    expect(JSON.stringify(stream[0]?.EventSourceArn)).toContain('StreamArn');
  });

  it('keeps what cannot be handed on with its content, encrypted as the table is, and says so', () => {
    const bucket = only(events, 'AWS::S3::Bucket');
    expect(stream[0]?.DestinationConfig).toEqual({
      OnFailure: { Destination: { 'Fn::GetAtt': [bucket.id, 'Arn'] } },
    });
    expect(JSON.stringify(bucket.Properties.BucketEncryption)).toContain('aws:kms');
    expect(bucket.Properties.PublicAccessBlockConfiguration).toMatchObject({ BlockPublicPolicy: true });
    expect(JSON.stringify(bucket.Properties.LifecycleConfiguration)).toContain('"ExpirationInDays":14');
    const watched = new Map(
      ofType(events, 'AWS::CloudWatch::Alarm').map(([, { Properties }]) => [
        Properties.MetricName,
        Properties.Dimensions,
      ]),
    );
    // The one dimension that Lambda gives metrics of a mapping: with another beside it an alarm sees nothing.
    expect(watched.get('OnFailureDestinationDeliveredEventCount')).toEqual([
      { Name: 'EventSourceMappingUUID', Value: { Ref: expect.stringMatching(/^StreamMapping/) } },
    ]);
    expect(stream[0]?.MetricsConfig).toEqual({ Metrics: ['EventCount'] });
    expect(watched.get('IteratorAge')).toEqual([{ Name: 'FunctionName', Value: { Ref: dispatcher.id } }]);
  });

  it('is read until an outage of hours has passed: retries end by age, and the stream keeps more', () => {
    const [{ MaximumRecordAgeInSeconds, MaximumRetryAttempts, ParallelizationFactor } = {}] = stream;
    expect(MaximumRecordAgeInSeconds).toBe(12 * 3600);
    expect(Number(MaximumRetryAttempts) * dispatchPauseSeconds).toBeGreaterThanOrEqual(12 * 3600);
    expect(MaximumRetryAttempts).toBeLessThanOrEqual(10_000);
    expect(ParallelizationFactor).toBe(streamReading.atOncePerShard);
    expect(dispatcher.properties.Timeout).toBeGreaterThan(2 * dispatchPauseSeconds);
  });

  it('wakes the dispatcher for outbox items, heads of resources, runs to be told of and untidy entries only', () => {
    const { Filters } = (stream[0]?.FilterCriteria ?? { Filters: [] }) as { Filters: { Pattern: string }[] };
    const patterns = Filters.map(({ Pattern }) => JSON.parse(Pattern));
    expect(patterns.map(({ eventName }) => eventName.join())).toEqual([
      'INSERT,MODIFY',
      'INSERT,MODIFY',
      'INSERT',
      'INSERT,MODIFY',
    ]);
    const [{ prefix }] = patterns[0].dynamodb.Keys.pk.S;
    expect(outboxPartitions().filter((pk) => !pk.startsWith(prefix))).toEqual([]);
    expect(patterns[1].dynamodb).toEqual({
      Keys: { sk: { S: ['HEAD'] } },
      NewImage: { lastUpdated: { S: [{ exists: true }] } },
    });
    expect(patterns[2].dynamodb.NewImage).toEqual({ executed: { S: [{ exists: true }] } });
    expect(patterns[3].dynamodb.NewImage).toEqual({ untidy: { BOOL: [{ exists: true }] } });
  });
});

describe('the dispatcher', () => {
  const statements = statementsOfRole(events, dispatcher.roleId);
  const allowed = (prefix: string) =>
    statements.filter(({ Action }) => [Action].flat().every((action) => action.startsWith(prefix)));

  it('looks up Subscriptions, and writes nothing', () => {
    const actions = allowed('dynamodb:').flatMap(({ Action }) => Action);
    expect(actions.sort()).toEqual(
      ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams', 'Query'].map(
        (one) => `dynamodb:${one}`,
      ),
    );
  });

  it('sends to the queue of each purpose of its own and takes from none', () => {
    const [statement, ...others] = allowed('sqs:');
    expect(others).toEqual([]);
    expect(statement?.Action).toBe('sqs:SendMessage');
    const targets = [statement?.Resource].flat().map(arnOf);
    expect(targets.sort()).toEqual(dispatchedPurposes.map((purpose) => fed(purpose).queueId).sort());
  });
});

describe.each(purposes)('the queue of %s', (purpose) => {
  const { mapping, queue } = fed(purpose);
  const definition = queues[purpose];

  it('is encrypted, and reached over TLS only', () => {
    expect(queue.Properties.SqsManagedSseEnabled).toBe(true);
    const policies = ofType(events, 'AWS::SQS::QueuePolicy').map(([, policy]) => JSON.stringify(policy));
    expect(policies.filter((policy) => policy.includes('aws:SecureTransport'))).toHaveLength(
      queueTypes.length,
    );
  });

  it('keeps the order of each group where its purpose needs it', () => {
    const { FifoQueue, DeduplicationScope, FifoThroughputLimit } = queue.Properties;
    expect([FifoQueue, DeduplicationScope, FifoThroughputLimit]).toEqual(
      definition.keepsOrder ? [true, 'messageGroup', 'perMessageGroupId'] : [undefined, undefined, undefined],
    );
    if (definition.keepsOrder) expect(definition.batchSize).toBe(1);
  });

  it('gives its function small batches, and again only what failed', () => {
    expect(mapping).toMatchObject({
      BatchSize: definition.batchSize,
      ScalingConfig: { MaximumConcurrency: definition.mostConcurrent },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    });
  });

  it('gives a message to nobody else while its function may be at it', () => {
    const { properties } = named(eventFunctions[definition.consumer].description);
    expect(queue.Properties.VisibilityTimeout).toBeGreaterThan(Number(properties.Timeout));
  });

  it('has dead letters of its own, kept for 14 days, with an alarm', () => {
    const { deadLetterTargetArn, maxReceiveCount } = queue.Properties.RedrivePolicy as Record<
      string,
      unknown
    >;
    expect(maxReceiveCount).toBe(definition.mostReceives);
    const deadId = arnOf(deadLetterTargetArn);
    expect(events[deadId]?.Properties.MessageRetentionPeriod).toBe(14 * 86_400);
    const alarms = ofType(events, 'AWS::CloudWatch::Alarm').map(([, { Properties }]) => Properties);
    const own = alarms.filter(({ Dimensions }) => JSON.stringify(Dimensions ?? '').includes(`"${deadId}"`));
    expect(own).toHaveLength(1);
    expect(own[0]?.AlarmDescription).toContain(definition.impact);
  });

  it('is taken from by its own function only, dead letters included', () => {
    const { roleId } = named(eventFunctions[definition.consumer].description);
    const takers = functions.filter(({ roleId: role }) =>
      statementsOfRole(events, role).some(
        ({ Action, Resource: target }) =>
          [Action].flat().includes('sqs:ReceiveMessage') &&
          JSON.stringify(target).includes(`"${arnOf(mapping.EventSourceArn)}"`),
      ),
    );
    expect(takers.map(({ roleId: role }) => role)).toEqual([roleId]);
  });
});

describe('what follows changes', () => {
  it('is swept every ten minutes', () => {
    const sweeps = rules.filter(({ Properties }) => Properties.ScheduleExpression === 'rate(10 minutes)');
    type Target = { Arn: unknown; RetryPolicy?: { MaximumRetryAttempts: number } };
    const targets = sweeps.flatMap(({ Properties }) => (Properties.Targets ?? []) as Target[]);
    const consumers = Object.values(eventFunctions).map(({ description }) => named(description).id);
    expect(targets.map(({ Arn }) => arnOf(Arn)).sort()).toEqual(consumers.sort());
    // The next one does what this one did not.
    for (const { RetryPolicy } of targets) expect(RetryPolicy?.MaximumRetryAttempts).toBe(0);
  });
});

describe('the bus', () => {
  const bus = only(events, 'AWS::Events::EventBus');

  it('is one of the stage, by a name that others find', () => {
    expect(bus.Properties.Name).toBe('portico-test');
  });

  it('is spoken on by one function, in the name of this service, which can do nothing else', () => {
    const speaking = functions.filter(({ roleId }) =>
      statementsOfRole(events, roleId).some(({ Action }) => [Action].flat().includes('events:PutEvents')),
    );
    expect(speaking.map(({ id }) => id)).toEqual([named(eventFunctions.bus.description).id]);
    const statements = statementsOfRole(events, speaking[0]?.roleId ?? '');
    expect(statements.find(({ Action }) => Action === 'events:PutEvents')).toMatchObject({
      Resource: { 'Fn::GetAtt': [bus.id, 'Arn'] },
      Condition: { StringEquals: { 'events:source': 'portico' } },
    });
    const services = statements.flatMap(({ Action }) =>
      [Action].flat().map((action) => action.split(':')[0]),
    );
    expect([...new Set(services)].sort()).toEqual(['events', 'logs', 'sqs']);
  });
});

describe('schedules of Bots', () => {
  it('are looked at every minute, by a function that runs no Bot and writes no resource', () => {
    const tick = named('Runs Bots whose schedules are due');
    const [rule, ...others] = rules.filter(
      ({ Properties }) => Properties.ScheduleExpression === 'rate(1 minute)',
    );
    expect(others).toEqual([]);
    expect(((rule?.Properties.Targets ?? []) as { Arn: unknown }[]).map(({ Arn }) => arnOf(Arn))).toEqual([
      tick.id,
    ]);
    const invoking = statementsOfRole(events, tick.roleId).filter(({ Action }) =>
      [Action].flat().includes('lambda:InvokeFunction'),
    );
    expect(JSON.stringify(invoking.map(({ Resource: target }) => target))).toContain('jobs');
    expect(invoking).toHaveLength(1);
  });

  it('sound an alarm when they are late', () => {
    const filters = ofType(events, 'AWS::Logs::MetricFilter').map(([, { Properties }]) => Properties);
    expect(filters.map(({ FilterPattern }) => FilterPattern)).toContain('{ $.message = "schedule late" }');
  });
});

describe('mail', () => {
  it('has a function that is told of bounces and complaints, by the bus that only AWS speaks on as SES', () => {
    const mail = only(events, 'AWS::SES::ConfigurationSet');
    const destination = only(events, 'AWS::SES::ConfigurationSetEventDestination');
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
    const { id } = named(eventFunctions.outbox.description);
    const invoking = ofType(events, 'AWS::Lambda::Permission')
      .filter(([, { Properties }]) => JSON.stringify(Properties.FunctionName).includes(`"${id}"`))
      .map(([, { Properties }]) => Properties.Principal);
    expect(new Set(invoking)).toEqual(new Set(['events.amazonaws.com']));
  });

  it('is sent before the claim of it ends', () => {
    expect(timeoutSeconds.outbox).toBeLessThan(60);
    expect(named(eventFunctions.outbox.description).properties.Timeout).toBe(timeoutSeconds.outbox);
  });

  it('goes over TLS, with the addresses that bounced left out', () => {
    const mail = only(events, 'AWS::SES::ConfigurationSet');
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
