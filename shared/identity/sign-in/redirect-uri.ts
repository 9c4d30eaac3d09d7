import type { Resource } from '../../base/resource.ts';
import { isLoopback } from '../issuers/issuer.ts';

const longestUri = 2000;

/** What one must be, for whoever sent another. */
export const redirectUriText =
  'A redirect URI is https, http on localhost, or of an app’s own scheme, without a fragment';

/**
 * Whether codes may be sent there: https, http on the person's own machine, or a scheme that an app
 * owns, which has a dot (RFC 8252 section 7.1). No fragment (RFC 6749 section 3.1.2), no credentials.
 */
export function isRedirectUri(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > longestUri || text.includes('#')) return false;
  if (!/^[!-~]+$/.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  const { protocol, username, password } = url;
  if (username !== '' || password !== '') return false;
  if (protocol === 'http:') return isLoopback(url);
  return protocol === 'https:' || protocol.includes('.');
}

/** Whether it is a page of our own app, which takes codes without being registered. Fragments never reach us. */
export function isOwnPage(baseUrl: string, uri: string): boolean {
  const app = `${baseUrl}/app`;
  const { href = '', hash = '' } = URL.parse(uri) ?? {};
  return hash === '' && (href === app || href.startsWith(`${app}/`) || href.startsWith(`${app}?`));
}

/** Where a ClientApplication has people sent after they signed out (RP-Initiated Logout section 3.1). */
export function postLogoutRedirectUrisOf({ postLogoutRedirectUris }: Resource): string[] {
  return (Array.isArray(postLogoutRedirectUris) ? postLogoutRedirectUris : []).filter(isRedirectUri);
}

/** Where a ClientApplication takes codes: `redirectUris`, and `redirectUri` of older clients. */
export function redirectUrisOf(client: Resource): string[] {
  const { redirectUri, redirectUris } = client;
  return [redirectUri, ...(Array.isArray(redirectUris) ? redirectUris : [])].filter(isRedirectUri);
}
