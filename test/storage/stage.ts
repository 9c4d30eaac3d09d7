import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { useLocalCredentials } from '../../infra/local/environment.ts';
import { startTable } from '../../infra/local/table.ts';
import { connectDynamoDb } from '../../shared/aws/wire/dynamodb.ts';
import type { Resource } from '../../shared/base/resource.ts';
import { fileDataKeys } from '../../shared/carry/keys/data-keys.ts';
import { emptyMemory, type Services } from '../../shared/carry/services.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import { type Key, keys } from '../../shared/carry/table/keys.ts';
import { openTable } from '../../shared/carry/table/table.ts';
import { type Caller, callerOf } from '../../shared/identity/gate/access-token.ts';
import { provision } from '../../shared/identity/projects/provision.ts';
import { createActions } from '../../shared/store/items/change.ts';
import { roomiestFolder } from '../setup/roomiest-folder.ts';

/** A real local table with a Project, its administrator's client, and a clock that the test moves. */
export interface Stage {
  client: DynamoDBDocumentClient;
  endpoint: string;
  tableName: string;
  services: Services;
  clock: { nowMs: number };
  stop(): Promise<void>;
}

const mostBytes = 4 * 1024 ** 3;

/**
 * @param onDisk for many items: the engine slows down with every item that it keeps in memory
 * @param hasStream for who follows the table's changes
 */
export async function startStage({ onDisk = false, hasStream = false } = {}): Promise<Stage> {
  useLocalCredentials();
  const dataDir = onDisk ? await mkdtemp(join(await roomiestFolder(mostBytes), 'portico-stage-')) : undefined;
  const { endpoint, tableName, stop } = await startTable({
    ...{ tableName: `portico-${randomUUID()}`, hasStream },
    ...(dataDir ? { dataDir } : {}),
  });
  const client = connectDynamoDb(endpoint);
  const clock = { nowMs: Date.UTC(2026, 0, 31, 12) };
  const now = () => clock.nowMs;
  const services: Services = {
    table: openTable(client, tableName, now),
    publicKeys: { find: async () => undefined, list: async () => [] },
    memory: emptyMemory(),
    log: { info: () => undefined, error: () => undefined },
    accessLog: { write: () => undefined },
    baseUrl: 'https://portico.example',
    now,
    newId: randomUUID,
    subscriptions: { dataKeys: async () => fileDataKeys(Buffer.alloc(32)), allowsLoopback: false },
  };
  return {
    client,
    endpoint,
    tableName,
    services,
    clock,
    async stop() {
      client.destroy();
      await stop();
      if (dataDir) await rm(dataDir, { recursive: true });
    },
  };
}

/** A new Project; answers as whom its administrator's client calls. */
export async function newProject({ services }: Stage, name = 'Clinic'): Promise<Caller<'administrator'>> {
  const made = await provision(services, {
    name,
    admin: {
      email: `admin-${randomUUID()}@example.com`,
      firstName: 'Ada',
      lastName: 'Min',
      password: 'correct horse',
    },
    client: true,
    invitesPerHour: 100_000,
  });
  const clientId = made.client?.id ?? '';
  const item = await getItem(services, keys.client(clientId));
  const claims = {
    loginId: randomUUID(),
    project: made.project.id,
    membershipId: String(item?.membershipId),
    profile: `ClientApplication/${clientId}`,
    clientId,
    subject: clientId,
    scope: 'openid',
  };
  const { loginId, membershipId } = claims;
  const createdAtMs = services.now();
  await services.table.put({ ...keys.login(loginId), kind: 'client', createdAtMs, membershipId });
  return callerOf(claims, 'administrator');
}

export async function getItem({ table }: Pick<Services, 'table'>, key: Key): Promise<Item | undefined> {
  return (await table.read([key])).get(key);
}

/** Writes a resource as it stands; answers its reference. */
export async function newResource(
  { services }: Stage,
  project: string,
  fields: { resourceType: string } & Record<string, unknown>,
): Promise<string> {
  const meta = { versionId: randomUUID(), lastUpdated: new Date(services.now()).toISOString(), project };
  const resource: Resource = { id: randomUUID(), meta, ...fields };
  await services.table.transact(createActions(project, resource));
  return `${resource.resourceType}/${resource.id}`;
}

/** The names of the calls that `run` makes to DynamoDB, repeats of the SDK included. */
export async function callsOf(
  client: DynamoDBDocumentClient,
  run: () => Promise<unknown>,
): Promise<string[]> {
  const calls: string[] = [];
  client.middlewareStack.add(
    (next, context) => (args) => {
      calls.push(String(context.commandName).replace(/Command$/, ''));
      return next(args);
    },
    { step: 'finalizeRequest', priority: 'low', name: 'count' },
  );
  try {
    await run();
  } finally {
    client.middlewareStack.remove('count');
  }
  return calls;
}

/** What DynamoDB tells of a write when it is asked: of one table a list when several could be meant. */
interface Told {
  ConsumedCapacity?: { CapacityUnits?: number } | { CapacityUnits?: number }[];
}

export interface Spent {
  /** Names of the calls, in their order. */
  calls: string[];
  /** Of these, the calls that write. */
  writes: string[];
  /** What their transactions write. */
  items: number;
  /** Capacity units as DynamoDB counts them. */
  readUnits: number;
  writeUnits: number;
}

/** All that some work asks of the table. */
export async function spentBy(client: DynamoDBDocumentClient, work: () => Promise<unknown>): Promise<Spent> {
  const spent: Spent = { calls: [], writes: [], items: 0, readUnits: 0, writeUnits: 0 };
  client.middlewareStack.add(
    (call, context) => async (args) => {
      const name = String(context.commandName).replace(/Command$/, '');
      const input = { ...args.input, ReturnConsumedCapacity: 'TOTAL' } as typeof args.input;
      const answer = await call({ ...args, input });
      const told = [(answer.output as Told).ConsumedCapacity ?? []].flat();
      const units = told.reduce((sum, { CapacityUnits }) => sum + (CapacityUnits ?? Number.NaN), 0);
      const isWrite = /Put|Update|Delete|Write/.test(name);
      spent.calls.push(name);
      if (isWrite) spent.writes.push(name);
      spent.items += (args.input as { TransactItems?: unknown[] }).TransactItems?.length ?? 0;
      spent[isWrite ? 'writeUnits' : 'readUnits'] += units;
      return answer;
    },
    { step: 'initialize', name: 'spent' },
  );
  await work().finally(() => client.middlewareStack.remove('spent'));
  return spent;
}

export function person(change: Record<string, unknown> = {}) {
  return {
    resourceType: 'Practitioner',
    firstName: 'Ann',
    lastName: 'Lee',
    email: `person-${randomUUID()}@example.com`,
    ...change,
  };
}
