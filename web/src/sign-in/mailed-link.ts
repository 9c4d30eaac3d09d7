import { postJson } from '../../../client/src/sign-in.ts';
import { baseUrl } from '../session/session.ts';

/** Id and secret of a mailed link. They stand in the fragment, which no browser sends to a server. */
export interface MailedLink {
  id: string;
  secret: string;
}

export function linkInAddress(): MailedLink | undefined {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const [id, secret] = [fragment.get('id'), fragment.get('secret')];
  return id && secret ? { id, secret } : undefined;
}

/** Uses a mailed link, once. @throws {OperationOutcomeError} */
export async function setPassword(body: MailedLink & { password: string }): Promise<void> {
  await postJson(baseUrl, 'auth/setpassword', body);
}
