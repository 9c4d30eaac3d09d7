/** Starting, measuring and killing one child process. Nothing here knows what a run is. */

import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { sandboxNotStarted } from '../bot/contract.ts';

export interface Child<To extends object, From extends object> {
  /** Resolves when the child takes messages; rejects with SandboxNotStarted when it ends before. */
  ready: Promise<void>;
  send: (message: To) => void;
  /** Messages after `ready`; set anew for each run. */
  onMessage: ((message: From) => void) | undefined;
  /** Called once, whoever ended the process. */
  onEnd: (() => void) | undefined;
  ended: boolean;
  /** False also for a process that was killed or has died but whose end has not been reported yet. */
  alive: () => boolean;
  /** Resident memory in MiB; undefined where there is no /proc. */
  residentMb: () => number | undefined;
  /** Whether the child keeps this process alive: not while it waits for work. */
  keepAlive: (alive: boolean) => void;
  /** SIGKILL: nothing in the child can stop or delay it. */
  kill: () => void;
}

export interface ChildProgram {
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

/** Forks a child that holds nothing of our environment. */
export function startChild<To extends object, From extends { type: string }>({
  guestDir,
  script,
  heapMb,
  addons,
}: ChildProgram): Child<To, From> {
  const folder = realpathSync(guestDir);
  const child = fork(join(folder, script), [folder], {
    cwd: '/',
    env: {},
    execArgv: [
      '--no-node-snapshot',
      '--permission',
      ...(addons ? ['--allow-addons'] : []),
      `--allow-fs-read=${join(folder, '*')}`,
      `--max-old-space-size=${heapMb}`,
      '--disable-warning=SecurityWarning',
      '--disable-warning=ExperimentalWarning',
    ],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const watched = watch<To, From>(child);
  watched.keepAlive(false);
  return watched;
}

function watch<To extends object, From extends { type: string }>(process: ChildProcess): Child<To, From> {
  const started = Promise.withResolvers<void>();
  started.promise.catch(() => undefined);
  const words = collectWords(process);
  const child: Child<To, From> = {
    ready: started.promise,
    send: (message) => {
      if (process.connected) {
        process.send(message, () => undefined);
      }
    },
    onMessage: undefined,
    onEnd: undefined,
    ended: false,
    alive: () => !child.ended && !process.killed && residentMb(process.pid) !== 0,
    residentMb: () => residentMb(process.pid),
    keepAlive: (alive) => {
      const change = alive ? 'ref' : 'unref';
      process[change]();
      process.channel?.[change]();
    },
    kill: () => void process.kill('SIGKILL'),
  };
  const end = () => {
    if (!child.ended) {
      child.ended = true;
      child.onEnd?.();
    }
  };
  process.on('exit', end);
  // After `exit`, once all of its error output has been read.
  process.on('close', () => started.reject(new SandboxNotStarted(words.read())));
  process.on('error', (error) => {
    end();
    started.reject(new SandboxNotStarted(error.message));
  });
  process.on('disconnect', () => process.kill('SIGKILL'));
  process.on('message', (message: From) => {
    try {
      if (message.type === 'ready') {
        words.stop();
        started.resolve();
      } else {
        child.onMessage?.(message);
      }
    } catch {
      // Not a message that our programs send: the process has been taken over.
      child.kill();
    }
  });
  return child;
}

/** Once the child is ready its error output is not read: a Bot that took the process over could flood us. */
function collectWords({ stderr }: ChildProcess): { read: () => string; stop: () => void } {
  let words = '';
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-MOST_WORDS);
  });
  stderr?.on('error', () => undefined);
  if (stderr && 'unref' in stderr && typeof stderr.unref === 'function') stderr.unref();
  return { read: () => words.trim(), stop: () => stderr?.destroy() };
}

function residentMb(pid: number | undefined): number | undefined {
  try {
    const [, pages] = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ');
    return (Number(pages) * PAGE_BYTES) / (1024 * 1024);
  } catch {
    return undefined;
  }
}
