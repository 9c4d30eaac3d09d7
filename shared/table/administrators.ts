import { keys } from './keys.ts';
import type { Action } from './transact.ts';

/** The name of the action that refuses to take a Project's last administrator away. */
export const administratorsAction = 'administrators';

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
