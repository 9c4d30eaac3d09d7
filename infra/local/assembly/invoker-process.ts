/**
 * The synthesised invoker as a process tree of its own: `node invoker-process.ts <unpacked asset> <function names>`.
 * Its environment is empty, as the template says.
 */

import { PoolBusy } from '../../../shared/sandbox/pool.ts';
import { timeoutSeconds } from '../../timeouts.ts';
import { serveInvokeApi } from '../lambda/invoke-api.ts';
import { inTurn } from '../stream/in-turn.ts';
import { startEnvironment } from './environment.ts';
import { environmentPool } from './environment-pool.ts';

const [, , folder = '', ...functionNames] = process.argv;
const isBusy = (error: unknown) => error instanceof PoolBusy;
/** As many as `../lambda/invoker-process.ts` has children. */
const pool = environmentPool({
  start: () =>
    startEnvironment({
      ...{ name: 'invoker', folder, handler: 'index.handler', variables: {} },
      timeoutMs: timeoutSeconds.longInvoker * 1000,
    }),
  most: 12,
  mostPerTenant: 9,
});
const answer = inTurn({
  run: ({ event, tenantId }: { event: unknown; tenantId: string }) => pool.invoke(event, tenantId),
  isBusy,
  mostWaiting: 64,
  patienceMs: 5_000,
});

const server = await serveInvokeApi({
  functionNames,
  isTenanted: true,
  invoke: (event, tenantId) => answer({ event, tenantId }),
  isThrottle: isBusy,
  onEventFault: ({ message }) => process.stderr.write(`A run that nobody waited for: ${message}\n`),
});
process.stdout.write(`invoker listening on ${server.url}\n`);

process.once('SIGTERM', async () => {
  await Promise.all([server.stop(), pool.stop()]);
  process.exit(0);
});
