import { builtInClient } from '../../../shared/access/built-in-client.ts';
import { fieldsOf, isObject } from '../../../shared/fields-of.ts';
import { findClientApplication } from '../../../shared/program/find-client.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';

/** What a sign-in page may show of the app that people sign in to, in the shape that clients of this field read. */
export interface ClientInfo {
  welcomeString?: string;
  /** R4 Attachment. */
  logo?: object;
}

/** @throws {Refusal} not-found for an unknown client */
export async function readClientInfo(services: Services, clientId: string): Promise<ClientInfo> {
  if (builtInClient(clientId)) return {};
  const found = await findClientApplication(services.table, clientId);
  if (!found) throw new Refusal('not-found', 'Not found');
  const { welcomeString, logo } = fieldsOf(found.client.signInForm);
  return {
    ...(typeof welcomeString === 'string' ? { welcomeString } : {}),
    ...(isShowable(logo) ? { logo } : {}),
  };
}

/** A picture that anybody can fetch, or that comes along: a Binary is for members. */
function isShowable(logo: unknown): logo is object {
  if (!isObject(logo)) return false;
  const { url, data } = logo;
  return url === undefined ? typeof data === 'string' : typeof url === 'string' && url.startsWith('https://');
}
