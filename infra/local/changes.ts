import { join } from 'node:path';
import type { ScheduledEvent } from 'aws-lambda';
import { purposes } from '../../shared/queue/purposes.ts';
import { queues as definitions } from '../queues.ts';
import { streamFilters } from '../stream-filters.ts';
import type { handlerLoader } from './gateway/handlers.ts';
import type { LocalQueues } from './queue/local-queues.ts';
import { type FollowedStream, followStream } from './stream/stream.ts';
import { fileOf, type LocalTable } from './table.ts';

interface Changes {
  dataDir: string;
  table: Pick<LocalTable, 'endpoint' | 'tableName'>;
  queues: LocalQueues;
  load: ReturnType<typeof handlerLoader>;
  /** Notes what has to be stopped. */
  keep<Part extends { stop(): Promise<void> }>(starting: Promise<Part>): Promise<Part>;
  onFault(error: Error): void;
}

/** What is consumed in the order of `purposes`, each by its own function. */
const consumers = purposes.map((purpose) => ({ purpose, name: definitions[purpose].consumer }));

interface FollowedChanges extends Pick<FollowedStream, 'hold'> {
  /** What the schedule does on AWS: calls each function of a queue to sweep. */
  sweep(): Promise<void>;
}

/** Feeds what changes in the table to the dispatcher, and each queue to its function. */
export async function followChanges(changes: Changes): Promise<FollowedChanges> {
  const { dataDir, table, queues, load, keep, onFault } = changes;
  const loaded = await Promise.all(
    consumers.map(async ({ purpose, name }) => ({ purpose, handler: await load(name) })),
  );
  for (const { purpose, handler } of loaded) await keep(queues.follow(purpose, handler));
  const positionFile = join(dataDir, fileOf(table.tableName, 'stream.json'));
  const filters = Object.values(streamFilters);
  const consume = await load('dispatch');
  const { hold } = await keep(followStream({ ...table, positionFile, filters, consume, onFault }));
  const tick = { source: 'aws.events', 'detail-type': 'Scheduled Event' } as ScheduledEvent;
  const sweep = async () => {
    await Promise.all(loaded.map(({ handler }) => handler(tick)));
  };
  return { hold, sweep };
}
