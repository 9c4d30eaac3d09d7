import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
// biome-ignore lint/correctness/noUnresolvedImports: Node has it, Biome does not know it yet
import { DatabaseSync } from 'node:sqlite';

export interface StoredMessage {
  id: string;
  body: string;
  /** How often it has been delivered, this time included. */
  receives: number;
  sentAtMs: number;
  /** By which this delivery of it is taken. */
  receipt: string;
}

interface Receiving {
  most: number;
  /** For so long the messages are kept from everybody else. */
  hiddenMs: number;
  /** Where a message goes that was delivered so often. */
  dead?: { queue: string; mostReceives: number };
}

/** A message as SQS's clients send it. */
export interface SentMessage {
  MessageBody: string;
  /** Of named messages: those of one group are received one after the other. Of others: whose they are. */
  MessageGroupId?: string | undefined;
  /** Its name: one with the same within five minutes is not kept again. */
  MessageDeduplicationId?: string | undefined;
  DelaySeconds?: number;
}

export type QueueStore = ReturnType<typeof openQueueStore>;

const schema = `
  CREATE TABLE IF NOT EXISTS queued (
    n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE, queue TEXT, "group" TEXT, body TEXT,
    sent_at INTEGER, hidden_until INTEGER, receives INTEGER DEFAULT 0, share TEXT
  );
  CREATE INDEX IF NOT EXISTS queued_next ON queued (queue, hidden_until, n);
  CREATE INDEX IF NOT EXISTS queued_group ON queued (queue, "group", n) WHERE "group" IS NOT NULL;
  CREATE TABLE IF NOT EXISTS sent_name (queue TEXT, name TEXT, id TEXT, at INTEGER, PRIMARY KEY (queue, name));
`;

/** The first of a group that is there keeps those behind it, hidden or not. */
const isFirst = `("group" IS NULL OR NOT EXISTS (SELECT 1 FROM queued AS other
  WHERE other.queue = own.queue AND other."group" = own."group" AND other.n < own.n))`;

/** SQS: so long a message's name is remembered. */
const namedMs = 300_000;

/** It reads all names; whether one still counts is asked for each message that has one. */
const forgetEveryMs = 10_000;

/** SQS's longest retention. */
const keptMs = 14 * 86_400_000;

/** Queues as SQS has them, in one file; what was sent is there after a `kill -9`. */
export function openQueueStore(file: string, now: () => number = Date.now) {
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${schema}`);
  // Folders of earlier releases have no shares.
  const columns = database.prepare("SELECT name FROM pragma_table_info('queued')").all();
  if (!columns.some(({ name }) => name === 'share'))
    database.exec('ALTER TABLE queued ADD COLUMN share TEXT');
  // Nobody is at work yet: what a process that died had received is to be had again at once.
  database.exec('UPDATE queued SET hidden_until = 0 WHERE hidden_until > 0');
  database.prepare('DELETE FROM queued WHERE sent_at < ?').run(now() - keptMs);
  const insert = database.prepare(
    'INSERT INTO queued (id, queue, "group", body, sent_at, hidden_until, share) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const named = database.prepare('SELECT id FROM sent_name WHERE queue = ? AND name = ? AND at > ?');
  const name = database.prepare('INSERT OR REPLACE INTO sent_name (queue, name, id, at) VALUES (?, ?, ?, ?)');
  const forget = database.prepare('DELETE FROM sent_name WHERE at <= ?');
  const visible = database.prepare(
    `SELECT id, body, receives, sent_at FROM queued AS own
     WHERE queue = ? AND hidden_until <= ? AND ${isFirst}
     ORDER BY row_number() OVER (PARTITION BY coalesce(share, id) ORDER BY n), n LIMIT ?`,
  );
  const postpone = database.prepare('UPDATE queued SET hidden_until = ? WHERE id = ? AND receives = ?');
  const hide = database.prepare('UPDATE queued SET hidden_until = ?, receives = receives + 1 WHERE id = ?');
  const bury = database.prepare('UPDATE queued SET queue = ?, "group" = NULL, receives = 0 WHERE id = ?');
  const move = database.prepare(
    'UPDATE queued SET queue = ?, hidden_until = 0, receives = 0 WHERE queue = ?',
  );
  const remove = database.prepare('DELETE FROM queued WHERE id = ? AND receives = ?');
  const count = database.prepare('SELECT count(*) AS count FROM queued WHERE queue = ?');
  const next = database.prepare(
    `SELECT min(hidden_until) AS at FROM queued AS own WHERE queue = ? AND ${isFirst}`,
  );
  let forgotAtMs = 0;
  /** Named by a queue, when a message of it may be had, or had at another time. */
  const told = new EventEmitter();

  function take(
    queue: string,
    row: Record<string, unknown>,
    { hiddenMs, dead }: Receiving,
  ): StoredMessage | undefined {
    const id = String(row.id);
    const receives = Number(row.receives) + 1;
    if (dead && receives > dead.mostReceives) {
      bury.run(dead.queue, id);
      return undefined;
    }
    hide.run(now() + hiddenMs, id);
    const receipt = `${queue}/${id}/${receives}`;
    return { id, body: String(row.body), receives, sentAtMs: Number(row.sent_at), receipt };
  }

  function put(queue: string, message: SentMessage): string {
    const { MessageBody, MessageGroupId = null, MessageDeduplicationId: own, DelaySeconds } = message;
    const known = own === undefined ? undefined : named.get(queue, own, now() - namedMs)?.id;
    if (known !== undefined) return String(known);
    const id = randomUUID();
    const hiddenUntil = DelaySeconds ? now() + DelaySeconds * 1000 : 0;
    const [group, share] = own === undefined ? [null, MessageGroupId] : [MessageGroupId, null];
    insert.run(id, queue, group, MessageBody, now(), hiddenUntil, share);
    if (own !== undefined) name.run(queue, own, id, now());
    return id;
  }

  return {
    /** @returns their ids */
    send(queue: string, messages: readonly SentMessage[]): string[] {
      const ids = together(database, () => messages.map((message) => put(queue, message)));
      told.emit(queue);
      return ids;
    },
    receive(queue: string, receiving: Receiving): StoredMessage[] {
      if (now() - forgotAtMs > forgetEveryMs) {
        forgotAtMs = now();
        forget.run(forgotAtMs - namedMs);
      }
      return together(database, () =>
        visible.all(queue, now(), receiving.most).flatMap((row) => take(queue, row, receiving) ?? []),
      );
    },
    /** Takes a delivery; nothing when it has been delivered again since. */
    remove(receipt: string): void {
      const [queue = '', id = '', receives = ''] = receipt.split('/');
      // Those behind it in its group are to be had now.
      if (remove.run(id, Number(receives)).changes > 0) told.emit(queue);
    },
    /** Keeps a delivery that is not taken from everybody for so long. */
    postpone(receipt: string, hiddenMs: number): void {
      const [queue = '', id = '', receives = ''] = receipt.split('/');
      postpone.run(now() + hiddenMs, id, Number(receives));
      // Whoever waits for the next message waits for another time now.
      told.emit(queue);
    },
    count: (queue: string) => Number(count.get(queue)?.count),
    /** Puts all messages of a queue into another, as if they had just been sent there. */
    move(from: string, to: string): void {
      move.run(to, from);
      told.emit(to);
    },
    /** When the next message is to be had, in ms since the epoch; undefined when there is none. */
    nextAtMs(queue: string): number | undefined {
      const at = next.get(queue)?.at;
      return typeof at === 'number' ? at : undefined;
    },
    told,
    close: () => database.close(),
  };
}

function together<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}
