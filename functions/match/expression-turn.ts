import { entryOf, holdEntry, leaveEntry } from '../../shared/bot/bounds/lease.ts';
import { Later } from '../../shared/queue/later.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';

/** Changes of one Project whose expressions are evaluated at once, of the twenty of the stage (`infra/queues.ts`). */
export const mostOfProject = 10;
/** The expressions of all Subscriptions to one change together: the function has two minutes for the change. */
const longestMs = 40_000;
/** The last of them begins before that, and its invoker may have to start. */
const graceMs = 30_000;
const waitMs = 3_000;

/** The turn of a change to have expressions evaluated: what one Project writes in them takes no other's turn. */
export interface ExpressionTurn {
  /**
   * Whether there is time for one more. The first takes a place among those of the Project.
   * @throws {Later} when there is none
   */
  hasTime(): Promise<boolean>;
  /** Gives the place to others. Never fails: what is not given back ends by itself. */
  leave(): Promise<void>;
}

export function expressionTurn(services: Services, project: string): ExpressionTurn {
  const key = keys.evaluating(project);
  let held: { entry: string; untilMs: number } | undefined;
  return {
    async hasTime() {
      if (!held) {
        const untilMs = services.now() + longestMs;
        const entry = entryOf(services.newId(), untilMs + graceMs);
        if (!(await holdEntry(services, key, entry, mostOfProject))) throw new Later(waitMs);
        held = { entry, untilMs };
      }
      return services.now() < held.untilMs;
    },
    async leave() {
      if (held) await leaveEntry(services, key, held.entry);
    },
  };
}
