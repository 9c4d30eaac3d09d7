import { randomUUID } from 'node:crypto';
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

/** Queues as SQS has them, in one file; what was sent is there after a `kill -9`. */
export interface QueueStore {
  /** @returns their ids */
  send(queue: string, bodies: readonly string[]): string[];
  receive(queue: string, receiving: Receiving): StoredMessage[];
  /** Takes a delivery; nothing when it has been delivered again since. */
  remove(receipt: string): void;
  count(queue: string): number;
  /** When the next message is to be had, in ms since the epoch; undefined when there is none. */
  nextAtMs(queue: string): number | undefined;
  /** @returns ends it */
  onSend(queue: string, listener: () => void): () => void;
  close(): void;
}

const schema = `
  CREATE TABLE IF NOT EXISTS message (
    n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE, queue TEXT, body TEXT,
    sent_at INTEGER, hidden_until INTEGER DEFAULT 0, receives INTEGER DEFAULT 0
  );
  CREATE INDEX IF NOT EXISTS message_queue ON message (queue, hidden_until, n);
`;

/** SQS's longest retention. */
const keptMs = 14 * 86_400_000;

export function openQueueStore(file: string, now: () => number = Date.now): QueueStore {
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${schema}`);
  // Nobody is at work yet: what a process that died had received is to be had again at once.
  database.exec('UPDATE message SET hidden_until = 0 WHERE hidden_until > 0');
  database.prepare('DELETE FROM message WHERE sent_at < ?').run(now() - keptMs);
  const insert = database.prepare('INSERT INTO message (id, queue, body, sent_at) VALUES (?, ?, ?, ?)');
  const visible = database.prepare(
    'SELECT id, body, receives, sent_at FROM message WHERE queue = ? AND hidden_until <= ? ORDER BY n LIMIT ?',
  );
  const hide = database.prepare('UPDATE message SET hidden_until = ?, receives = receives + 1 WHERE id = ?');
  const bury = database.prepare('UPDATE message SET queue = ?, receives = 0 WHERE id = ?');
  const remove = database.prepare('DELETE FROM message WHERE id = ? AND receives = ?');
  const count = database.prepare('SELECT count(*) AS count FROM message WHERE queue = ?');
  const next = database.prepare('SELECT min(hidden_until) AS at FROM message WHERE queue = ?');
  const listeners = new Map<string, Set<() => void>>();
  const tell = (queue: string) => {
    for (const listener of listeners.get(queue) ?? []) listener();
  };

  function take(row: Record<string, unknown>, { hiddenMs, dead }: Receiving): StoredMessage | undefined {
    const id = String(row.id);
    const receives = Number(row.receives) + 1;
    if (dead && receives > dead.mostReceives) {
      bury.run(dead.queue, id);
      return undefined;
    }
    hide.run(now() + hiddenMs, id);
    return {
      id,
      body: String(row.body),
      receives,
      sentAtMs: Number(row.sent_at),
      receipt: `${id}/${receives}`,
    };
  }

  return {
    send(queue, bodies) {
      const ids = bodies.map(() => randomUUID());
      together(database, () => {
        for (const [i, body] of bodies.entries()) insert.run(ids[i] ?? '', queue, body, now());
      });
      tell(queue);
      return ids;
    },
    receive(queue, receiving) {
      return together(database, () =>
        visible.all(queue, now(), receiving.most).flatMap((row) => take(row, receiving) ?? []),
      );
    },
    remove(receipt) {
      const [id = '', receives = ''] = receipt.split('/');
      remove.run(id, Number(receives));
    },
    count: (queue) => Number(count.get(queue)?.count),
    nextAtMs(queue) {
      const at = next.get(queue)?.at;
      return typeof at === 'number' ? at : undefined;
    },
    onSend(queue, listener) {
      const all = listeners.get(queue) ?? new Set();
      listeners.set(queue, all.add(listener));
      return () => all.delete(listener);
    },
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
