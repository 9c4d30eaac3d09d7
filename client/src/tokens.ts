import { serviceUrl } from './service-url.ts';

/** What the token endpoint answered instead of a token (RFC 6749 section 5.2). */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  /** The HTTP status. */
  readonly status: number;
  /** As `invalid_client`; `server_error` when the answer names none. */
  readonly code: string;

  constructor(status: number, code: string, description: string) {
    super(description);
    this.status = status;
    this.code = code;
  }
}

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
  const answer: Record<string, unknown> = { ...(await response.json().catch(() => undefined)) };
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

/** Where calls take their access token from. */
export interface AccessTokens {
  /** A token that lives long enough for a call. */
  get(): Promise<string>;
  /** The service refused this token: the next `get` answers another one. */
  drop(token: string): void;
}

/** A token and how long it lives from now. */
export type IssuedToken = Pick<Tokens, 'accessToken' | 'lifetimeSeconds'>;

/** A token is replaced this long before it ends, or after half its life if that is less. */
const marginSeconds = 60;

/**
 * Holds a token in memory and fetches the next one when it is near its end. Calls that come
 * meanwhile wait for that one flight; a failed flight fails them all and the next call tries anew.
 * @param first a token that was issued just now
 */
export function cachedTokens(fetchToken: () => Promise<IssuedToken>, first?: IssuedToken): AccessTokens {
  let held = first && holding(first, Date.now());
  let flight: Promise<string> | undefined;
  const renew = async () => {
    try {
      const startedAtMs = Date.now();
      held = holding(await fetchToken(), startedAtMs);
      return held.token;
    } finally {
      flight = undefined;
    }
  };
  return {
    async get() {
      if (held && Date.now() < held.replaceAtMs) return held.token;
      flight ??= renew();
      return flight;
    },
    drop(token) {
      if (held?.token === token) held = undefined;
    },
  };
}

function holding({ accessToken, lifetimeSeconds }: IssuedToken, startedAtMs: number) {
  const usableSeconds = lifetimeSeconds - Math.min(marginSeconds, lifetimeSeconds / 2);
  return { token: accessToken, replaceAtMs: startedAtMs + usableSeconds * 1000 };
}

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
  const { baseUrl, clientId, clientSecret, scope } = credentials;
  return cachedTokens(() =>
    requestTokens(baseUrl, {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      scope,
    }),
  );
}

export interface CodeExchange {
  /** The service's address. */
  baseUrl: string | URL;
  code: string;
  /** Of the challenge that the sign-in was given. */
  codeVerifier: string;
  /** As in the sign-in. */
  clientId?: string;
  redirectUri?: string;
}

/** A person's tokens for the code of a sign-in, which is used up by it. @throws {OAuthError} */
export function exchangeCode(exchange: CodeExchange): Promise<Tokens> {
  const { baseUrl, code, codeVerifier, clientId, redirectUri } = exchange;
  return requestTokens(baseUrl, {
    grant_type: 'authorization_code',
    code,
    code_verifier: codeVerifier,
    client_id: clientId,
    redirect_uri: redirectUri,
  });
}

export interface Refreshing {
  /** The service's address. */
  baseUrl: string | URL;
  /** Of `exchangeCode`; a refresh token alone continues an earlier session. */
  tokens: Tokens | { refreshToken: string };
  clientId?: string;
  /** Called with each new set before it is used: keep its refresh token, the one before is used up. */
  onTokens?(tokens: Tokens): void;
}

/**
 * A person's tokens, in memory, replaced before they end (RFC 6749 section 6). Parallel calls share
 * one refresh, because a refresh token used twice ends the session. `get` rejects with an OAuthError,
 * `invalid_grant`, once the session is over or when there is no refresh token.
 */
export function refreshingTokens({ baseUrl, tokens, clientId, onTokens }: Refreshing): AccessTokens {
  let { refreshToken } = tokens;
  const refresh = async () => {
    if (refreshToken === undefined) throw new OAuthError(400, 'invalid_grant', 'The session has ended');
    const next = await requestTokens(baseUrl, {
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
      client_id: clientId,
    });
    refreshToken = next.refreshToken ?? refreshToken;
    onTokens?.({ ...next, refreshToken });
    return next;
  };
  return cachedTokens(refresh, 'accessToken' in tokens ? tokens : undefined);
}
