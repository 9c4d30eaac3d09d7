import { Refusal } from '../../base/refusal.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import type { Action } from '../../carry/table/transact.ts';
import { agentOf, auditItem, ownUser } from '../audit/audit-event.ts';
import type { Actor } from '../gate/actor.ts';
import { isForResourcesOnly } from '../policies/smart-scope.ts';
import { type Login, loginOf } from './logins.ts';

/** The login of a caller who may show again who they are. @throws {Refusal} forbidden */
export function requirePersonal({ login: item, scope }: Pick<Actor, 'login' | 'scope'>): Login {
  const login = loginOf(item);
  if (login?.kind === 'person' && !isForResourcesOnly(scope)) return login;
  throw new Refusal('forbidden', 'Only a person shows again who they are; a program asks for another token');
}

/**
 * The person of a login has shown again who they are, if it has not ended meanwhile: named `login` when it has.
 */
export function renewActions(
  { newId, now }: Pick<Services, 'newId' | 'now'>,
  actor: Pick<Actor, 'project' | 'loginId' | 'membership' | 'subject' | 'profile'>,
  atMs: number,
): Action[] {
  const audited = {
    ...({ subtype: 'reauthenticate', action: 'E', outcome: '0' } as const),
    project: actor.project,
    agent: agentOf(actor),
    entities: [ownUser(actor)],
  };
  return [
    {
      name: 'login',
      update: keys.login(actor.loginId),
      set: 'SET signedInAtMs = :at',
      if: 'attribute_exists(pk) AND attribute_not_exists(revoked)',
      values: { ':at': atMs },
    },
    { name: 'audit', put: auditItem(audited, newId(), now()) },
  ];
}
