import { recordOf, typedKeys } from '../../../shared/base/values.ts';
import { answersJson, form, redirects, refused, text, type Words, type WordsOf } from '../words.ts';

const client = {
  client_id: text,
  client_secret: { ...text, description: 'Or HTTP Basic' },
  client_assertion: { ...text, description: 'A JWT that the client signed (RFC 7523)' },
  client_assertion_type: text,
};
const wrongClient = {
  400: answersJson('OAuthError', 'Refused (RFC 6749 section 5.2)'),
  401: answersJson('OAuthError', 'The client did not authenticate with HTTP Basic'),
};
const one = { 'token!': text, ...client };
const metadata = (of: string): Words => ({
  summary: of,
  answers: { 200: answersJson('Metadata', 'The metadata, cacheable for five minutes') },
});
const logout = {
  id_token_hint: 'The id token of the login that ends',
  post_logout_redirect_uri: 'One that the client is registered with',
  state: 'Comes back with the redirect',
};
const leads = { 302: redirects('To the client, or to the own app') };

const idleSeconds = {
  type: 'integer',
  description: 'How long ago the person did something, where the Project has an idle time; now when left out',
};
const grantTypes = [
  ...['client_credentials', 'authorization_code', 'refresh_token'],
  'urn:ietf:params:oauth:grant-type:token-exchange',
];

export const token: WordsOf<'token'> = {
  token: {
    summary: 'Get tokens (RFC 6749 section 3.2)',
    body: form({
      'grant_type!': { enum: grantTypes },
      ...client,
      scope: { ...text, description: 'SMART v1 and v2 scopes; they narrow what the policy allows' },
      ...{ code: text, code_verifier: text, redirect_uri: text, refresh_token: text },
      idle_seconds: idleSeconds,
      subject_token: { ...text, description: 'Of a token exchange (RFC 8693)' },
      subject_token_type: text,
      membership_id: { ...text, description: 'Of a token exchange: which of several memberships' },
    }),
    answers: { 200: answersJson('Tokens', 'Tokens'), ...wrongClient },
  },
  jwks: {
    summary: 'The public keys that verify access tokens (RFC 7517)',
    answers: { 200: answersJson('KeySet', 'A JWK set') },
  },
  openidConfiguration: metadata('OpenID Connect Discovery'),
  authorizationServer: metadata('OAuth 2.0 Authorization Server Metadata (RFC 8414)'),
  smartConfiguration: metadata('SMART App Launch configuration'),
  fhirSmartConfiguration: metadata('SMART App Launch configuration, below the FHIR base URL'),
  introspect: {
    summary: 'Ask whether an access token of the own Project is good (RFC 7662)',
    body: form(one),
    answers: { 200: answersJson('Introspection', 'Whether it is, and what it says'), ...wrongClient },
  },
  revoke: {
    summary: 'Revoke a token with its login (RFC 7009)',
    body: form({ ...one, idle_seconds: idleSeconds }),
    answers: { 200: answersJson('Empty', 'Revoked, or there was nothing to revoke'), ...wrongClient },
  },
  endSession: {
    summary: 'Sign a person out (OpenID Connect RP-Initiated Logout)',
    query: logout,
    answers: leads,
  },
  endSessionByPost: {
    summary: 'The same, with the parameters in a form',
    body: form(recordOf(typedKeys(logout), (name) => ({ ...text, description: logout[name] }))),
    answers: leads,
  },
};

const page = { description: 'A file of the app', content: { 'text/html': text } };
const known = { description: 'The caller has it' };

export const site: WordsOf<'site'> = {
  root: { summary: 'Leads to the app', answers: { 302: redirects('To the administration app') } },
  app: { summary: 'The administration app', answers: { 200: page, 304: known } },
  appFile: {
    summary: 'A page or file of the app',
    answers: { 200: page, 304: known, 404: refused('No such file') },
  },
  openapi: {
    summary: 'This document (OpenAPI 3.1)',
    headers: { 'If-None-Match': 'The ETag that the caller has' },
    answers: { 200: answersJson('Metadata', 'This document'), 304: known },
  },
};
