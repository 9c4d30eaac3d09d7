import { postJson } from '../../../client/src/post-json.ts';
import { baseUrl } from '../session/session.ts';
import type { MailedLink } from './link-in-address.ts';

/** Uses a mailed link, once. @throws {OperationOutcomeError} */
export async function setPassword(body: MailedLink & { password: string }): Promise<void> {
  await postJson(baseUrl, 'auth/setpassword', body);
}
