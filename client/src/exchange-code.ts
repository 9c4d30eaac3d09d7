import { requestTokens, type Tokens } from './token-request.ts';

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
export function exchangeCode({
  baseUrl,
  code,
  codeVerifier,
  clientId,
  redirectUri,
}: CodeExchange): Promise<Tokens> {
  return requestTokens(baseUrl, {
    grant_type: 'authorization_code',
    code,
    code_verifier: codeVerifier,
    client_id: clientId,
    redirect_uri: redirectUri,
  });
}
