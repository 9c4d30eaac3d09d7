const credential =
  /auth|cookie|token|secret|passw|credential|assertion|jwt|(?<!^idempotency-)key|signature|session/i;

/**
 * Whether a header's name is that of a credential, or may be. Such a header stays with whom it was meant for: Bots
 * do not see those of their requests, and a redirect to another origin does not carry them on.
 */
export function isCredentialHeader(name: string): boolean {
  return credential.test(name);
}
