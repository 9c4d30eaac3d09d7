import { array, description, looseObject, maxLength, pipe, string } from 'valibot';
import { isLoopback, isWebUrl } from '../../shared/issuer/issuer-url.ts';
import { IssuerFault } from '../../shared/issuer/issuer-web.ts';
import { parseKeySet } from '../../shared/issuer/key-set.ts';
import { invalidField } from '../../shared/refusal.ts';
import { optional } from '../../shared/schema/fields.ts';
import { whole } from '../../shared/schema/values.ts';

const longestKeySetBytes = 32 * 1024;
const uriText = 'jwksUri must be an https URL';
const setText = 'jwks must be a JWK set of up to 32 KiB';

/** The public keys of a client that signs its assertions (RFC 7523): where it publishes them, or themselves. */
export const clientKeyEntries = {
  jwksUri: optional(
    pipe(
      string(uriText),
      maxLength(1000, uriText),
      description('Where the client publishes its public keys (RFC 7523)'),
    ),
  ),
  jwks: optional(whole(looseObject({ keys: array(looseObject({ kty: string() })) }), setText)),
};

interface SentKeys {
  public?: boolean | undefined;
  jwksUri?: string | undefined;
  jwks?: { keys: { kty: string; [member: string]: unknown }[] } | undefined;
}

/**
 * @param baseUrl of our own API: where it is on loopback, `jwksUri` may be too
 * @throws {Refusal} invalid for keys that are not public, cannot be used, or belong to a public client
 */
export function requireUsableKeys({ public: isPublic, jwksUri, jwks }: SentKeys, baseUrl: string): void {
  if (isPublic && (jwks ?? jwksUri) !== undefined)
    throw invalidField('public', 'A public client has no keys');
  if (jwksUri !== undefined && jwks) throw invalidField('jwks', 'Give jwksUri or jwks, not both');
  if (jwksUri !== undefined) {
    const url = URL.parse(jwksUri);
    const onLoopback = isLoopback(new URL(baseUrl));
    if (!url || !isWebUrl(url, { onLoopback })) throw invalidField('jwksUri', uriText);
  }
  if (jwks?.keys.some((key) => key.d !== undefined || key.kty === 'oct')) {
    throw invalidField('jwks', 'jwks must hold public keys only: make new ones, these are known now');
  }
  if (jwks && !isKeySet(jwks)) throw invalidField('jwks', setText);
}

function isKeySet(jwks: object): boolean {
  try {
    parseKeySet(jwks);
    return JSON.stringify(jwks).length <= longestKeySetBytes;
  } catch (error) {
    if (error instanceof IssuerFault) return false;
    throw error;
  }
}
