/**
 * The invoker as a process tree of its own: `node invoker-process.ts <guest folder> <function names>`.
 * Its environment is empty, as its children's is. What functions/invoker does for the one Project of a
 * Lambda environment, this does for all Projects of a laptop.
 */

import type { Compiled, CompileRequest, RunRequest, RunResult } from '../../../shared/bot/contract.ts';
import { type Deflated, pack, unpack } from '../../../shared/bot/payload.ts';
import { SandboxNotStarted } from '../../../shared/sandbox/child-process.ts';
import { createPool, PoolBusy } from '../../../shared/sandbox/pool.ts';
import { inTurn } from '../stream/in-turn.ts';
import { serveInvokeApi } from './invoke-api.ts';

const [, , guestDir = '', ...functionNames] = process.argv;
/** Nothing has run: the caller may repeat it. */
const isBusy = (error: unknown) => error instanceof PoolBusy;
/** A Bot and the eight that it may call in depth each hold a child: one Project's can all run at once. */
const pool = createPool({ guestDir, children: 12, perProject: 9, idleMs: 60_000 });
const answer = inTurn({
  run: (request: RunRequest | CompileRequest): Promise<RunResult | Compiled> =>
    request.kind === 'compile' ? pool.compile(request) : pool.run(request),
  isBusy,
  mostWaiting: 64,
  patienceMs: 5_000,
});

const server = await serveInvokeApi({
  functionNames,
  isTenanted: true,
  async invoke(payload, tenantId) {
    const request = unpack(payload as RunRequest | CompileRequest | Deflated);
    if (request.project !== tenantId) throw new Error('The run belongs to another tenant');
    try {
      return pack(await answer(request));
    } catch (error) {
      if (error instanceof SandboxNotStarted) process.stderr.write(`${error.message}: ${error.words}\n`);
      throw error;
    }
  },
  isThrottle: isBusy,
  onEventFault: ({ message }) => process.stderr.write(`A run that nobody waited for: ${message}\n`),
});
process.stdout.write(`invoker listening on ${server.url}\n`);

process.once('SIGTERM', async () => {
  await Promise.all([server.stop(), pool.close()]);
  process.exit(0);
});
