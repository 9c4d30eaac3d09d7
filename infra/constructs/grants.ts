/** From a row of permissions.ts to what a role may do and what its function is told. */

import { Aws } from 'aws-cdk-lib';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { stageKeyUse } from '../../shared/carry/keys/stage-key.ts';
import { type PartitionClass, partitionClasses } from '../../shared/carry/table/scan-page.ts';
import { eventSource } from '../../shared/carry/work/bus-event.ts';
import type { Purpose } from '../../shared/carry/work/queue.ts';
import { queueVariables } from '../../shared/composition/queues.ts';
import { type DeployedFunction, type NarrowAccess, type Permissions, permissions } from '../permissions.ts';
import type { HouseFunctionProps } from './house-function.ts';
import type { KmsKeys, StageTable } from './portico-table.ts';
import type { PurposeQueue } from './purpose-queue.ts';

/** What functions work on. */
export interface Ground {
  table: StageTable;
  tableKey: IKey;
  keys: KmsKeys;
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

/** What is made with functions that work on something, and whom their alarms tell. */
export interface Grounded {
  ground: Ground;
  alarms: ITopic;
}

/**
 * What of a function comes from its row of permissions, and what it is given beside that.
 * @param folder of its source
 */
export function granted(
  folder: DeployedFunction,
  ground: Ground,
  more: FunctionGrant = {},
): Pick<HouseFunctionProps, 'folder' | 'environment' | 'statements'> {
  const grants = [...grantsOf(permissions[folder], ground), more];
  return {
    folder,
    environment: Object.assign({}, ...grants.map(({ environment }) => environment)),
    statements: grants.flatMap(({ statements = [] }) => statements),
  };
}

/** What a function is told, and what its role may do: no wildcard in an action or a resource. */
export type FunctionGrant = Partial<Pick<HouseFunctionProps, 'environment' | 'statements'>>;

function grantsOf(own: Permissions, ground: Ground): FunctionGrant[] {
  const { table, tableKey, keys, searchParameters, baseUrl } = ground;
  const { signs, opens, makesStageKeys, botSecrets, runsBots } = own;
  const opening = (...statements: PolicyStatement[]): FunctionGrant => ({
    environment: { KEYS: keys.specification },
    statements,
  });
  const told = { TABLE_NAME: table.tableName, SEARCH_PARAMETERS: searchParameters };
  const all: (FunctionGrant | false | undefined)[] = [
    own.table.length > 0 && { environment: told, statements: tableStatements(own, ground) },
    { environment: { BASE_URL: baseUrl } },
    signs && opening(...signingStatements(keys)),
    // The keys of these purposes and no others: each is wrapped in a context that names its purpose.
    opens && opening(useOfWrapping(keys, ['Decrypt'], stageKeyUse, { purpose: [...opens] })),
    makesStageKeys &&
      opening(
        // Makes keys without seeing them; from the secret that an earlier release had for all purposes it derives the first.
        useOfWrapping(keys, ['Encrypt', 'GenerateDataKeyWithoutPlaintext'], stageKeyUse),
        useOfWrapping(keys, ['Decrypt'], 'portico-stage-secret'),
      ),
    botSecrets &&
      opening(
        useOfWrapping(keys, [botSecrets === 'seals' ? 'GenerateDataKey' : 'Decrypt'], 'portico-bot-secrets'),
      ),
    runsBots && invoking('INVOKER_FUNCTION', runsBots === 'long' ? ground.longInvoker : ground.invoker),
    own.evaluates && invoking('EVALUATOR_FUNCTION', ground.evaluator),
    own.startsJobs && invoking('JOBS_FUNCTION', made(ground.jobs, 'function for jobs')),
    own.readsStream && { statements: [useOfTableKey(tableKey)] },
    own.publishes && publishing(made(ground.bus, 'bus')),
    ...queueGrants(own, ground),
  ];
  return all.filter((grant) => grant !== undefined && grant !== false);
}

function made<Part>(part: Part | undefined, name: string): Part {
  if (part === undefined) throw new Error(`There is no ${name}`);
  return part;
}

type Conditions = Record<string, Record<string, string | readonly string[]>>;

/** A statement that allows. @param conditions left out, none */
export function allow(
  actions: readonly string[],
  resources: readonly string[],
  conditions: Conditions = {},
): PolicyStatement {
  const hasAny = Object.keys(conditions).length > 0;
  return new PolicyStatement({
    actions: [...actions],
    resources: [...resources],
    ...(hasAny ? { conditions } : {}),
  });
}

function invoking(variable: string, { functionArn }: IFunction): FunctionGrant {
  return {
    environment: { [variable]: functionArn },
    statements: [allow(['lambda:InvokeFunction'], [functionArn])],
  };
}

/** In the name of this service only. */
function publishing({ eventBusName, eventBusArn }: EventBus): FunctionGrant {
  const conditions = { StringEquals: { 'events:source': eventSource } };
  return {
    environment: { BUS_NAME: eventBusName },
    statements: [allow(['events:PutEvents'], [eventBusArn], conditions)],
  };
}

const taking = ['sqs:ReceiveMessage', 'sqs:DeleteMessage'];

function queueGrants({ sendsTo = [], consumes, postpones }: Permissions, ground: Ground): FunctionGrant[] {
  const queueOf = (purpose: Purpose) => made(ground.queues, 'queue')[purpose];
  const told = (purpose: Purpose) => ({
    environment: { [queueVariables(purpose).queue]: queueOf(purpose).queue.queueUrl },
  });
  const sent = sendsTo.map((to) => queueOf(to).queue.queueArn);
  const sending = { statements: sent.length > 0 ? [allow(['sqs:SendMessage'], sent)] : [] };
  if (!consumes) return [...sendsTo.map(told), sending];
  const { queue, deadLetters } = queueOf(consumes);
  const postponing = postpones ? ['sqs:ChangeMessageVisibility'] : [];
  return [
    ...sendsTo.map(told),
    ...(postpones ? [told(consumes)] : []),
    sending,
    {
      environment: { [queueVariables(consumes).deadLetters]: deadLetters.queueUrl },
      statements: [
        allow([...taking, 'sqs:GetQueueAttributes', ...postponing], [queue.queueArn]),
        allow(taking, [deadLetters.queueArn]),
      ],
    },
  ];
}

const reading: readonly string[] = ['BatchGetItem', 'Query'];
const onlyKeys = (patterns: readonly string[]) => ({
  'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': patterns },
});
const onlyAttributes = (names: readonly string[]) => ({
  'ForAllValues:StringEquals': { 'dynamodb:Attributes': names },
});

