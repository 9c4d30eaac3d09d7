import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
// biome-ignore lint/correctness/noUnresolvedImports: Node has it, Biome does not know it yet
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { connectDynamoDb } from '../../../shared/aws/wire/dynamodb.ts';
import type { Item } from '../../../shared/carry/table/item.ts';
import type { Key } from '../../../shared/carry/table/keys.ts';
import { scanPage } from '../../../shared/carry/table/scan-page.ts';
import { openTable } from '../../../shared/carry/table/table.ts';
import { checkTable, type Violation } from '../../check-table/check-table.ts';
import { prepareRestored } from '../../recover/prepare-restored.ts';
import { callsTo, demoProject, demoToken } from '../demo-projects.ts';
import { readEnvironment } from '../environment.ts';
import type { StoredMail } from '../services/mailbox.ts';
import { sentMails } from '../services/mailbox.ts';
import { supervise } from '../supervise.ts';
import { startTable } from '../table.ts';

/** A data folder, its table, and where its stack is reached: tokens name that place, so it stays the same. */
export interface DrillPlace {
  dataDir: string;
  port: number;
  tableName: string;
}

/** A stack in a process of its own, and what a client does with it. */
export type RunningStack = Awaited<ReturnType<typeof runStack>>;

/** `npm start` on a table of a data folder. */
export async function runStack({ dataDir, port, tableName }: DrillPlace) {
  const { stop } = await supervise({
    command: process.execPath,
    args: ['infra/local/main.ts'],
    env: {
      ...{ PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' },
      ...{ PORT: String(port), PORTICO_DATA_DIR: dataDir, PORTICO_TABLE: tableName },
    },
    ready: /Ctrl-C stops everything/,
    readyTimeoutMs: 240_000,
  });
  const { baseUrl, project } = await demoProject(dataDir);
  const call = callsTo(baseUrl);
  const admin = `admin/projects/${project.id}`;
  return {
    baseUrl,
    project: project.id,
    /** The path of what administrators of the Project call. */
    admin,
    call,
    /** An access token of the Project's API key. */
    clientToken: () => demoToken(baseUrl, project),
    /** @returns the id of the membership */
    async invite(token: string, email: string): Promise<string> {
      const body = { resourceType: 'Practitioner', firstName: 'Dora', lastName: 'Drill', email };
      return String((await call('POST', `${admin}/invite`, { token, body })).json.id);
    },
    /** @returns the id of a new Bot with this code */
    async deploy(token: string, code: string): Promise<string> {
      const made = await call('POST', `${admin}/bot`, { token, body: { name: 'Drill' } });
      await call('POST', `fhir/R4/Bot/${made.json.id}/$deploy`, { token, body: { code } });
      return String(made.json.id);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Runs a command of an operator on the data folder. @throws {Error} with what it said */
export async function operate({ dataDir, tableName }: DrillPlace, ...args: readonly string[]): Promise<void> {
  const own = { NODE_OPTIONS: '', PORTICO_DATA_DIR: dataDir, PORTICO_TABLE: tableName };
  const [script, ...more] = args;
  const all = ['--disable-warning=ExperimentalWarning', `infra/local/${script}.ts`, ...more];
  await promisify(execFile)(process.execPath, all, { env: { ...process.env, ...own } });
}

/** The link in a mail to an address, which may be yet to come. @throws {Error} when none comes */
export async function linkMailedTo(
  { dataDir }: DrillPlace,
  email: string,
  isOther: (id: string) => boolean = () => true,
): Promise<{ id: string; secret: string }> {
  const linkIn = ({ text }: StoredMail) => {
    const fragment = new URLSearchParams(/\/accept#(\S+)/.exec(text)?.[1]);
    return { id: fragment.get('id') ?? '', secret: fragment.get('secret') ?? '' };
  };
  const fits = (mail: StoredMail) => {
    const { id, secret } = linkIn(mail);
    return mail.to.includes(email) && secret !== '' && isOther(id);
  };
  return linkIn(await sentMails(join(dataDir, 'mail')).waitFor(fits));
}

const page = 1000;

/** All items of the table of a running stack at this moment, as point-in-time recovery would have them. */
export async function itemsNow({ dataDir, tableName }: DrillPlace): Promise<Item[]> {
  const { DYNAMODB_ENDPOINT } = await readEnvironment(dataDir);
  const client = connectDynamoDb(DYNAMODB_ENDPOINT);
  const items: Item[] = [];
  let from: Key | undefined;
  do {
    const found = await scanPage(client, tableName, { from, limit: page });
    items.push(...found.items);
    from = found.next;
  } while (from);
  client.destroy();
  return items;
}

/**
 * What DynamoDB and `npm run restore` do on AWS, in a data folder that no stack uses: the items in a new table, which is
 * made fit to be used, and checked. Nothing of it is in its stream.
 */
export async function recoverLocally(
  { dataDir, tableName }: DrillPlace,
  items: readonly Item[],
  lost: string,
) {
  const table = await startTable({ dataDir, tableName });
  const client = connectDynamoDb(table.endpoint);
  const violations: Violation[] = [];
  try {
    const own = openTable(client, tableName, Date.now);
    await own.write(items);
    const scan = (from: Key | undefined) => scanPage(client, tableName, { from, limit: page });
    const common = { table: own, scan, now: Date.now };
    const before = { lost: openTable(client, lost, Date.now), atMs: Date.now() };
    const prepared = await prepareRestored({ ...common, ...before, newId: randomUUID });
    const checking = checkTable({
      ...common,
      // Nothing follows any more.
      settleMs: 0,
      pause: async () => undefined,
      report: (violation) => void violations.push(violation),
    });
    for await (const _ of checking);
    return { prepared, violations };
  } finally {
    client.destroy();
    await table.stop();
    const database = new DatabaseSync(join(dataDir, 'table.db'), { timeout: 10_000 });
    database.prepare('DELETE FROM _stream_records WHERE table_name = ?').run(tableName);
    database.close();
  }
}
