import { parseKey } from '../../shared/carry/work/queue.ts';
import { coreServices } from '../../shared/composition/core-services.ts';
import { queueHandler } from '../../shared/composition/queues.ts';
import { goOn } from '../../shared/records/export/go-on.ts';

/** An invocation reads on for so long, half of the time it has; the message then comes back. */
const sliceMs = 60_000;

const services = coreServices(process.env);

export const handler = queueHandler(
  process.env,
  'exports',
  services,
  (body) => goOn(services, parseKey(body), services.now() + sliceMs),
  { mayWait: true },
);
