/** From a row of permissions.ts to what a role may do and what its function is told. */

import { Aws } from 'aws-cdk-lib';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { KeyPurpose } from '../../shared/carry/keys/key-ring.ts';
import { stageKeyUse } from '../../shared/carry/keys/stage-key.ts';
import { partitionClasses } from '../../shared/carry/table/scan-page.ts';
import { eventSource } from '../../shared/carry/work/bus-event.ts';
import type { Purpose } from '../../shared/carry/work/queue.ts';
import { queueVariables } from '../../shared/composition/queues.ts';
import { type DeployedFunction, type NarrowAccess, type Permissions, permissions } from '../permissions.ts';
import type { HouseFunctionProps } from './house-function.ts';
import type { StageKeys, StageTable } from './portico-table.ts';
import type { PurposeQueue } from './purpose-queue.ts';

/** What functions work on. */
export interface Ground {
  table: StageTable;
  tableKey: IKey;
  keys: StageKeys;
  invoker: IFunction;
  longInvoker: IFunction;
  evaluator: IFunction;
  /** Only for what starts jobs. */
  jobs?: IFunction;
  /** Only for what sends to queues or takes from them. */
  queues?: Readonly<Record<Purpose, PurposeQueue>>;
  /** Only for what publishes. */
  bus?: EventBus;
  /** The sets of search parameters that the stage serves, between commas. */
  searchParameters: string;
  /** Without a closing slash. */
  baseUrl: string;
}

/**
 * What of a function comes from its row of permissions, and what it is given beside that.
 * @param folder of its source
 */
export function granted(
  folder: DeployedFunction,
  ground: Ground,
  more: Partial<Pick<HouseFunctionProps, 'environment' | 'statements'>> = {},
): Pick<HouseFunctionProps, 'folder' | 'environment' | 'statements'> {
  const own = permissions[folder];
  return {
    folder,
    environment: { ...environmentOf(own, ground), ...more.environment },
    statements: [...statementsOf(own, ground), ...(more.statements ?? [])],
  };
}

/** The environment of a function with these own. */
function environmentOf(own: Permissions, ground: Ground): Record<string, string> {
  return {
    ...(own.table.length > 0
      ? { TABLE_NAME: ground.table.tableName, SEARCH_PARAMETERS: ground.searchParameters }
      : {}),
    BASE_URL: ground.baseUrl,
    ...(own.signs || own.opens || own.makesStageKeys || own.botSecrets
      ? { KEYS: ground.keys.specification }
      : {}),
    ...(own.runsBots ? { INVOKER_FUNCTION: invokerOf(own, ground).functionArn } : {}),
    ...(own.evaluates ? { EVALUATOR_FUNCTION: ground.evaluator.functionArn } : {}),
    ...(own.startsJobs ? { JOBS_FUNCTION: jobsOf(ground).functionArn } : {}),
    ...(own.publishes ? { BUS_NAME: busOf(ground).eventBusName } : {}),
    ...queueEnvironment(own, ground),
  };
}

/** The statements of a role with these permissions: no wildcard in an action or a resource. */
function statementsOf(own: Permissions, ground: Ground): PolicyStatement[] {
  return [
    ...(own.table.length > 0 ? tableStatements(own, ground) : []),
    ...(own.signs ? signingStatements(ground.keys) : []),
    ...(own.opens ? [openStatement(ground.keys, own.opens)] : []),
    ...(own.makesStageKeys ? makeStatements(ground.keys) : []),
    ...(own.botSecrets ? [botSecretsStatement(ground.keys, own.botSecrets)] : []),
    ...(own.runsBots ? [invokeStatement(invokerOf(own, ground))] : []),
    ...(own.evaluates ? [invokeStatement(ground.evaluator)] : []),
    ...(own.startsJobs ? [invokeStatement(jobsOf(ground))] : []),
    ...(own.readsStream ? [tableKeyStatement(ground.tableKey)] : []),
    ...(own.publishes ? [publishStatement(busOf(ground))] : []),
    ...queueStatements(own, ground),
  ];
}