function tableStatements(
  { table: actions, reaches, narrowly = [], scansFor, writesOnly }: Permissions,
  { table, tableKey }: Ground,
): PolicyStatement[] {
  const on = (some: readonly string[], conditions?: Conditions) =>
    allow(
      some.map((action) => `dynamodb:${action}`),
      [table.tableArn],
      conditions,
    );
  const classes = (some: readonly PartitionClass[]) => onlyKeys(some.flatMap((one) => partitionClasses[one]));
  const keyed = actions.filter((action) => action !== 'Scan');
  const read = keyed.filter((action) => reading.includes(action));
  const written = keyed.filter((action) => !reading.includes(action));
  return [
    ...(writesOnly
      ? [on(read, classes(reaches)), on(written, onlyKeys(writesOnly))]
      : [on(keyed, classes(reaches))]),
    // Only with calls that name these attributes and no others, wherever in the call.
    ...narrowly.map(({ action, to, attributes }) =>
      on([action], { ...classes(to), ...onlyAttributes(attributes), ...notWhole[action] }),
    ),
    // A scan names no key, so that no condition on keys would hold it; what it selects it says as a query does.
    ...(actions.includes('Scan')
      ? [on(['Scan'], scansFor && { ...onlyAttributes(scansFor), ...notWhole.Query })]
      : []),
    useOfTableKey(tableKey),
  ];
}

/**
 * What refuses a read of whole items. A query names the attributes of its key whatever it wants, so that it must say
 * what it selects. By the documentation of IAM `Select` says so of the others too where it is there; `Null` refuses
 * one that would name no attribute at all. A `BatchWriteItem` has no condition and answers nothing of an item.
 */
const notWhole: Readonly<Record<NarrowAccess['action'], Conditions>> = {
  Query: { StringEquals: { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' } },
  BatchGetItem: {
    StringEqualsIfExists: { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' },
    Null: { 'dynamodb:Attributes': 'false' },
  },
  BatchWriteItem: {},
};

/** DynamoDB uses the table's key in the caller's name; nobody may use it in any other way. */
function useOfTableKey(key: IKey): PolicyStatement {
  const uses = ['Decrypt', 'DescribeKey', 'Encrypt', 'GenerateDataKey', 'ReEncryptFrom', 'ReEncryptTo'];
  const conditions = { StringEquals: { 'kms:ViaService': `dynamodb.${Aws.REGION}.amazonaws.com` } };
  return allow(
    uses.map((use) => `kms:${use}`),
    [key.keyArn],
    conditions,
  );
}

function signingStatements({ signing, published }: KmsKeys): PolicyStatement[] {
  const others = published.map(({ keyArn }) => keyArn);
  return [
    allow(['kms:GetPublicKey', 'kms:Sign'], [signing.keyArn]),
    ...(others.length > 0 ? [allow(['kms:GetPublicKey'], others)] : []),
  ];
}

/** Of the key that wraps others, in a context that says for what: what is wrapped for something else does not open. */
function useOfWrapping(
  { wrapping }: KmsKeys,
  actions: readonly string[],
  use: string,
  more: Record<string, string[]> = {},
): PolicyStatement {
  const context = Object.entries({ use, ...more }).map(([name, value]) => [
    `kms:EncryptionContext:${name}`,
    value,
  ]);
  return allow(
    actions.map((action) => `kms:${action}`),
    [wrapping.keyArn],
    { StringEquals: Object.fromEntries(context) },
  );
}
