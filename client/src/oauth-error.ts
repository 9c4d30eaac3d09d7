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
