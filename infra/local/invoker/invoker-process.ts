/**
 * The invoker as a process tree of its own: `node invoker-process.ts guest|asset <folder> <function names>`, with the
 * sandbox of the sources or the unpacked asset of a synthesised invoker. Its environment is empty, as its children's is.
 * What functions/invoker does for the one Project of a Lambda environment, this does for all Projects of a laptop.
 */

import { Gate } from '../../../shared/base/gate.ts';
import type { CompileRequest, RunRequest } from '../../../shared/bots/run/contract.ts';
import { type Deflated, pack, unpack } from '../../../shared/bots/run/payload.ts';
import { SandboxNotStarted } from '../../../shared/bots/sandbox/child-process.ts';
import { createSandbox, superviseCompile } from '../../../shared/bots/sandbox/supervisor.ts';
import { timeoutSeconds } from '../../deployed-functions.ts';
import { startEnvironment } from '../assembly/environment.ts';
import { invokeService, serveAws } from '../services/aws.ts';
import { patienceOfCall, placeIn, tenantPool } from './tenant-pool.ts';

/** A request, and the payload that it came in. */
type Run = (request: RunRequest | CompileRequest, tenantId: string, payload: unknown) => Promise<unknown>;

/** A Bot and the eight that it may call in depth each hold a place: one Project's can all run at once. */
const places = { most: 12, mostPerTenant: 9 };

function ofSources(guestDir: string): { run: Run; stop(): Promise<void> } {
  const pool = tenantPool({
    start: () => createSandbox({ guestDir }),
    end: (sandbox) => sandbox.close(),
    ...{ ...places, idleMs: 60_000 },
  });
  /** Each takes a process of its own, beside the children. */
  const compilers = new Gate(2);
  const run: Run = async (request, tenantId) => {
    if (request.project !== tenantId) throw new Error('The run belongs to another tenant');
    const patienceMs = patienceOfCall(request);
    if (request.kind !== 'compile')
      return pack(await pool.use(tenantId, patienceMs, (sandbox) => sandbox.run(request)));
    const leave = await placeIn(compilers, tenantId, patienceMs);
    return pack(await superviseCompile(guestDir, request).finally(leave));
  };
  return { run, stop: pool.stop };
}

function ofAsset(folder: string): ReturnType<typeof ofSources> {
  const timeoutMs = timeoutSeconds.longInvoker * 1000;
  const invoker = { name: 'invoker', folder, handler: 'index.handler', variables: {}, timeoutMs };
  const pool = tenantPool({
    start: () => startEnvironment(invoker),
    end: (environment) => environment.stop(),
    ...{ ...places, idleMs: 600_000 },
  });
  const run: Run = (request, tenantId, payload) =>
    pool.use(tenantId, patienceOfCall(request), ({ invoke }) => invoke(payload, tenantId));
  return { run, stop: pool.stop };
}

const [, , kind, folder = '', ...functionNames] = process.argv;
const invoker = kind === 'asset' ? ofAsset(folder) : ofSources(folder);
const invoked = {
  functionNames,
  isTenanted: true,
  async invoke(payload: unknown, tenantId: string): Promise<unknown> {
    const request = unpack(payload as RunRequest | CompileRequest | Deflated);
    return invoker.run(request, tenantId, payload).catch((error: unknown) => {
      if (error instanceof SandboxNotStarted) process.stderr.write(`${error.message}: ${error.words}\n`);
      throw error;
    });
  },
  onEventFault: ({ message }: Error) => process.stderr.write(`A run that nobody waited for: ${message}\n`),
};
const server = await serveAws(invokeService(invoked));
process.stdout.write(`invoker listening on ${server.url}\n`);

process.once('SIGTERM', async () => {
  await Promise.all([server.stop(), invoker.stop()]);
  process.exit(0);
});
