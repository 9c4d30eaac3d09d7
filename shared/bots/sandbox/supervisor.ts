/** One kept child process for one Project: runs Bots in it one after another and replaces it when in doubt. */

import type { Reach } from '../../carry/address-guard/guarded-request.ts';
import type { Compiled, CompileRequest, RunOutcome, RunRequest, RunResult } from '../run/contract.ts';
import { type Child, startChild, watchChild } from './child-process.ts';
import { judgeCompiled, judgeOutcome } from './judge.ts';
import {
  type FromChild,
  type FromCompiler,
  overMemory,
  overTime,
  type ToChild,
  type ToCompiler,
  tooDeep,
} from './protocol.ts';
import { createRunLog, maskOf } from './run-log.ts';
import { createRunNetwork, watchCancel } from './run-network.ts';

export interface SandboxOptions extends Reach {
  /** Made by infra/guest/build.ts. */
  guestDir: string;
}

export interface Sandbox {
  /**
   * Never rejects because of a Bot: whatever it does becomes a RunResult. Rejects with an Error when no
   * child can be started or the sandbox is closed. One run at a time; others wait their turn.
   */
  run: (request: RunRequest) => Promise<RunResult>;
  /** Takes its turn among the runs. Never rejects because of the author's text; otherwise as `run`. */
  compile: (request: CompileRequest) => Promise<Compiled>;
  /** Kills the child. Runs not yet done end as if their time were up. */
  close: () => Promise<void>;
}

/** A child whose memory has grown by this much since its first run is not kept. */
const GROWTH_MB = 96;
/** How long a child may take to drop an isolate before it is replaced: time in which it could run. */
const IDLE_WITHIN_MS = 300;
/** Some 150 ms are usual; on a busy machine whatever the run can spare. */
const READY_WITHIN_MS = 10_000;
/** The heap of the child's own code. A Bot's heap is the isolate's. */
const OWN_HEAP_MB = 96;

type RunChild = Child<ToChild, FromChild>;

interface Kept {
  child: RunChild;
  project: string | undefined;
  firstMb: number | undefined;
  /** Whether it has dropped the isolate of the run before. */
  idle: Promise<boolean>;
}

