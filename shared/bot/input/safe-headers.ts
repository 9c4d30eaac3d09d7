import { isCredentialHeader } from '../../address-guard/credential-headers.ts';

/** The request's headers as a Bot may see them: without whatever could be a credential. */
export function safeHeaders(headers: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !isCredentialHeader(entry[0]),
    ),
  );
}
