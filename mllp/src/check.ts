import { createSecureContext } from 'node:tls';
import { errorCode, errorText } from '../../shared/base/values.ts';
import { clientTokens, judge, NoToken } from './service/judge.ts';
import { isReadByAll, readTlsFiles } from './settings/fields.ts';
import type { ServeSettings } from './settings/settings.ts';

/**
 * Tries what the settings name without listening: certificates, secret, a token.
 * @param say a line for each
 * @returns whether all of it is good
 */
export async function check(
  settings: ServeSettings,
  readSecret: () => Promise<string>,
  say: (line: string) => void,
): Promise<boolean> {
  const { service, clientId, clientSecretFile, listeners } = settings;
  let isGood = true;
  const attempt = async (what: string, does: () => Promise<unknown>) => {
    try {
      await does();
      say(`ok      ${what}`);
    } catch (error) {
      isGood = false;
      say(
        `failed  ${what}: ${error instanceof NoToken ? judge(error, false).text : (errorCode(error) ?? errorText(error))}`,
      );
    }
  };
  for (const { address, tls } of listeners) {
    const name = `${address.host}:${address.port}`;
    if (tls) {
      await attempt(`certificates of ${name}`, async () => createSecureContext(await readTlsFiles(tls)));
    }
  }
  if (clientSecretFile !== undefined && (await isReadByAll(clientSecretFile).catch(() => false))) {
    say(`warning ${clientSecretFile} can be read by everybody on this machine`);
  }
  await attempt(`access token for ${clientId} from ${service}`, () =>
    clientTokens({ service, clientId, readSecret }).get(),
  );
  return isGood;
}
