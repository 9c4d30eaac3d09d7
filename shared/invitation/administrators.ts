import { Refusal } from '../refusal.ts';
import { keys } from '../table/keys.ts';
import type { Action } from '../table/transact.ts';

const administratorsAction = 'administrators';

/**
 * Counts active, accepted, human administrators: `+1` when one is added, `-1` when one goes,
 * which fails for the last. Nothing when `change` is 0.
 */
export function countAdministrator(project: string, change: 1 | 0 | -1): Action[] {
  if (change === 0) return [];
  const action = {
    name: administratorsAction,
    update: keys.administrators(project),
    set: 'ADD #count :change',
    names: { '#count': 'count' },
  };
  return change > 0
    ? [{ ...action, values: { ':change': 1 } }]
    : [{ ...action, if: '#count > :one', values: { ':change': -1, ':one': 1 } }];
}

/** @param failed actions of a transaction whose condition did not hold @throws {Refusal} invalid */
export function refuseLastAdministrator(failed: ReadonlySet<string>): void {
  if (!failed.has(administratorsAction)) return;
  throw new Refusal('invalid', 'The last administrator of a project cannot be removed or demoted');
}
