import { mayInteract, searchesAll } from '../../../shared/access/access.ts';
import { type Actor, mayAdminister } from '../../../shared/access/actor.ts';
import { resourceScopes } from '../../../shared/access/smart-scope.ts';

/**
 * Whether somebody may export all resources of a type: an administrator, or a program with a `system/` scope that
 * reads and finds every one of them, and all that is in it. What rules narrow is not exported.
 */
export function mayExport(actor: Actor, type: string): boolean {
  if (mayAdminister(actor)) return true;
  return isSystem(actor) && mayInteract(actor, 'read', type) && searchesAll(actor, type);
}

function isSystem({ scope, profile }: Actor): boolean {
  const isProgram = profile.startsWith('ClientApplication/');
  return isProgram && resourceScopes(scope).some(({ context }) => context === 'system');
}
