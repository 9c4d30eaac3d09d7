import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import { sealedSecrets, secretsKey } from '../../shared/bot/secrets.ts';
import type { Services } from '../../shared/services.ts';
import { keysOfHolder, requireHolder } from './secret-holder.ts';

/** The names of a Project's or a Bot's secrets; no value ever leaves. @throws {Refusal} not-found */
export async function listSecrets(
  services: Services,
  caller: Caller<'administrator'>,
  { botId }: { botId?: string },
): Promise<{ name: string }[]> {
  const holder = { project: caller.project, ...(botId === undefined ? {} : { botId }) };
  const { found } = await admit(services, caller, keysOfHolder(holder));
  requireHolder(holder, found);
  return sealedSecrets(found.get(secretsKey(holder))).map(({ name }) => ({ name }));
}
