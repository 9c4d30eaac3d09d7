/**
 * What each function may do, one row each: its role and its environment are made from it and from
 * nothing else. `BatchGetItem` is every read by key, `Query` a list; a transaction needs the actions of
 * its parts. One table serves all Projects and a role serves all callers, so IAM cannot tell Projects
 * apart (`dynamodb:LeadingKeys` would need a role per Project): the keys, made from the token's project
 * only, do that. What it does tell apart are the classes of keys, and attributes: who runs Bots or gives out tokens
 * reads no password hash. A function without table actions is not told where the table is.
 */

import type { FunctionName } from '../functions/routes.ts';
import type { KeyPurpose } from '../shared/carry/keys/key-ring.ts';
import {
  deliveryPartitions,
  exportPartitions,
  originPartitions,
  runPartitions,
  schedulePartitions,
  waitingPartitions,
} from '../shared/carry/table/keys.ts';
import type { PartitionClass } from '../shared/carry/table/scan-page.ts';
import { dispatchedPurposes, type Purpose } from '../shared/carry/work/queue.ts';
import { mirrorAttributes } from '../shared/identity/invitations/choices.ts';
import { chosenLoginAttributes } from '../shared/identity/sign-in/person-login.ts';
import { inlineAttributes } from '../shared/store/items/content.ts';
import type { QueueConsumer } from './deployed-functions.ts';

type TableAction =
  | 'BatchGetItem'
  | 'BatchWriteItem'
  | 'Query'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'ConditionCheckItem'
  | 'Scan';

/** Calls that answer no attribute which they do not name: of the writes the one that answers nothing of an item. */
export interface NarrowAccess {
  action: 'BatchGetItem' | 'Query' | 'BatchWriteItem';
  to: readonly PartitionClass[];
  /** Keys included. */
  attributes: readonly string[];
}

export interface Permissions {
  table: readonly TableAction[];
  /** The classes of partitions that it reaches at all, by reading or writing; a scan goes through every one. */
  reaches: readonly PartitionClass[];
  /** What it may do in classes that it does not reach, with calls that name these attributes and no others. */
  narrowly?: readonly NarrowAccess[];
  /** The attributes that its scans may name, and answer; left out, all. */
  scansFor?: readonly string[];
  /** Patterns of the partitions that it may write; where it may write all, left out. */
  writesOnly?: readonly string[];
  /** Signs access tokens with the stage's key. */
  signs?: true;
  /** The purposes whose keys of the stage it opens: no other key opens to it. */
  opens?: readonly KeyPurpose[];
  /** Makes the stage's keys of every purpose, and sees none of those that it makes. */
  makesStageKeys?: true;
  /** The secrets of Bots: who writes them cannot read them. */
  botSecrets?: 'seals' | 'opens';
  /** With the invoker for callers who wait, or with the one for jobs. */
  runsBots?: 'briefly' | 'long';
  /** Has expressions evaluated in the sandbox, and can have nothing else run there. */
  evaluates?: true;
  startsJobs?: true;
  /** Puts events on the bus of the stage. */
  publishes?: true;
  /** Reads the table's stream. */
  readsStream?: true;
  /** Sends messages to these queues. */
  sendsTo?: readonly Purpose[];
  /** Takes messages from this queue, and from its dead letters. */
  consumes?: Purpose;
  /** Lets messages of that queue wait. */
  postpones?: true;
}

export type DeployedFunction =
  | FunctionName
  | QueueConsumer
  | 'access-records'
  | 'tick'
  | 'jobs'
  | 'dispatch'
  | 'provision'
  | 'stage-keys'
  | 'reindex'
  | 'canary';

/** What every request is about: who calls, by which sign-in and client, under which keys, and what they have of a function. */
const calling = ['project', 'login', 'client', 'stage', 'share'] as const;

const executing: Permissions = {
  reaches: calling,
  table: ['BatchGetItem', 'PutItem', 'UpdateItem'],
  opens: ['run-token'],
  botSecrets: 'opens',
  runsBots: 'briefly',
  startsJobs: true,
};

const transaction = ['PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'] as const;

