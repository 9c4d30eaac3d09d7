/** Starting, measuring and killing one child process. Nothing here knows what a run is. */

import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { sandboxNotStarted } from '../bot/contract.ts';
import type { FromChild, ToChild } from './protocol.ts';

export interface Child {
  /** Resolves when the child can take a run; rejects with SandboxNotStarted when it ends before. */
  ready: Promise<void>;
  send: (message: ToChild) => void;
  /** Messages after `ready`; set anew for each run. */
  onMessage: ((message: FromChild) => void) | undefined;
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

/** Nothing has run. */
export class SandboxNotStarted extends Error {
  constructor() {
    super('The sandbox process could not start');
    this.name = sandboxNotStarted;
  }
}

/** statm counts pages; 4 KiB on x64 and on Lambda's arm64. */
const PAGE_BYTES = 4096;
/** The heap of the child's own code. A Bot's heap is the isolate's. */
const OWN_HEAP_MB = 96;

/** Forks a child that may read `guestDir` (made by infra/guest/build.ts) and holds nothing of our environment. */
export function startChild(guestDir: string): Child {
  const folder = realpathSync(guestDir);
  const child = fork(join(folder, 'child.cjs'), [folder], {
    cwd: '/',
    env: {},
    execArgv: [
      '--no-node-snapshot',
      '--permission',
      '--allow-addons',
      `--allow-fs-read=${join(folder, '*')}`,
      `--max-old-space-size=${OWN_HEAP_MB}`,
      '--disable-warning=SecurityWarning',
    ],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const watched = watch(child);
  watched.keepAlive(false);
  return watched;
}

function watch(process: ChildProcess): Child {
  const started = Promise.withResolvers<void>();
  started.promise.catch(() => undefined);
  const child: Child = {
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
      started.reject(new SandboxNotStarted());
      child.onEnd?.();
    }
  };
  process.on('exit', end);
  process.on('error', end);
  process.on('disconnect', () => process.kill('SIGKILL'));
  process.on('message', (message: FromChild) => {
    if (message.type === 'ready') {
      started.resolve();
    } else {
      child.onMessage?.(message);
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
