import { isLoopback, isWebUrl } from '../../shared/issuer/issuer-url.ts';
import { IssuerFault } from '../../shared/issuer/issuer-web.ts';
import { parseKeySet } from '../../shared/issuer/key-set.ts';
import type { ClientKeys } from '../../shared/program/new-client.ts';
import type { RefusalIssue } from '../../shared/refusal.ts';

const longestKeySetBytes = 32 * 1024;

/**
 * The public keys of a client that signs its assertions (RFC 7523): where it publishes them, or themselves.
 * @param baseUrl of our own API: where it is on loopback, `jwksUri` may be too
 */
export function parseClientKeys(
  { jwksUri, jwks }: Record<string, unknown>,
  baseUrl: string,
  issues: RefusalIssue[],
): ClientKeys {
  const refuse = (expression: string, text: string) => {
    issues.push({ expression, text });
    return {};
  };
  if (jwksUri != null && jwks != null) return refuse('jwks', 'Give jwksUri or jwks, not both');
  if (jwksUri != null) {
    const url = typeof jwksUri === 'string' && jwksUri.length <= 1000 ? URL.parse(jwksUri) : null;
    if (!url || !isWebUrl(url, { onLoopback: isLoopback(new URL(baseUrl)) })) {
      return refuse('jwksUri', 'jwksUri must be an https URL');
    }
    return { jwksUri: url.href };
  }
  if (jwks == null) return {};
  const keys = (jwks as { keys?: unknown }).keys;
  if (Array.isArray(keys) && keys.some((key) => key?.d !== undefined || key?.kty === 'oct')) {
    return refuse('jwks', 'jwks must hold public keys only: make new ones, these are known now');
  }
  return isKeySet(jwks) ? { jwks } : refuse('jwks', 'jwks must be a JWK set of up to 32 KiB');
}

function isKeySet(jwks: unknown): jwks is object {
  try {
    parseKeySet(jwks);
    return JSON.stringify(jwks).length <= longestKeySetBytes;
  } catch (error) {
    if (error instanceof IssuerFault) return false;
    throw error;
  }
}