export const permissions: Record<DeployedFunction, Permissions> = {
  invite: {
    table: ['BatchGetItem', 'Query', ...transaction],
    reaches: [...calling, 'user', 'address', 'mail'],
  },
  members: {
    table: ['BatchGetItem', 'Query', ...transaction],
    reaches: [...calling, 'user', 'address', 'stageIssuers', 'mail'],
    opens: ['issuer-secret'],
  },
  resources: {
    table: ['BatchGetItem', 'Query', 'BatchWriteItem', ...transaction],
    reaches: [...calling, 'user', 'mail', 'pending', 'schedule'],
    opens: ['run-token'],
    botSecrets: 'seals',
  },
  subscriptions: {
    table: ['BatchGetItem', 'Query', 'PutItem', 'UpdateItem'],
    reaches: calling,
    sendsTo: ['subscriptions', 'deliveries'],
  },
  bots: {
    table: ['BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'ConditionCheckItem'],
    reaches: calling,
    botSecrets: 'seals',
    runsBots: 'briefly',
  },
  'execute-by-id': executing,
  'execute-by-identifier': executing,
  jobs: {
    table: ['BatchGetItem', 'PutItem', 'UpdateItem'],
    reaches: calling,
    opens: ['run-token'],
    botSecrets: 'opens',
    runsBots: 'long',
  },
  token: {
    table: ['BatchGetItem', 'PutItem', 'UpdateItem'],
    // An exchange looks for the person whom an issuer names, for their memberships, and notes their login.
    reaches: [...calling, 'address', 'stageIssuers'],
    narrowly: [
      { action: 'Query', to: ['user'], attributes: ['pk', 'sk', ...mirrorAttributes] },
      {
        action: 'BatchWriteItem',
        to: ['login', 'user'],
        attributes: ['pk', 'sk', ...chosenLoginAttributes],
      },
    ],
    signs: true,
  },
  login: {
    table: ['BatchGetItem', 'Query', ...transaction],
    reaches: [...calling, 'user', 'address', 'stageIssuers', 'attempts', 'mail'],
    opens: [
      'invitation-link',
      'reset-link',
      'address-link',
      'totp',
      'issuer-secret',
      'external-sign-in',
      'known-sign-in',
    ],
  },
  account: {
    table: ['BatchGetItem', 'Query', ...transaction],
    reaches: [...calling, 'user', 'stageIssuers', 'attempts', 'mail'],
    opens: ['run-token', 'totp', 'drafts', 'external-sign-in'],
  },
  site: { table: [], reaches: [] },
  // It calls the API over HTTPS, without a token.
  canary: { table: [], reaches: [] },
  'access-records': { table: [], reaches: [] },
  // Which Subscriptions a Project has it looks up; no item is written.
  dispatch: { table: ['Query'], reaches: ['project'], readsStream: true, sendsTo: dispatchedPurposes },
  outbox: {
    table: ['BatchGetItem', 'Query', ...transaction],
    reaches: ['project', 'user', 'address', 'stage', 'mail'],
    opens: ['invitation-link', 'reset-link', 'address-link'],
    consumes: 'mail',
  },
  'index-upkeep': {
    table: ['BatchGetItem', 'BatchWriteItem', 'Query', 'DeleteItem'],
    reaches: ['project', 'pending'],
    consumes: 'index-upkeep',
  },
  audit: { table: ['BatchGetItem', 'BatchWriteItem'], reaches: ['project'], consumes: 'audit' },
  match: {
    table: ['BatchGetItem', 'Query', 'PutItem', 'UpdateItem'],
    reaches: ['project'],
    writesOnly: [...deliveryPartitions, ...originPartitions],
    evaluates: true,
    consumes: 'subscriptions',
    postpones: true,
    sendsTo: ['deliveries', 'subscription-status'],
  },
  'subscription-status': {
    table: ['BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'],
    reaches: ['project', 'mail'],
    consumes: 'subscription-status',
    sendsTo: ['deliveries'],
  },
  bus: { table: [], reaches: [], publishes: true, consumes: 'bus' },
  deliver: {
    table: ['BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'],
    reaches: ['project', 'stage'],
    writesOnly: [...deliveryPartitions, ...waitingPartitions, ...runPartitions],
    opens: ['run-token'],
    botSecrets: 'opens',
    runsBots: 'briefly',
    consumes: 'deliveries',
    postpones: true,
    sendsTo: ['deliveries', 'subscription-status'],
  },
  // It reads whole Projects and of their people who they are, and writes what it is itself.
  export: {
    table: ['BatchGetItem', 'BatchWriteItem', 'Query', 'PutItem'],
    reaches: ['project'],
    narrowly: [{ action: 'BatchGetItem', to: ['user'], attributes: ['pk', 'sk', ...inlineAttributes] }],
    writesOnly: exportPartitions,
    consumes: 'exports',
    postpones: true,
  },
  tick: {
    table: ['BatchGetItem', 'BatchWriteItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'],
    reaches: ['project', 'schedule'],
    writesOnly: [...schedulePartitions, ...runPartitions],
    startsJobs: true,
  },
  // A Project that is deleted may have left something anywhere.
  provision: {
    table: ['BatchGetItem', 'BatchWriteItem', 'Query', 'Scan', ...transaction],
    reaches: [
      ...(['project', 'login', 'user', 'address', 'client', 'stage', 'stageIssuers', 'mail'] as const),
      ...(['pending', 'schedule', 'deletion'] as const),
    ],
    opens: ['issuer-secret'],
    sendsTo: ['subscription-status'],
  },
  'stage-keys': { table: ['BatchGetItem', 'PutItem'], reaches: ['stage'], makesStageKeys: true },
  reindex: {
    table: ['BatchGetItem', 'BatchWriteItem', 'Scan', ...transaction],
    reaches: ['project', 'pending', 'reindex'],
    // Hashes and seeds lie in partitions of people, and no key holds a scan.
    scansFor: ['pk', 'sk'],
  },
};