/** Forks the first child at once, so that its start overlaps the caller's own. */
export function createSandbox(options: SandboxOptions): Sandbox {
  let closed = false;
  let last: Promise<unknown> = Promise.resolve();
  let kept: Kept | undefined = start();

  function start(): Kept {
    const { guestDir } = options;
    const program = { guestDir, script: 'child.cjs', heapMb: OWN_HEAP_MB, addons: true };
    const child = startChild<ToChild, FromChild>(program);
    return { child, project: undefined, firstMb: undefined, idle: Promise.resolve(true) };
  }

  async function childFor({ project, deadlineAtMs, limits }: RunRequest): Promise<Kept> {
    kept?.child.keepAlive(true);
    if (kept && !(await isFit(kept, project))) discard();
    kept ??= start();
    kept.project = project;
    const { child } = kept;
    child.keepAlive(true);
    const spareMs = deadlineAtMs - limits.timeoutMs - Date.now();
    const timer = setTimeout(child.kill, Math.max(READY_WITHIN_MS, spareMs));
    await child.ready.finally(() => clearTimeout(timer));
    kept.firstMb ??= child.residentMb();
    return kept;
  }

  function discard() {
    kept?.child.kill();
    kept = undefined;
  }

  async function runNow(request: RunRequest): Promise<RunResult> {
    const current = await childFor(request);
    const { result, idle } = superviseRun(current.child, request, options);
    const late = result.then(() => afterRunning(IDLE_WITHIN_MS)).then(() => false);
    current.idle = Promise.race([idle, late]);
    const answer = await result;
    current.child.keepAlive(false);
    if (current.child.ended) {
      // Begun now, the next one is ready when it is needed.
      kept = closed ? undefined : start();
    }
    return answer;
  }

  /** When what was asked for before has ended. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(() => {
      if (closed) throw new Error('The sandbox is closed');
      return work();
    });
    last = result.catch(() => undefined);
    return result;
  }

  return {
    run: (request) => inTurn(() => runNow(request)),
    compile: (request) => inTurn(() => superviseCompile(options.guestDir, request)),
    close: async () => {
      closed = true;
      discard();
      await last;
    },
  };
}

/** Whether a run of the Project may go into this child. */
async function isFit({ child, project, firstMb, idle }: Kept, wanted: string): Promise<boolean> {
  if (!child.alive() || (project ?? wanted) !== wanted || !(await idle)) return false;
  return (child.residentMb() ?? 0) <= (firstMb ?? Number.POSITIVE_INFINITY) + GROWTH_MB;
}

/** How finely the time is counted: of a freeze no more than this counts. */
const TICK_MS = 25;

/**
 * Resolves when this process has been running for so long, in ms. Between two requests Lambda freezes an
 * environment for any time, this process and its children alike: that does not count, as nobody could do anything.
 */
function afterRunning(ms: number): Promise<void> {
  return new Promise((resolve) => {
    let left = Math.ceil(ms / TICK_MS);
    const ticking = setInterval(() => {
      left -= 1;
      if (left > 0) return;
      clearInterval(ticking);
      resolve();
    }, TICK_MS).unref();
  });
}

/** The child ends a run itself; it is killed when it has not done so by then. */
const GRACE_MS = 200;
/** What a run may take beside its heap: code, the young generation, copies of input and result. */
const BESIDE_HEAP_MB = 64;
let lastRun = 0;

/**
 * Sends the run to a ready, idle child, which is killed when it exceeds its time or memory. All that the child says
 * is checked. `result` never rejects; `idle` is true when the child has dropped the isolate, false when it has ended.
 */
export function superviseRun(child: RunChild, request: RunRequest, reach: Reach = {}) {
  const { kind, code, input, event, limits, api } = request;
  const beganAtMs = Date.now();
  const timeMs = Math.floor(Math.min(limits.timeoutMs, request.deadlineAtMs - beganAtMs));
  const { promise: result, resolve } = Promise.withResolvers<RunResult>();
  const { promise: idle, resolve: setIdle } = Promise.withResolvers<boolean>();
  const mask = maskOf(event.secrets);
  const log = createRunLog(limits.logBytes, mask);
  const end = (outcome: RunOutcome) =>
    resolve({ outcome, ...log.read(), durationMs: Date.now() - beganAtMs });
  if (!(timeMs > 0)) {
    end({ kind: 'limit', limit: 'time', message: 'No time was left to run the Bot' });
    setIdle(true);
    return { result, idle };
  }

  lastRun += 1;
  const run = lastRun;
  const network = createRunNetwork(request, reach, (answer) => child.send({ ...answer, run }));
  const finish = (outcome: RunOutcome) => {
    unwatch();
    uncancel();
    network.close();
    end(outcome);
  };
  const killed = (outcome: RunOutcome) => {
    finish(outcome);
    child.kill();
  };
  const memoryMb = (child.residentMb() ?? 0) + limits.memoryMb + BESIDE_HEAP_MB;
  const unwatch = watchChild(child, { timeMs: timeMs + GRACE_MS, memoryMb }, (which) =>
    killed(which === 'time' ? overTime(timeMs) : overMemory(limits)),
  );
  const uncancel = watchCancel(request, reach, () =>
    killed({ kind: 'cancelled', message: 'The run was cancelled' }),
  );

  child.onEnd = () => {
    const message = 'The process of the Bot ended: out of memory, or a fault of the engine';
    finish({ kind: 'limit', limit: 'memory', message });
    setIdle(false);
  };
  child.onMessage = (message) => {
    if (message.type === 'ready' || message.run !== run) return;
    switch (message.type) {
      case 'log':
        return log.add(message.level, message.text);
      case 'fetch':
        return network.fetch(message.id, message.request);
      case 'fetch-abort':
        return network.abort(message.id);
      case 'done':
        return finish(judgeOutcome(message.outcome, limits, mask));
      case 'idle':
        return setIdle(true);
    }
  };
  // The token stays here.
  const toRun = { kind, code, input, event, limits, timeMs, ...(api && { apiBaseUrl: api.baseUrl }) };
  child.send({ type: 'run', run, request: toRun });
  return { result, idle };
}

/** Of the processor, and resident: an honest file of 4 MiB takes some 2 s and 350 MiB. */
const COMPILER = { cpuMs: 10_000, memoryMb: 640 };
const COMPILER_HEAP_MB = 256;

/**
 * In a process of its own, which is killed when it has answered, or sooner. Never rejects because of the text: a
 * compiler that traps, loops or runs out of memory is an answer to its author. Rejects with SandboxNotStarted when
 * the process does not come up, and when the deadline comes before the text has had its time: that is no fault of its
 * author.
 */
export async function superviseCompile(
  guestDir: string,
  { filename, source, deadlineAtMs }: CompileRequest,
  bounds = COMPILER,
): Promise<Compiled> {
  const { memoryMb } = bounds;
  const timeMs = Math.max(1, deadlineAtMs - Date.now());
  const { promise, resolve, reject } = Promise.withResolvers<Compiled>();
  const refuse = (message: string) => resolve({ kind: 'refused', message });
  const program = { guestDir, script: 'compiler.cjs', heapMb: COMPILER_HEAP_MB, addons: false };
  const child = startChild<ToCompiler, FromCompiler>(program);
  child.keepAlive(true);
  child.onMessage = (message) => {
    if (message.type === 'compiled') resolve(judgeCompiled(message.compiled));
  };
  const unwatch = watchChild(child, { timeMs, memoryMb, cpuMs: bounds.cpuMs }, (which) => {
    if (which === 'time') reject(new Error('Too little time was left to compile'));
    else if (which === 'cpu') refuse(`The code could not be compiled within ${bounds.cpuMs} ms`);
    else refuse(`The code takes more than ${memoryMb} MiB of memory to be compiled`);
  });
  child.ready.then(() => {
    child.onEnd = () => refuse(tooDeep);
    child.send({ type: 'compile', filename, source });
  }, reject);
  try {
    return await promise;
  } finally {
    unwatch();
    child.kill();
  }
}
