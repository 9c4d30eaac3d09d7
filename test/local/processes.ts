import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Processes below `pid`, by /proc; below one that has ended there are none. */
export function descendants(pid: number): number[] {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  } catch {
    return [];
  }
  const children = text.trim().split(' ').filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

/** Those of the processes that run, as `ps` shows them. A zombie has ended; when init collects it is none of our business. */
export function running(pids: readonly number[]): string[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=,stat=,args=', '-p', pids.join()], { encoding: 'utf8' });
  return stdout
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^\d+\s+[^Z\s]/.test(line));
}

/** Those that still run after a minute: one that is not ended runs on for ever, and a busy machine takes its time. */
export async function left(pids: readonly number[]): Promise<string[]> {
  for (const untilMs = Date.now() + 60_000; Date.now() < untilMs; await pause(25)) {
    if (running(pids).length === 0) return [];
  }
  return running(pids);
}
