import { errorName } from '../error-name.ts';
import { Refusal } from '../refusal.ts';
import type { Found } from '../table/table.ts';
import type { BotSecret } from './contract.ts';
import type { ExecuteServices } from './execute-services.ts';
import { openSecrets, type SecretHolder, sealedSecrets, secretsKey } from './secrets.ts';

/**
 * The secrets that a run is given, by name: the Project's, and over them the Bot's own.
 * @param found holds the items of both, as far as there are any
 * @throws {Refusal} unavailable when the key service does not answer: nothing has run
 */
export async function gatherSecrets(
  { dataKeys, botMemory, log }: ExecuteServices,
  project: string,
  botId: string,
  found: Found,
): Promise<Record<string, BotSecret>> {
  const holders: SecretHolder[] = [{ project }, { project, botId }];
  try {
    const opened = await Promise.all(
      holders.map((holder) =>
        openSecrets(dataKeys, botMemory.dataKeys, holder, sealedSecrets(found.get(secretsKey(holder)))),
      ),
    );
    return Object.fromEntries(opened.flat().map((secret) => [secret.name, secret]));
  } catch (error) {
    log.error('secrets not opened', { error: errorName(error), bot: `Bot/${botId}` });
    throw new Refusal('unavailable', 'The secrets of the Bot cannot be read now; it was not run', {
      retryAfterSeconds: 1,
    });
  }
}
