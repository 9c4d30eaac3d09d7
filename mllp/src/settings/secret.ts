import { readFile, stat } from 'node:fs/promises';
import { SettingsError } from './fields.ts';

/**
 * The client's secret: from its file, read anew each time, else from the environment.
 * @throws {SettingsError} there is none. The text never holds the secret
 */
export async function readSecret(
  file: string | undefined,
  fromEnvironment: string | undefined,
): Promise<string> {
  if (file === undefined) {
    if (fromEnvironment) return fromEnvironment;
    throw new SettingsError('No client secret: set PORTICO_CLIENT_SECRET or --client-secret-file');
  }
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new SettingsError(`The file of the client secret cannot be read: ${error.code}`);
  });
  const secret = text.trim();
  if (secret === '' || /\s/.test(secret)) {
    throw new SettingsError('The file of the client secret must hold the secret and nothing else');
  }
  return secret;
}

/** Whether others than its owner and group may read a file. */
export async function isReadByAll(file: string): Promise<boolean> {
  return ((await stat(file)).mode & 0o004) !== 0;
}
