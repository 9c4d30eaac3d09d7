import type { Violation } from '../../../infra/check-table/check-table.ts';
import { streamUnread, violationsIn } from '../../setup/violations.ts';
import type { StillStack } from './still-stack.ts';
import type { Call, Disturbance } from './ways.ts';
import { restoreWorld, standing, type World, worldOf } from './world.ts';

/** What is called: a route, or a function that no route calls. */
export interface Subject {
  name: string;
  /** Makes ready, undisturbed; answers what is disturbed, which the caller may repeat. */
  prepare(): Promise<() => Promise<Said>>;
  /** It is called again whatever it said, as schedules do. */
  isRepeated?: boolean;
  /** Nothing calls it again: what breaks off stays so, and says so. */
  isOnce?: boolean;
  /** When it is called first, from when it was made ready. */
  afterMs?: number;
  /** Until it is called again. */
  againAfterMs?: number;
}

/** The status that a caller is told; of a function that answers nobody 200, or 500 when it is to be called again. */
export interface Said {
  status: number;
  text: string;
  /** Whether the caller is told when to come again. */
  isLater?: boolean;
}

/** What one run said and left. */
export interface Ran extends Said {
  calls: readonly Call[];
  /** What stands in the table that did not when all was made ready. */
  stands: readonly string[];
  violations: readonly Violation[];
}

/** Runs subjects, each time in the same world. */
export interface Bench {
  /** One run after the other, each with its disturbance, until one is as wished. */
  run(
    subject: Subject,
    disturbances: readonly (Disturbance | undefined)[],
    isEnough?: (ran: Ran) => boolean,
  ): Promise<Ran[]>;
}

/** @param world as it is now */
export function openBench(stack: StillStack, world: World): Bench {
  const { ways } = stack;
  let restoredAt = ways.written();
  return {
    async run(subject, disturbances, isEnough = () => false) {
      if (ways.written() !== restoredAt) await restoreWorld(stack, world);
      restoredAt = ways.written();
      const call = await subject.prepare();
      let readAt = ways.written();
      const ready = readAt === restoredAt ? world : await worldOf(stack);
      const warm = stack.coldStart();
      try {
        const ran: Ran[] = [];
        let left: Pick<Ran, 'stands' | 'violations'> = { stands: [], violations: [] };
        for (const [i, disturbance] of disturbances.entries()) {
          stack.clock.aheadMs = (subject.afterMs ?? 0) + i * (subject.againAfterMs ?? 0);
          const { calls, result } = await ways.during(disturbance, call);
          const said = result.status === 'fulfilled' ? result.value : { status: 500, text: wordsOf(result) };
          if (ways.written() !== readAt) left = await leftIn(stack, ready);
          readAt = ways.written();
          const one = { ...said, calls, ...left };
          ran.push(one);
          if (isEnough(one)) break;
        }
        return ran;
      } finally {
        warm();
        stack.clock.aheadMs = 0;
      }
    },
  };
}

async function leftIn(stack: StillStack, ready: World): Promise<Pick<Ran, 'stands' | 'violations'>> {
  const stands = standing(ready, await worldOf(stack));
  const violations = await violationsIn({ ...stack, clock: { nowMs: Date.now() } }, streamUnread);
  return { stands, violations };
}

function wordsOf({ reason }: PromiseRejectedResult): string {
  return reason instanceof Error ? String(reason.stack) : String(reason);
}
