/** Starting, measuring and killing one child process. Nothing here knows what a run is. */

import { fork } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { sandboxNotStarted } from '../run/contract.ts';

export type Child<To extends object, From extends { type: string }> = ReturnType<typeof startChild<To, From>>;

interface ChildProgram {
  /** Made by infra/guest/build.ts; the child may read nothing else. */
  guestDir: string;
  /** A file of that folder. It says `ready` when it takes messages. */
  script: string;
  /** The heap of the child's own code, in MiB. A Bot's heap is the isolate's. */
  heapMb: number;
  /** Whether it may load native code. */
  addons: boolean;
}

/** Nothing has run. */
export class SandboxNotStarted extends Error {
  /** What the loader or Node said, for our log only. */
  readonly words: string;

  constructor(words: string) {
    super('The sandbox process could not start');
    this.name = sandboxNotStarted;
    this.words = words;
  }
}

/** statm counts pages; 4 KiB on x64 and on Lambda's arm64. */
const PAGE_BYTES = 4096;
/** How much of a child's error output is kept, for the case that it fails to start. */
const MOST_WORDS = 4096;
const MEASURE_EVERY_MS = 20;

/** Forks a child that holds nothing of our environment. */
export function startChild<To extends object, From extends { type: string }>({
  guestDir,
  script,
  heapMb,
  addons,
}: ChildProgram) {
  const folder = realpathSync(guestDir);
  const forked = fork(join(folder, script), [folder], {
    cwd: '/',
    env: {},
    execArgv: [
      '--permission',
      // Isolates of isolated-vm need the former; it costs a start 60 ms.
      ...(addons ? ['--no-node-snapshot', '--allow-addons'] : []),
      `--allow-fs-read=${join(folder, '*')}`,
      `--max-old-space-size=${heapMb}`,
      '--disable-warning=SecurityWarning',
      '--disable-warning=ExperimentalWarning',
    ],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const started = Promise.withResolvers<void>();
  started.promise.catch(() => undefined);
  const child = {
    /** Resolves when the child takes messages; rejects with SandboxNotStarted when it ends before. */
    ready: started.promise,
    send(message: To): void {
      if (forked.connected) forked.send(message, () => undefined);
    },
    /** Messages after `ready`; set anew for each run. */
    onMessage: undefined as ((message: From) => void) | undefined,
    /** Called once, whoever ended the process. */
    onEnd: undefined as (() => void) | undefined,
    ended: false,
    /** False also for a process that was killed or has died but whose end has not been reported yet. */
    alive: (): boolean => !child.ended && !forked.killed && residentMb(forked.pid) !== 0,
    /** Resident memory in MiB; undefined where there is no /proc. */
    residentMb: () => residentMb(forked.pid),
    /** Processor time that it has taken, in ms; undefined where there is no /proc. */
    cpuMs: () => cpuMs(forked.pid),
    /** Whether the child keeps this process alive: not while it waits for work. */
    keepAlive(alive: boolean): void {
      const change = alive ? 'ref' : 'unref';
      forked[change]();
      forked.channel?.[change]();
    },
    /** SIGKILL: nothing in the child can stop or delay it. */
    kill: () => void forked.kill('SIGKILL'),
  };
  child.keepAlive(false);

  let words = '';
  const { stderr } = forked;
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-MOST_WORDS);
  });
  stderr?.on('error', () => undefined);
  if (stderr && 'unref' in stderr && typeof stderr.unref === 'function') stderr.unref();

  const end = () => {
    if (child.ended) return;
    child.ended = true;
    child.onEnd?.();
  };
  forked.on('exit', end);
  // After `exit`, once all of its error output has been read.
  forked.on('close', () => started.reject(new SandboxNotStarted(words.trim())));
  forked.on('error', (error) => {
    end();
    started.reject(new SandboxNotStarted(error.message));
  });
  forked.on('disconnect', child.kill);
  forked.on('message', (message: From) => {
    try {
      if (message.type !== 'ready') {
        child.onMessage?.(message);
        return;
      }
      // From now on its error output is not read: a Bot that took the process over could flood us.
      stderr?.destroy();
      started.resolve();
    } catch {
      // Not a message that our programs send: the process has been taken over.
      child.kill();
    }
  });
  return child;
}

function residentMb(pid: number | undefined): number | undefined {
  try {
    const [, pages] = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ');
    return (Number(pages) * PAGE_BYTES) / (1024 * 1024);
  } catch {
    return undefined;
  }
}

/** proc(5): after the name of the program in brackets, times in hundredths of a second. */
function cpuMs(pid: number | undefined): number | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return undefined;
  }
}

/**
 * Calls back when the time is up, or the child has more resident or has taken more of the processor than it may.
 * @returns what ends the watch
 */
export function watchChild(
  child: { residentMb: () => number | undefined; cpuMs: () => number | undefined },
  { timeMs, memoryMb, cpuMs }: { timeMs: number; memoryMb: number; cpuMs?: number },
  onExceeded: (limit: 'time' | 'memory' | 'cpu') => void,
): () => void {
  const beganAtMs = Date.now();
  const overdue = setTimeout(() => onExceeded('time'), timeMs);
  const measuring = setInterval(() => {
    if ((child.residentMb() ?? 0) > memoryMb) onExceeded('memory');
    if (cpuMs !== undefined && (child.cpuMs() ?? Date.now() - beganAtMs) > cpuMs) onExceeded('cpu');
  }, MEASURE_EVERY_MS);
  return () => {
    clearTimeout(overdue);
    clearInterval(measuring);
  };
}
