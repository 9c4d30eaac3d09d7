import { admit } from '../../shared/auth/actor.ts';
import type { Caller } from '../../shared/auth/token.ts';
import { sealedSecrets, secretsKey } from '../../shared/bot/secrets.ts';
import type { Services } from '../../shared/services.ts';
import { keysOfHolder, requireHolder } from './secret-holder.ts';

/** The names of a Project's or a Bot's secrets; no value ever leaves. @throws {Refusal} forbidden, not-found */
export async function listSecrets(
  services: Services,
  caller: Caller,
  { projectId, botId }: { projectId: string; botId?: string },
): Promise<{ name: string }[]> {
  const holder = { project: caller.project, ...(botId === undefined ? {} : { botId }) };
  const { actor, found } = await admit(services, caller, keysOfHolder(holder));
  requireHolder(actor, projectId, holder, found);
  return sealedSecrets(found.get(secretsKey(holder))).map(({ name }) => ({ name }));
}
