import { type HttpResponse, jsonResponse } from '../../shared/http/response.ts';

/** RFC 6749 section 5.2, and 400 unless said otherwise. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope';

/** An expected "no" of the token endpoint, whose errors are OAuth's and not FHIR's. */
export class OAuthError extends Error {
  readonly code: OAuthErrorCode;
  /** The client tried HTTP Basic: then RFC 6749 wants 401 and a challenge. */
  readonly challenge: boolean;
  /** For our log only; never shown to the client. */
  readonly reason: string;

  constructor(code: OAuthErrorCode, description: string, challenge = false, reason = description) {
    super(description);
    this.name = 'OAuthError';
    this.code = code;
    this.challenge = challenge;
    this.reason = reason;
  }
}

export function oauthErrorResponse({ code, message, challenge }: OAuthError): HttpResponse {
  const headers = {
    pragma: 'no-cache',
    ...(challenge ? { 'www-authenticate': 'Basic realm="portico"' } : {}),
  };
  return jsonResponse(challenge ? 401 : 400, { error: code, error_description: message }, headers);
}
