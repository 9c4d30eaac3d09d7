import { isOutboxKey } from '../../../shared/carry/table/keys.ts';
import { openTable } from '../../../shared/carry/table/table.ts';
import { type Portico, porticoAt } from '../../spec/portico.ts';
import { scanAll } from '../../storage/scan-all.ts';
import { batchOf } from './batch.ts';
import type { StillStack } from './still-stack.ts';

/** The stack as specs speak to it. Who looks for a mail has sent what waits before. */
export function porticoOf(stack: StillStack): Portico {
  const { baseUrl, demo, client, tableName, mailbox, dataDir, load, stop } = stack;
  const scan = (partition?: string) => scanAll(client, tableName, partition);
  const sweep = async () => {
    const waiting = (await scan()).filter(({ pk }) => isOutboxKey(pk));
    const bodies = waiting.map(({ pk, sk }) => JSON.stringify({ pk, sk }));
    if (bodies.length > 0) await (await stack.load('outbox'))(batchOf(bodies));
  };
  return porticoAt(baseUrl, demo, {
    ...{ baseUrl, demo, client, dataDir, log: '', scan, sweep, load, stop },
    unseen: async (write) => void (await write()),
    table: { endpoint: stack.endpoint, tableName },
    // Nobody follows them.
    holdChanges: async () => async () => undefined,
    store: openTable(client, tableName, Date.now),
    mailbox: {
      ...mailbox,
      async list() {
        await sweep();
        return mailbox.list();
      },
    },
  });
}
