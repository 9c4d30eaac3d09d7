import { slowness } from '../setup/slowness.ts';
import type { Answer, Portico } from '../spec/portico.ts';

/** What a request drew from its budget. */
interface Spent {
  units: number;
  items: number;
  queries: number;
  writes: number;
}

export interface Measured {
  status: number;
  /** What is over the bound is told as it would be where the bound was measured. */
  cpuMs: number;
  /** Undefined for a request that cost less than a tenth of its budget. */
  spent: Spent | undefined;
}

export interface Costs {
  /** The sum of what requests spent since the last call. */
  take(): Spent | undefined;
  stop(): void;
}

/** Reads the log lines that tell what each request cost. Nothing else of the log is printed. */
export function watchCosts(): Costs {
  const write = process.stdout.write;
  let spent: Spent | undefined;
  process.stdout.write = ((chunk: unknown, ...more: []) => {
    const line = String(chunk);
    if (!line.startsWith('{"level"')) return write.call(process.stdout, line, ...more);
    if (line.includes('"costly request"')) spent = JSON.parse(line);
    return true;
  }) as typeof write;
  return {
    take() {
      const taken = spent;
      spent = undefined;
      return taken;
    },
    stop() {
      process.stdout.write = write;
    },
  };
}

interface Measuring {
  /** What changes bring about is no part of the request, and the slower the machine, the more of it falls into it. */
  holdChanges: Portico['local']['holdChanges'];
  costs: Costs;
  mostCpuMs: number;
}

/**
 * Sends it, up to five times when it took more CPU than it may, for the first call of a route also loads it, or when
 * the table was too slow to answer.
 */
export async function measure(
  send: () => Promise<Answer>,
  { holdChanges, costs, mostCpuMs }: Measuring,
): Promise<Measured> {
  let best: Measured | undefined;
  for (let turn = 0; turn < 5 && (!best || best.status === 503 || best.cpuMs > mostCpuMs); turn++) {
    const release = await holdChanges();
    costs.take();
    const from = process.cpuUsage();
    const { status } = await send();
    const { user, system } = process.cpuUsage(from);
    const hereMs = (user + system) / 1000;
    const cpuMs = Math.round(hereMs > mostCpuMs ? hereMs / slowness() : hereMs);
    const measured = { status, cpuMs, spent: costs.take() };
    const isBetter = status !== 503 && (status >= 500 || cpuMs < (best?.cpuMs ?? 0));
    if (!best || best.status === 503 || isBetter) best = measured;
    await release();
    await settled();
  }
  if (!best) throw new Error('Nothing was measured');
  return best;
}

/** Waits until what follows a request, such as index upkeep, is done: the process is idle. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 4000; turn++) {
    const from = process.cpuUsage();
    await new Promise((done) => setTimeout(done, 30));
    const { user, system } = process.cpuUsage(from);
    if (user + system < 3000) return;
  }
}
