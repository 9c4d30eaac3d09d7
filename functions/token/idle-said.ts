import { followsIdleTime, idleMsOf, isIdle } from '../../shared/access/idle-time.ts';
import type { Login } from '../../shared/login/login-item.ts';
import type { Item } from '../../shared/table/item.ts';
import { OAuthError } from './oauth-error.ts';
import type { TokenRequest } from './token-request.ts';

/**
 * How long ago the person did something, as their client says in `idle_seconds`: an app that asks for tokens by
 * itself, for what it shows, does not keep the login alive. A length and no time of day: clocks may differ.
 * @returns ms; 0 when it says nothing
 * @throws {OAuthError} invalid_request
 */
export function idleMsSaid({ parameter }: Pick<TokenRequest, 'parameter'>): number {
  const said = parameter('idle_seconds');
  if (said === undefined) return 0;
  if (/^\d{1,9}$/.test(said)) return Number(said) * 1000;
  throw new OAuthError('invalid_request', 'idle_seconds must be a whole number of seconds');
}

/** Whether a login is over for want of use, as the service knows or as its own client says. @param head of its Project */
export function hasGoneIdle(
  login: Login,
  head: Item | undefined,
  { usedAtMs, nowMs }: { usedAtMs: number; nowMs: number },
): boolean {
  const idleMs = followsIdleTime(login) ? idleMsOf(head) : undefined;
  return isIdle(login, head, nowMs) || (idleMs !== undefined && nowMs - usedAtMs >= idleMs);
}
