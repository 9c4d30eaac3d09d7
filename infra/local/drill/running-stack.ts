import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
// biome-ignore lint/correctness/noUnresolvedImports: Node has it, Biome does not know it yet
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { connectDynamoDb } from '../../../shared/aws/dynamodb.ts';
import { isObject } from '../../../shared/base/values.ts';
import type { Item } from '../../../shared/carry/table/item.ts';
import type { Key } from '../../../shared/carry/table/keys.ts';
import { scanPage } from '../../../shared/carry/table/scan-page.ts';
import { openTable } from '../../../shared/carry/table/table.ts';
import { checkTable, type Violation } from '../../check-table/check-table.ts';
import { prepareRestored } from '../../recover/prepare-restored.ts';
import type { Prepared } from '../../recover/since-lost.ts';
import { type Demo, demoToken } from '../demo-projects.ts';
import { supervise } from '../supervise.ts';
import { startTable } from '../table.ts';

interface Answer {
  status: number;
  /** Undefined when the body is no JSON. */
  json: Record<string, unknown> | undefined;
}

/** A stack in a process of its own, and what a client does with it. */
export interface RunningStack {
  demo: Demo;
  call(method: string, path: string, options?: { token?: string; body?: unknown }): Promise<Answer>;
  /** An access token of the first Project's API key. */
  clientToken(): Promise<string>;
  stop(): Promise<void>;
}

/** A data folder, and where its stack is reached: tokens name that place, so it stays the same. */
export interface Place {
  dataDir: string;
  port: number;
}

/** `npm start` on the given table of a data folder. */
export async function runStack({ dataDir, port }: Place, tableName: string): Promise<RunningStack> {
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
  const demo = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8')) as Demo;
  const call: RunningStack['call'] = async (method, path, { token, body } = {}) => {
    const isForm = body instanceof URLSearchParams;
    const response = await fetch(`${demo.baseUrl}/${path}`, {
      method,
      headers: {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body && !isForm ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: isForm ? body : JSON.stringify(body) } : {}),
    });
    const json: unknown = await response.json().catch(() => undefined);
    return { status: response.status, json: isObject(json) ? { ...json } : undefined };
  };
  return {
    demo,
    call,
    async clientToken() {
      const [project] = demo.projects;
      if (!project) throw new Error('There is no demo Project');
      return demoToken(demo.baseUrl, project);
    },
    stop,
  };
}

/** Runs a command of an operator on the data folder. @throws {Error} with what it said */
export async function operate(place: Place, tableName: string, args: readonly string[]): Promise<void> {
  const own = { NODE_OPTIONS: '', PORTICO_DATA_DIR: place.dataDir, PORTICO_TABLE: tableName };
  const all = ['--disable-warning=ExperimentalWarning', ...args];
  await promisify(execFile)(process.execPath, all, { env: { ...process.env, ...own } });
}

/** How many mails were sent. */
export async function mailsSent(dataDir: string): Promise<number> {
  return (await mailsIn(dataDir)).length;
}

async function mailsIn(dataDir: string): Promise<string[]> {
  const names = await readdir(join(dataDir, 'mail')).catch(() => []);
  return names.filter((name) => name.endsWith('.json')).sort();
}

/** What the newest mail to an address says of its link. @throws {Error} when none comes */
export async function linkMailedTo(
  dataDir: string,
  email: string,
  isOther: (id: string) => boolean = () => true,
): Promise<{ id: string; secret: string }> {
  for (let attempt = 0; attempt < 400; attempt++) {
    for (const name of (await mailsIn(dataDir)).toReversed()) {
      const { to, text } = JSON.parse(await readFile(join(dataDir, 'mail', name), 'utf8')) as {
        to: string[];
        text: string;
      };
      const fragment = new URLSearchParams(/\/accept#(\S+)/.exec(text)?.[1]);
      const [id, secret] = [fragment.get('id'), fragment.get('secret')];
      if (to.includes(email) && id && secret && isOther(id)) return { id, secret };
    }
    await pause(50);
  }
  throw new Error(`No mail came to ${email}`);
}

const page = 1000;

/** All items of a table at this moment, as point-in-time recovery would have them. */
export async function itemsNow(endpoint: string, tableName: string): Promise<Item[]> {
  const client = connectDynamoDb(endpoint);
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
  dataDir: string,
  items: readonly Item[],
  { lost, restored }: { lost: string; restored: string },
): Promise<{ prepared: Prepared; violations: Violation[] }> {
  const table = await startTable({ dataDir, tableName: restored });
  const client = connectDynamoDb(table.endpoint);
  const violations: Violation[] = [];
  try {
    const own = openTable(client, restored, Date.now);
    await own.write(items);
    const scan = (from: Key | undefined) => scanPage(client, restored, { from, limit: page });
    const common = { table: own, scan, now: Date.now };
    const prepared = await prepareRestored({
      ...common,
      lost: openTable(client, lost, Date.now),
      atMs: Date.now(),
      newId: randomUUID,
    });
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
    forgetStream(join(dataDir, 'table.db'), restored);
  }
}

function forgetStream(databaseFile: string, tableName: string): void {
  const database = new DatabaseSync(databaseFile, { timeout: 10_000 });
  database.prepare('DELETE FROM _stream_records WHERE table_name = ?').run(tableName);
  database.close();
}
