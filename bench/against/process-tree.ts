import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts time in hundredths of a second for its readers. */
const msPerTick = 10;

/**
 * The CPU time of a process, of all that it started and of what these had started and waited for, in ms.
 * Linux only: elsewhere there is no /proc.
 */
export function cpuMsOf(pid: number): number {
  const all = new Map(readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? statOf(name) : [])));
  const isOfTree = (one: number): boolean => {
    const parent = all.get(one)?.parent;
    return one === pid || (parent !== undefined && parent > 1 && isOfTree(parent));
  };
  let ticks = 0;
  for (const [one, stat] of all) if (isOfTree(one)) ticks += stat.ticks;
  return ticks * msPerTick;
}

/** proc(5): after the name in parentheses come state, parent, …, utime, stime, cutime, cstime. */
function statOf(name: string): [number, { parent: number; ticks: number }][] {
  try {
    const text = readFileSync(`/proc/${name}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return [[Number(name), { parent: Number(fields[1]), ticks }]];
  } catch {
    // It ended in between.
    return [];
  }
}
