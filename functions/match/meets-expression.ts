import { visible } from '../../shared/access/visible.ts';
import { Refusal } from '../../shared/refusal.ts';
import { admitAuthor } from '../../shared/subscription/author.ts';
import type { Standing } from '../../shared/subscription/standing.ts';
import type { ChangedStates } from '../../shared/subscription/states.ts';
import { evaluate } from './evaluate.ts';
import type { MatchServices } from './services.ts';

/**
 * Whether a change meets the expression of a Subscription, as its author sees it: else the expression
 * would tell of what is hidden from them.
 * @returns why it could not be said, where it could not
 */
export async function meetsExpression(
  services: MatchServices,
  { author, expression }: Standing & { expression: string },
  project: string,
  { current, previous }: ChangedStates,
): Promise<boolean | { failed: string }> {
  try {
    const actor = await admitAuthor(services, project, author);
    const seen = await visible(actor, 'read', current);
    if (!seen) return false;
    const before = previous && (await visible(actor, 'read', previous));
    const evaluated = await evaluate(services, project, expression, { current: seen, previous: before });
    return 'failed' in evaluated ? evaluated : evaluated.isMet;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // What an author without membership is to be told comes with the delivery.
    if (error.kind === 'unauthorized') return true;
    return { failed: 'expression: too long to be evaluated' };
  }
}
