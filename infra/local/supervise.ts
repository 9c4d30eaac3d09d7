import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/**
 * Between us and the child stands a shell in a process group of its own. It holds the read end of
 * a pipe whose only writer is this process, so it learns of our death, `kill -9` included, and ends
 * the child: SIGTERM, two seconds later SIGKILL to the whole group. Nobody ever writes to the pipe.
 */
const watchdog = `
exec 3<&0 </dev/null
"$@" 3<&- & child=$!
( read -r _ <&3; kill -TERM $child; trap '' TERM; sleep 2; kill -KILL 0 ) >/dev/null 2>&1 3<&3 & guard=$!
exec 3<&-
wait $child; code=$?
trap '' TERM; kill -TERM $guard 2>/dev/null
exit $code
`;

export type Supervised = Awaited<ReturnType<typeof supervise>>;

export interface Program {
  command: string;
  args: readonly string[];
  /** The whole environment of the child, nothing is inherited; PATH is needed to find a bare name. */
  env: Record<string, string>;
  cwd?: string;
  /** A line on stdout or stderr that says the child serves. */
  ready: RegExp;
  /** How long to wait for that line, in ms. */
  readyTimeoutMs: number;
  /** Every further line of output, for the log. */
  onLine?: (line: string) => void;
}

/** Starts a program that cannot outlive this process; throws, with its last output, if it is not ready in time. */
export async function supervise(program: Program) {
  const { command, args, env, cwd } = program;
  const pairs = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const line = ['-c', watchdog, 'watchdog', '/usr/bin/env', '-i', ...pairs, command, ...args];
  const options = { detached: true, env: {}, ...(cwd ? { cwd } : {}) };
  const shell = spawn('/bin/sh', line, { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
  const exited: Promise<number | null> = once(shell, 'exit')
    .then(
      ([code]) => code,
      () => null,
    )
    .finally(() => sweep(shell));
  // The pipe breaks when the child ends first: that is reported by `exited`.
  shell.stdin.on('error', () => undefined);
  const child = {
    /** Resolves when the child has ended, with its exit code (null when a signal ended the watchdog). */
    exited,
    /** SIGTERM, after two seconds SIGKILL; resolves when child and descendants are gone. */
    async stop(): Promise<void> {
      shell.stdin.destroy();
      const lastResort = setTimeout(() => sweep(shell), 4_000);
      await exited;
      clearTimeout(lastResort);
    },
  };
  try {
    await readiness(shell, program, exited);
  } catch (error) {
    await child.stop();
    throw error;
  }
  return child;
}

/** Grandchildren that ignored SIGTERM are still in the group. */
function sweep(shell: ChildProcess): void {
  try {
    if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGKILL');
  } catch {
    // No process is left in the group.
  }
}

async function readiness(
  { stdout, stderr }: ChildProcessByStdio<Writable, Readable, Readable>,
  { command, ready, readyTimeoutMs, onLine }: Program,
  exited: Promise<number | null>,
): Promise<void> {
  const last: string[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = (what: string) => reject(new Error(`${command} ${what}\n${last.join('\n')}`));
  const timer = setTimeout(() => fail(`was not ready after ${readyTimeoutMs} ms`), readyTimeoutMs);
  for (const input of [stdout, stderr]) {
    createInterface({ input }).on('line', (line) => {
      last.push(line);
      if (last.length > 20) last.shift();
      if (ready.test(line)) resolve();
      onLine?.(line);
    });
  }
  void exited.then((code) => fail(`ended with code ${code}`));
  await promise.finally(() => clearTimeout(timer));
}
