import { OAuthError } from './oauth-error.ts';
import { serviceUrl } from './service-url.ts';

/** What the token endpoint answered (RFC 6749 section 5.1), and for whom the tokens are. */
export interface Tokens {
  accessToken: string;
  /** How long the access token lives from now. */
  lifetimeSeconds: number;
  /** Only with the scope `offline_access`. Used once: its answer holds the next one. */
  refreshToken: string | undefined;
  idToken: string | undefined;
  scope: string;
}

/**
 * Asks the token endpoint, once.
 * @throws {OAuthError} the service refused
 */
export async function requestTokens(
  baseUrl: string | URL,
  parameters: Record<string, string | undefined>,
): Promise<Tokens> {
  const given = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const response = await fetch(serviceUrl(baseUrl, 'oauth2/token'), {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: String(new URLSearchParams(given)),
    credentials: 'omit',
    redirect: 'error',
  });
  const answer = await readFields(response);
  const { access_token: accessToken, expires_in: lifetimeSeconds } = answer;
  if (response.ok && typeof accessToken === 'string' && typeof lifetimeSeconds === 'number') {
    const { refresh_token: refreshToken, id_token: idToken, scope } = answer;
    return {
      accessToken,
      lifetimeSeconds,
      refreshToken: textOr(refreshToken, undefined),
      idToken: textOr(idToken, undefined),
      scope: textOr(scope, ''),
    };
  }
  throw new OAuthError(
    response.status,
    textOr(answer.error, 'server_error'),
    textOr(answer.error_description, `No token: HTTP ${response.status}`),
  );
}

function textOr<Other>(value: unknown, other: Other): string | Other {
  return typeof value === 'string' ? value : other;
}

/** The fields of a JSON object; none when the answer is something else. */
async function readFields(response: Response): Promise<Record<string, unknown>> {
  try {
    return { ...((await response.json()) as object) };
  } catch {
    return {};
  }
}
