/** One compilation in a process of its own, which is killed when it has answered, or sooner. */

import type { Compiled, CompileRequest } from '../bot/contract.ts';
import { startChild } from './child-process.ts';
import { tooDeep } from './compiler/too-deep.ts';
import { judgeCompiled } from './judge-compiled.ts';
import type { FromCompiler, ToCompiler } from './protocol.ts';

interface Bounds {
  timeMs: number;
  /** Resident, in MiB. */
  memoryMb: number;
}

/** An honest file of 4 MiB takes some 2 s and 350 MiB. */
const USUAL: Bounds = { timeMs: 10_000, memoryMb: 640 };
const HEAP_MB = 256;
const MEMORY_EVERY_MS = 20;

/**
 * Never rejects because of the text: a compiler that traps, loops or runs out of memory is an answer to its
 * author. Rejects with SandboxNotStarted when the process does not come up.
 */
export async function superviseCompile(
  guestDir: string,
  { filename, source, deadlineAtMs }: CompileRequest,
  bounds: Bounds = USUAL,
): Promise<Compiled> {
  const timeMs = Math.max(1, Math.min(bounds.timeMs, deadlineAtMs - Date.now()));
  const { promise, resolve, reject } = Promise.withResolvers<Compiled>();
  const child = startChild<ToCompiler, FromCompiler>({
    guestDir,
    script: 'compiler.cjs',
    heapMb: HEAP_MB,
    addons: false,
  });
  child.keepAlive(true);
  child.onMessage = (message) => {
    if (message.type === 'compiled') resolve(judgeCompiled(message.compiled));
  };
  const overdue = setTimeout(
    () => resolve(refused(`The code could not be compiled within ${timeMs} ms`)),
    timeMs,
  );
  const measuring = setInterval(() => {
    if ((child.residentMb() ?? 0) > bounds.memoryMb) {
      resolve(refused(`The code takes more than ${bounds.memoryMb} MiB of memory to be compiled`));
    }
  }, MEMORY_EVERY_MS);
  child.ready.then(() => {
    child.onEnd = () => resolve(refused(tooDeep));
    child.send({ type: 'compile', filename, source });
  }, reject);
  try {
    return await promise;
  } finally {
    clearTimeout(overdue);
    clearInterval(measuring);
    child.kill();
  }
}

function refused(message: string): Compiled {
  return { kind: 'refused', message };
}
