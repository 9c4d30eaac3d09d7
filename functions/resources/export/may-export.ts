import { mayInteract, searchesAll } from '../../../shared/access/access.ts';
import { type Actor, mayAdminister } from '../../../shared/access/actor.ts';
import { resourceScopes } from '../../../shared/access/smart-scope.ts';
import type { ExportJob } from '../../../shared/export/export-job.ts';

type Asked = Pick<ExportJob, 'types' | 'history' | 'code' | 'people'>;

/**
 * Whether somebody may export all resources of a type: an administrator, or a program with a `system/` scope; one who
 * is narrowed must read and find every one of them, and all that is in it. What rules narrow is not exported.
 */
export function mayExport(actor: Actor, type: string): boolean {
  if (mayExportAll(actor)) return true;
  return (
    (mayAdminister(actor) || isSystem(actor)) && mayInteract(actor, 'read', type) && searchesAll(actor, type)
  );
}

/** An administrator whom no policy narrows. */
export function mayExportAll(actor: Actor): boolean {
  return mayAdminister(actor) && actor.policies === undefined;
}

function isSystem({ scope, profile }: Actor): boolean {
  const isProgram = profile.startsWith('ClientApplication/');
  return isProgram && resourceScopes(scope).some(({ context }) => context === 'system');
}

/** Whether somebody may export now all that an export is of. */
export function mayExportAgain(actor: Actor, { types, history, code, people }: Asked): boolean {
  const isForAdministrators = history || code || people;
  return types.every((type) => mayExport(actor, type)) && (!isForAdministrators || mayAdminister(actor));
}
