import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
// biome-ignore lint/correctness/noUnresolvedImports: Node has it, Biome does not know it yet
import { DatabaseSync } from 'node:sqlite';
import {
  CreateTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { tableDefinition } from '../table-definition.ts';
import { clientOptions, usualTable } from './environment.ts';
import { freePort } from './gateway/listen.ts';
import { supervise } from './supervise.ts';

/**
 * The engine finds the number of a new stream record by reading all records that there ever were: at
 * 10,000 records a transaction takes ten times as long as on an empty table. With this index of its
 * file it takes the same time always. Safe beside the running engine: SQLite locks the file.
 */
function indexStream(databaseFile: string): void {
  const database = new DatabaseSync(databaseFile, { timeout: 10_000 });
  try {
    database.exec(
      'CREATE INDEX IF NOT EXISTS stream_order ON _stream_records (table_name, CAST(sequence_number AS INTEGER))',
    );
  } finally {
    database.close();
  }
}

export interface LocalTable {
  endpoint: string;
  tableName: string;
  stop(): Promise<void>;
}

/** What follows a table is kept in files of its own: a restored one knows nothing of the queues of the lost one. */
export function fileOf(tableName: string, name: string): string {
  return tableName === usualTable ? name : `${tableName}-${name}`;
}

interface TableOptions {
  /** The engine keeps its file in here; without it everything is in memory. */
  dataDir?: string;
  /** An engine that runs already (DynamoDB Local, a real account); by default DYNAMODB_ENDPOINT. */
  endpoint?: string | undefined;
  tableName?: string;
  /** False where nobody follows the table: the engine takes longer for each write by all the changes before it. */
  hasStream?: boolean;
}

/**
 * Starts the embedded DynamoDB and creates the table if it is missing. Without `dataDir` each call
 * has an empty table of its own, on an engine that runs already too: what a test wants.
 */
export async function startTable(options: TableOptions = {}): Promise<LocalTable> {
  const running = options.endpoint ?? process.env.DYNAMODB_ENDPOINT;
  const engine = running
    ? { endpoint: running, stop: async () => undefined }
    : await startEngine(options.dataDir);
  const tableName = options.tableName ?? (options.dataDir ? usualTable : `portico-${randomUUID()}`);
  try {
    await ensureTable(engine.endpoint, tableName, options.hasStream ?? true);
  } catch (error) {
    await engine.stop();
    throw error;
  }
  return { ...engine, tableName };
}

async function startEngine(dataDir: string | undefined): Promise<Pick<LocalTable, 'endpoint' | 'stop'>> {
  if (dataDir) await mkdir(dataDir, { recursive: true });
  const file = dataDir && join(dataDir, 'table.db');
  const engine = await serve(file).catch(() => serve(file));
  if (file) indexStream(file);
  return engine;
}

/** The engine cannot choose a port itself: it would not say which. Fails when another process takes it in between. */
async function serve(file: string | undefined) {
  const port = await freePort();
  const { stop } = await supervise({
    command: dynoxidePath(),
    args: ['serve', '--port', String(port), ...(file ? ['--db-path', file] : [])],
    env: {},
    ready: /listening on/,
    readyTimeoutMs: 60_000,
  });
  return { endpoint: `http://127.0.0.1:${port}`, stop };
}

function dynoxidePath(): string {
  const name = `@dynoxide/${process.platform}-${process.arch}/dynoxide`;
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    throw new Error(`${name} is not installed: run a DynamoDB yourself and set DYNAMODB_ENDPOINT`);
  }
}

async function ensureTable(endpoint: string, tableName: string, hasStream: boolean): Promise<void> {
  const client = new DynamoDBClient({ endpoint, ...clientOptions });
  const { partitionKey, sortKey, billingMode, stream, ttlAttribute } = tableDefinition;
  const StreamSpecification = { StreamEnabled: true, StreamViewType: stream };
  try {
    await client.send(
      new CreateTableCommand({
        TableName: tableName,
        BillingMode: billingMode,
        AttributeDefinitions: [partitionKey, sortKey].map(({ name: AttributeName, type: AttributeType }) => ({
          AttributeName,
          AttributeType,
        })),
        KeySchema: [
          { AttributeName: partitionKey.name, KeyType: 'HASH' },
          { AttributeName: sortKey.name, KeyType: 'RANGE' },
        ],
        ...(hasStream ? { StreamSpecification } : {}),
      }),
    );
    await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName: tableName });
    const TimeToLiveSpecification = { Enabled: true, AttributeName: ttlAttribute };
    await client.send(new UpdateTimeToLiveCommand({ TableName: tableName, TimeToLiveSpecification }));
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  } finally {
    client.destroy();
  }
}
