import { isDeepStrictEqual } from 'node:util';
import type { Resource } from '../../base/resource.ts';
import { redirectUrisOf } from '../sign-in/redirect-uri.ts';

/** Whether people sign in by a client, with rights of their own, whatever its own are: to make and to change one is for root. */
export function isAppOfPeople(client: Resource): boolean {
  return client.resourceType === 'ClientApplication' && redirectUrisOf(client).length > 0;
}

/** What says how a client authenticates, where it has people sent, and what they are shown. */
const signInFields = [
  ...['public', 'jwksUri', 'jwks', 'redirectUri', 'redirectUris'],
  ...['postLogoutRedirectUris', 'launchUri', 'signInForm'],
];

export function changesSignIn(before: Resource | undefined, after: Resource): boolean {
  return signInFields.some((name) => !isDeepStrictEqual(before?.[name], after[name]));
}
