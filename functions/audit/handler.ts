import { parseKey } from '../../shared/carry/work/queue.ts';
import { coreServices } from '../../shared/composition/core-services.ts';
import { queueHandler } from '../../shared/composition/queues.ts';
import { indexEntry } from '../../shared/store/items/reindex.ts';

const services = coreServices(process.env);

export const handler = queueHandler(process.env, 'audit', services, (body) =>
  indexEntry(services.table, parseKey(body)),
);
