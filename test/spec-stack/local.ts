import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type StreamSpecification, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { expect } from '@jest/globals';
import type { Demo } from '../../infra/local/demo-projects.ts';
import { readEnvironment, useHandlerEnvironment } from '../../infra/local/environment.ts';
import { type MailFault, type SentMails, sentMails } from '../../infra/local/services/mailbox.ts';
import type { Stack } from '../../infra/local/stack.ts';
import type { DeployedFunction } from '../../infra/permissions.ts';
import { tableDefinition } from '../../infra/table-definition.ts';
import { connectDynamoDb } from '../../shared/aws/wire/dynamodb.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import { openTable, type Table } from '../../shared/carry/table/table.ts';
import { roomiestFolder } from '../setup/roomiest-folder.ts';
import { scanAll, scanKeys, withText } from '../storage/scan-all.ts';
import type { Deed } from './stack-process.ts';
import type { Place } from './stacks.ts';
import { openTableFile } from './table-file.ts';

/** A stack on this machine, and what a test may look into. */
export interface Local {
  baseUrl: string;
  demo: Demo;
  mailbox: SentMails & { fail(fault: MailFault): unknown };
  table: { endpoint: string; tableName: string };
  /** Does once more what was left undone, mail above all; it happens by itself every 15 s. */
  sweep(): Promise<unknown>;
  load: Stack['load'];
  /** Of a stack in this process only: see `Stack`. */
  holdChanges: Stack['holdChanges'];
  dataDir: string;
  /** The file of what its functions and their helpers log; of the stack that is kept for specs only. */
  log: string;
  store: Table;
  client: DynamoDBDocumentClient;
  /**
   * Every item of the table that was not there when the test file began, the contents of audit entries as texts.
   * @param partition a text that the partition key of each holds: where few do, that is much less work than all
   */
  scan(partition?: string): Promise<Item[]>;
  /** Writes what the table's stream is not to tell of: nothing comes of it, and it costs half as much. */
  unseen(write: () => Promise<unknown>): Promise<void>;
  stop(): Promise<void>;
}

export interface OwnStack {
  /** What a spec's stack does that `npm start` does when it is told to. */
  searchParameters?: string;
  failedAddresses?: number;
  /** Of the folder, before it starts. */
  prepare?(dataDir: string): unknown;
}

/** A stack in this process: one whose environment, folder or log lines the test file has in its hands. */
export async function startOwnStack({ prepare, ...options }: OwnStack): Promise<Local> {
  const { startStack } = await import('../../infra/local/stack.ts');
  const dataDir = await mkdtemp(join(await roomiestFolder(), 'portico-spec-'));
  await prepare?.(dataDir);
  const from = isSpec() ? process.env.PORTICO_FROM : undefined;
  const stack = await startStack({ dataDir, port: 0, from, ...options });
  return {
    ...stack,
    ...lookInto(stack.table),
    ...{ dataDir, log: '' },
    async stop() {
      await stack.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The stack of this worker of jest (`stacks.ts`), with two Projects that no other test file has. */
export async function useKeptStack(): Promise<Local> {
  const answer = await fetch(`${process.env.PORTICO_SPEC_STACKS}/${process.env.JEST_WORKER_ID}`);
  if (!answer.ok) throw new Error(await answer.text());
  const { dataDir, control, log } = (await answer.json()) as Place;
  // Read by ../setup/quiet-runner.ts when a test fails.
  Object.assign(globalThis, { stackLog: log });
  const ask = async (deed: Deed, given?: unknown) => {
    const answered = await fetch(control, { method: 'POST', body: JSON.stringify({ do: deed, given }) });
    const said = (await answered.json()) as { done: unknown; name: string; message: string };
    if (!answered.ok) throw Object.assign(new Error(said.message), { name: said.name });
    return said.done;
  };
  const load = (async (name: DeployedFunction) => (event: unknown) =>
    ask('call', { name, event })) as Local['load'];
  const environment = await readEnvironment(dataDir);
  const { stop: forgetEnvironment } = useHandlerEnvironment(environment);
  const { DYNAMODB_ENDPOINT: endpoint, TABLE_NAME: tableName, BASE_URL: baseUrl } = environment;
  const table = { endpoint, tableName };
  const inside = lookInto(table);
  const file = openTableFile(dataDir, tableName);
  const earlier = new Set(file ? [] : (await scanKeys(inside.client, tableName)).map(nameOf));
  const demo = (await ask('projects')) as Demo;
  return {
    ...{ baseUrl, demo, table, dataDir, log, ...inside },
    mailbox: { ...sentMails(join(dataDir, 'mail')), fail: (fault) => ask('mailFault', fault) },
    sweep: () => ask('sweep'),
    load,
    holdChanges: () => Promise.reject(new Error('A spec that holds changes needs a stack of its own')),
    scan: async (partition) =>
      file?.scan(partition).map(withText) ??
      (await inside.scan(partition)).filter((item) => !earlier.has(nameOf(item))),
    async stop() {
      // What goes on in them by itself would go on beside the next file.
      const provision = await load('provision');
      for (const { id: project } of demo.projects) await provision({ project, disabled: true });
      await ask('rest');
      file?.close();
      inside.client.destroy();
      await forgetEnvironment();
    },
  };
}

/** Whether the file that runs is one of `test/spec`. */
function isSpec(): boolean {
  return expect.getState().testPath?.includes('/test/spec/') ?? false;
}

function lookInto({ endpoint, tableName }: Local['table']) {
  const client = connectDynamoDb(endpoint);
  const stream = (StreamSpecification: StreamSpecification) =>
    client.send(new UpdateTableCommand({ TableName: tableName, StreamSpecification }));
  return {
    client,
    scan: (partition?: string) => scanAll(client, tableName, partition),
    store: openTable(client, tableName, Date.now),
    async unseen(write: () => Promise<unknown>) {
      await stream({ StreamEnabled: false });
      await write();
      await stream({ StreamEnabled: true, StreamViewType: tableDefinition.stream });
    },
  };
}

function nameOf({ pk, sk }: Item): string {
  return `${pk} ${sk}`;
}
