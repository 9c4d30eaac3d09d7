const credential =
  /auth|cookie|token|secret|passw|credential|assertion|jwt|(?:api|access|private)-?key|signature|session|security-context/i;

/** The request's headers as a Bot may see them: without whatever could be a credential. */
export function safeHeaders(headers: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !credential.test(entry[0]),
    ),
  );
}
