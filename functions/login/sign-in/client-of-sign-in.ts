import { builtInClient } from '../../../shared/access/built-in-client.ts';
import type { Resource } from '../../../shared/fhir/resource.ts';
import { isOwnPage, redirectUrisOf } from '../../../shared/login/redirect-uri.ts';
import { findClientApplication } from '../../../shared/program/find-client.ts';
import { invalidField } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import type { SignIn } from './parse-sign-in.ts';

/** The client that asks a person to sign in. */
export interface SignInClient {
  id: string;
  /** Undefined for a built-in client, which belongs to none. */
  project?: string;
  /** Codes go nowhere else; compared as they stand. */
  redirectUris: readonly string[];
  needsPkce: boolean;
}

/** Undefined for an unknown client, and for none: the own app asks at its own page. */
export async function findClient(services: Services, clientId: string): Promise<SignInClient | undefined> {
  const builtIn = builtInClient(clientId);
  if (builtIn) return { id: clientId, redirectUris: builtIn.redirectUris, needsPkce: false };
  const found = await findClientApplication(services.table, clientId);
  if (!found) return undefined;
  const { project, client } = found;
  return { id: clientId, project, redirectUris: redirectUrisOf(client), needsPkce: true };
}

/**
 * A code goes where its client is known to take it, so that no page can be made to send it elsewhere:
 * the own app at its own pages, a registered client at a redirect URI of its own.
 * @param client the ClientApplication, if it is one
 * @throws {Refusal} invalid
 */
export function requireRedirect(
  { baseUrl }: Services,
  { clientId, redirectUri, codeChallenge }: Pick<SignIn, 'clientId' | 'redirectUri' | 'codeChallenge'>,
  client: Resource | undefined,
): void {
  if (redirectUri === undefined && codeChallenge !== undefined) return;
  const known = client ? redirectUrisOf(client) : (builtInClient(clientId)?.redirectUris ?? []);
  const isKnown = (uri: string) => (clientId === '' && isOwnPage(baseUrl, uri)) || known.includes(uri);
  if (redirectUri !== undefined && isKnown(redirectUri)) return;
  throw invalidField('redirectUri', 'The redirect URI is not one of the client');
}
