import { keys } from '../table/keys.ts';
import type { Action } from '../table/transact.ts';

/**
 * For a transaction that a person may make by this login: it has not ended since it was read. Named `login` when it
 * fails.
 */
export function aliveAction(loginId: string): Action {
  return {
    name: 'login',
    check: keys.login(loginId),
    if: 'attribute_exists(pk) AND attribute_not_exists(revoked)',
  };
}