function queueEnvironment(
  { sendsTo = [], consumes, postpones }: Permissions,
  ground: Ground,
): Record<string, string> {
  const reached = new Set([...sendsTo, ...(postpones && consumes ? [consumes] : [])]);
  const sent = [...reached].map((to) => [queueVariables(to).queue, queueOf(to, ground).queue.queueUrl]);
  const own = consumes && queueOf(consumes, ground).deadLetters.queueUrl;
  return { ...Object.fromEntries(sent), ...(own ? { [queueVariables(consumes).deadLetters]: own } : {}) };
}

function queueStatements(
  { sendsTo = [], consumes, postpones }: Permissions,
  ground: Ground,
): PolicyStatement[] {
  const statement = (actions: string[], resources: string[]) =>
    new PolicyStatement({ actions: actions.map((action) => `sqs:${action}`), resources });
  const sent = sendsTo.map((to) => queueOf(to, ground).queue.queueArn);
  const own = consumes && queueOf(consumes, ground);
  return [
    ...(sent.length > 0 ? [statement(['SendMessage'], sent)] : []),
    ...(own
      ? [
          statement(
            [
              'ReceiveMessage',
              'DeleteMessage',
              'GetQueueAttributes',
              ...(postpones ? ['ChangeMessageVisibility'] : []),
            ],
            [own.queue.queueArn],
          ),
          statement(['ReceiveMessage', 'DeleteMessage'], [own.deadLetters.queueArn]),
        ]
      : []),
  ];
}

function queueOf(purpose: Purpose, { queues }: Ground): PurposeQueue {
  if (!queues) throw new Error('There are no queues');
  return queues[purpose];
}

const reading: readonly string[] = ['BatchGetItem', 'Query'];

