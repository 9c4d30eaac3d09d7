import { type AccessTokens, cachedTokens, type IssuedToken } from './access-tokens.ts';
import { OAuthError } from './oauth-error.ts';
import { serviceUrl } from './service-url.ts';

export interface ClientCredentials {
  /** The service's address. */
  baseUrl: string | URL;
  clientId: string;
  clientSecret: string;
  /** SMART v2 scopes, separated by spaces; what the client may do when left out. */
  scope?: string;
}

/**
 * Signs a program in (RFC 6749 section 4.4). The first call fetches a token, later ones share it.
 * Keep it out of browsers: there a secret is none. `get` rejects with an OAuthError.
 */
export function clientCredentials(credentials: ClientCredentials): AccessTokens {
  return cachedTokens(() => requestToken(credentials));
}

async function requestToken({
  baseUrl,
  clientId,
  clientSecret,
  scope,
}: ClientCredentials): Promise<IssuedToken> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    ...(scope === undefined ? {} : { scope }),
  });
  const response = await fetch(serviceUrl(baseUrl, 'oauth2/token'), {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: String(body),
    credentials: 'omit',
    redirect: 'error',
  });
  const answer = await readFields(response);
  const { access_token: token, expires_in: lifetimeSeconds } = answer;
  if (response.ok && typeof token === 'string' && typeof lifetimeSeconds === 'number') {
    return { token, lifetimeSeconds };
  }
  throw new OAuthError(
    response.status,
    typeof answer.error === 'string' ? answer.error : 'server_error',
    typeof answer.error_description === 'string'
      ? answer.error_description
      : `No token: HTTP ${response.status}`,
  );
}

/** The fields of a JSON object; none when the answer is something else. */
async function readFields(response: Response): Promise<Record<string, unknown>> {
  try {
    return { ...((await response.json()) as object) };
  } catch {
    return {};
  }
}
