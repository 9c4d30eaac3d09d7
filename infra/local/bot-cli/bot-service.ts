import { fieldsOf } from '../../../shared/fields-of.ts';
import { demoProject } from '../demo-project.ts';

/** Whom the Bot's `medplum` speaks to, and as whom. */
export interface BotService {
  baseUrl: string;
  token: string;
}

/**
 * A demo Project of the stack that runs on a data folder, with a token of its client.
 * @throws {Error} when there is no such Project, or when the stack does not answer
 */
export async function demoService(dataDir: string, project: string): Promise<BotService> {
  const { baseUrl, project: found } = await demoProject(dataDir, project);
  const response = await fetch(`${baseUrl}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: found.clientId,
      client_secret: found.clientSecret,
    }),
  }).catch(() => {
    throw new Error(`Nothing answers at ${baseUrl}: start the stack with npm start`);
  });
  const { access_token: token } = fieldsOf(await response.json());
  if (typeof token !== 'string') throw new Error(`${baseUrl} gave no token: ${response.status}`);
  return { baseUrl, token };
}