function tableStatements(
  { table: actions, reaches, narrowly = [], scansFor, writesOnly }: Permissions,
  { table, tableKey }: Ground,
): PolicyStatement[] {
  const statement = (some: readonly string[], partitions?: readonly string[]) =>
    new PolicyStatement({
      actions: some.map((action) => `dynamodb:${action}`),
      resources: [table.tableArn],
      ...(partitions
        ? { conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': partitions } } }
        : {}),
    });
  const reached = reaches.flatMap((one) => partitionClasses[one]);
  const keyed = actions.filter((action) => action !== 'Scan');
  const read = keyed.filter((action) => reading.includes(action));
  const written = keyed.filter((action) => !reading.includes(action));
  return [
    ...(writesOnly
      ? [statement(read, reached), statement(written, writesOnly)]
      : [statement(keyed, reached)]),
    ...narrowly.map((access) => narrowStatement(table.tableArn, access)),
    ...(actions.includes('Scan') ? [scanStatement(table.tableArn, scansFor)] : []),
    tableKeyStatement(tableKey),
  ];
}

/** A scan names no key, so that no condition on keys would hold it; what it selects it says as a query does. */
function scanStatement(tableArn: string, attributes: readonly string[] | undefined): PolicyStatement {
  return new PolicyStatement({
    actions: ['dynamodb:Scan'],
    resources: [tableArn],
    ...(attributes
      ? {
          conditions: {
            'ForAllValues:StringEquals': { 'dynamodb:Attributes': attributes },
            ...notWhole.Query,
          },
        }
      : {}),
  });
}

/** Only with calls that name these attributes and no others, wherever in the call. */
function narrowStatement(tableArn: string, { action, to, attributes }: NarrowAccess): PolicyStatement {
  return new PolicyStatement({
    actions: [`dynamodb:${action}`],
    resources: [tableArn],
    conditions: {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': to.flatMap((one) => partitionClasses[one]) },
      'ForAllValues:StringEquals': { 'dynamodb:Attributes': attributes },
      ...notWhole[action],
    },
  });
}

/**
 * What refuses a read of whole items. A query names the attributes of its key whatever it wants, so that it must say
 * what it selects. By the documentation of IAM `Select` says so of the others too where it is there; `Null` refuses
 * one that would name no attribute at all. A `BatchWriteItem` has no condition and answers nothing of an item.
 */
const notWhole: Readonly<Record<NarrowAccess['action'], Record<string, Record<string, string>>>> = {
  Query: { StringEquals: { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' } },
  BatchGetItem: {
    StringEqualsIfExists: { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' },
    Null: { 'dynamodb:Attributes': 'false' },
  },
  BatchWriteItem: {},
};

/** DynamoDB uses the table's key in the caller's name; nobody may use it in any other way. */
function tableKeyStatement(key: IKey): PolicyStatement {
  return new PolicyStatement({
    actions: [
      'kms:Decrypt',
      'kms:DescribeKey',
      'kms:Encrypt',
      'kms:GenerateDataKey',
      'kms:ReEncryptFrom',
      'kms:ReEncryptTo',
    ],
    resources: [key.keyArn],
    conditions: { StringEquals: { 'kms:ViaService': `dynamodb.${Aws.REGION}.amazonaws.com` } },
  });
}

function signingStatements({ signing, published }: StageKeys): PolicyStatement[] {
  const statement = (actions: string[], keys: readonly IKey[]) =>
    new PolicyStatement({ actions, resources: keys.map(({ keyArn }) => keyArn) });
  return [
    statement(['kms:GetPublicKey', 'kms:Sign'], [signing]),
    ...(published.length > 0 ? [statement(['kms:GetPublicKey'], published)] : []),
  ];
}

/** The keys of these purposes and no others: each is wrapped in a context that names its purpose. */
function openStatement(keys: StageKeys, purposes: readonly KeyPurpose[]): PolicyStatement {
  return new PolicyStatement({
    actions: ['kms:Decrypt'],
    resources: [keys.wrapping.keyArn],
    conditions: {
      StringEquals: {
        'kms:EncryptionContext:use': stageKeyUse,
        'kms:EncryptionContext:purpose': [...purposes],
      },
    },
  });
}

/** Makes keys without seeing them; from the secret that an earlier release had for all purposes it derives the first. */
function makeStatements(keys: StageKeys): PolicyStatement[] {
  const statement = (actions: string[], use: string) =>
    new PolicyStatement({
      actions,
      resources: [keys.wrapping.keyArn],
      conditions: { StringEquals: { 'kms:EncryptionContext:use': use } },
    });
  return [
    statement(['kms:Encrypt', 'kms:GenerateDataKeyWithoutPlaintext'], stageKeyUse),
    statement(['kms:Decrypt'], 'portico-stage-secret'),
  ];
}

/** Wrapped by the same key, in a context of their own. */
function botSecretsStatement(keys: StageKeys, how: 'seals' | 'opens'): PolicyStatement {
  return new PolicyStatement({
    actions: [how === 'seals' ? 'kms:GenerateDataKey' : 'kms:Decrypt'],
    resources: [keys.wrapping.keyArn],
    conditions: { StringEquals: { 'kms:EncryptionContext:use': 'portico-bot-secrets' } },
  });
}

function invokerOf({ runsBots }: Permissions, { invoker, longInvoker }: Ground): IFunction {
  return runsBots === 'long' ? longInvoker : invoker;
}

function jobsOf({ jobs }: Ground): IFunction {
  if (!jobs) throw new Error('There is no function for jobs');
  return jobs;
}

function busOf({ bus }: Ground): EventBus {
  if (!bus) throw new Error('There is no bus');
  return bus;
}

/** In the name of this service only. */
function publishStatement(bus: EventBus): PolicyStatement {
  return new PolicyStatement({
    actions: ['events:PutEvents'],
    resources: [bus.eventBusArn],
    conditions: { StringEquals: { 'events:source': eventSource } },
  });
}

function invokeStatement(invoked: IFunction): PolicyStatement {
  return new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [invoked.functionArn] });
}
