/** One kept child process for one Project: runs Bots in it one after another and replaces it when in doubt. */

import type { Reach } from '../address-guard/guarded-request.ts';
import type { Compiled, CompileRequest, RunRequest, RunResult } from '../bot/contract.ts';
import { startChild } from './child-process.ts';
import { afterRunning } from './running-clock.ts';
import { superviseCompile } from './supervised-compile.ts';
import { type RunChild, superviseRun } from './supervised-run.ts';

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
  /** Runs begun or waiting. */
  pending: () => number;
  /** Kills the child. Runs not yet done end as if their time were up. */
  close: () => Promise<void>;
}

/** A child whose memory has grown by this much since its first run is not kept. */
const GROWTH_MB = 96;
/** How long a child may take to drop an isolate before it is replaced: time in which it could run. */
const IDLE_WITHIN_MS = 300;
/** Some 150 ms are usual. */
const READY_WITHIN_MS = 10_000;
/** The heap of the child's own code. A Bot's heap is the isolate's. */
const OWN_HEAP_MB = 96;

interface Kept {
  child: RunChild;
  project: string | undefined;
  firstMb: number | undefined;
  idle: Promise<boolean>;
}

/** Forks the first child at once, so that its start overlaps the caller's own. */
export function createSandbox(options: SandboxOptions): Sandbox {
  let closed = false;
  let pending = 0;
  let last: Promise<unknown> = Promise.resolve();
  let kept: Kept | undefined = start(options.guestDir);

  async function childFor(project: string): Promise<Kept> {
    kept?.child.keepAlive(true);
    if (
      kept &&
      (!kept.child.alive() || (kept.project ?? project) !== project || !(await kept.idle) || bloated(kept))
    ) {
      discard();
    }
    kept ??= start(options.guestDir);
    kept.project = project;
    kept.child.keepAlive(true);
    await readyInTime(kept.child);
    kept.firstMb ??= kept.child.residentMb();
    return kept;
  }

  function discard() {
    kept?.child.kill();
    kept = undefined;
  }

  async function runNow(request: RunRequest): Promise<RunResult> {
    const current = await childFor(request.project);
    const { result, idle } = superviseRun(current.child, request, options);
    const late = result.then(() => afterRunning(IDLE_WITHIN_MS)).then(() => false);
    current.idle = Promise.race([idle, late]);
    const answer = await result;
    current.child.keepAlive(false);
    if (current.child.ended) {
      // Begun now, the next one is ready when it is needed.
      kept = closed ? undefined : start(options.guestDir);
    }
    return answer;
  }

  /** When what was asked for before has ended. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    pending += 1;
    const result = last
      .then(() => {
        if (closed) throw new Error('The sandbox is closed');
        return work();
      })
      .finally(() => {
        pending -= 1;
      });
    last = result.catch(() => undefined);
    return result;
  }

  return {
    run: (request) => inTurn(() => runNow(request)),
    compile: (request) => inTurn(() => superviseCompile(options.guestDir, request)),
    pending: () => pending,
    close: async () => {
      closed = true;
      discard();
      await last;
    },
  };
}

function start(guestDir: string): Kept {
  const program = { guestDir, script: 'child.cjs', heapMb: OWN_HEAP_MB, addons: true };
  return { child: startChild(program), project: undefined, firstMb: undefined, idle: Promise.resolve(true) };
}

async function readyInTime(child: RunChild): Promise<void> {
  const timer = setTimeout(child.kill, READY_WITHIN_MS);
  await child.ready.finally(() => clearTimeout(timer));
}

function bloated({ child, firstMb }: Kept): boolean {
  return (child.residentMb() ?? 0) > (firstMb ?? Number.POSITIVE_INFINITY) + GROWTH_MB;
}
