import { builtInClient } from '../../shared/auth/built-in-client.ts';
import { redirectUrisOf } from '../../shared/auth/redirect-uri.ts';
import { isId, type Resource } from '../../shared/fhir/resource.ts';
import { invalidField } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import { resourceOf } from '../../shared/table/resource-item.ts';
import type { SignIn } from './parse-sign-in.ts';

/** The client that asks a person to sign in. */
export interface SignInClient {
  id: string;
  /** Codes go nowhere else; compared as they stand. */
  redirectUris: readonly string[];
  needsPkce: boolean;
}

/** Undefined for an unknown client, and for none: the own app asks at its own page. */
export async function findClient(services: Services, clientId: string): Promise<SignInClient | undefined> {
  const builtIn = builtInClient(clientId);
  if (builtIn) return { id: clientId, redirectUris: builtIn.redirectUris, needsPkce: false };
  if (!isId(clientId)) return undefined;
  const key = keys.client(clientId);
  const project = (await services.table.read([key])).get(key)?.project;
  if (project === undefined) return undefined;
  const resourceKey = keys.resource(String(project), 'ClientApplication', clientId);
  const client = resourceOf((await services.table.read([resourceKey])).get(resourceKey));
  return client && { id: clientId, redirectUris: redirectUrisOf(client), needsPkce: true };
}

/**
 * A code goes where its client is known to take it, so that no page can be made to send it elsewhere:
 * the own app on our own origin, a registered client at a redirect URI of its own.
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
  const isOwn = clientId === '' && redirectUri?.startsWith(`${baseUrl}/`);
  if (redirectUri !== undefined && (isOwn || known.includes(redirectUri))) return;
  throw invalidField('redirectUri', 'The redirect URI is not one of the client');
}
