import { builtInClient } from '../access/built-in-client.ts';
import { isForResourcesOnly } from '../access/smart-scope.ts';
import { Refusal } from '../refusal.ts';
import type { Item } from '../table/item.ts';
import { type Login, loginOf } from './login-item.ts';

/**
 * Whether a login speaks for the whole person, above Projects: made with their password, in the own app
 * or on the command line, for more than resources. An app or an issuer of one Project sees and changes nothing
 * beyond it.
 */
export function isOwnLogin(login: Login): boolean {
  const { kind, issuer, clientId, scope } = login;
  const isOurs = clientId === '' || builtInClient(clientId) !== undefined;
  return kind === 'person' && issuer === undefined && isOurs && !isForResourcesOnly(scope);
}

/** @throws {Refusal} forbidden */
export function requireOwnLogin(item: Item | undefined): Login {
  const login = loginOf(item);
  if (login && isOwnLogin(login)) return login;
  throw new Refusal('forbidden', 'Sign in with your password, in the own app');
}
