import type { routes } from '../../../functions/routes.ts';
import { answersJson, form, redirects, refused, type Words } from '../words.ts';

const client = {
  client_id: { type: 'string' },
  client_secret: { type: 'string', description: 'Or HTTP Basic' },
  client_assertion: { type: 'string', description: 'A JWT that the client signed (RFC 7523)' },
  client_assertion_type: { type: 'string' },
};
const refusal = answersJson('OAuthError', 'Refused (RFC 6749 section 5.2)');
const wrongClient = answersJson('OAuthError', 'The client did not authenticate with HTTP Basic');
const one = { type: 'object', properties: { token: { type: 'string' }, ...client }, required: ['token'] };
const metadata = (of: string): Words => ({
  summary: of,
  answers: { 200: answersJson('Metadata', 'The metadata, cacheable for five minutes') },
});
const logout = {
  id_token_hint: 'The id token of the login that ends',
  post_logout_redirect_uri: 'One that the client is registered with',
  state: 'Comes back with the redirect',
};

const idleSeconds = {
  type: 'integer',
  description: 'How long ago the person did something, where the Project has an idle time; now when left out',
};

export const token: Record<keyof typeof routes.token, Words> = {
  token: {
    summary: 'Get tokens (RFC 6749 section 3.2)',
    body: form({
      type: 'object',
      properties: {
        grant_type: {
          enum: [
            'client_credentials',
            'authorization_code',
            'refresh_token',
            'urn:ietf:params:oauth:grant-type:token-exchange',
          ],
        },
        ...client,
        scope: { type: 'string', description: 'SMART v1 and v2 scopes; they narrow what the policy allows' },
        code: { type: 'string' },
        code_verifier: { type: 'string' },
        redirect_uri: { type: 'string' },
        refresh_token: { type: 'string' },
        idle_seconds: idleSeconds,
        subject_token: { type: 'string', description: 'Of a token exchange (RFC 8693)' },
        subject_token_type: { type: 'string' },
        membership_id: { type: 'string', description: 'Of a token exchange: which of several memberships' },
      },
      required: ['grant_type'],
    }),
    answers: { 200: answersJson('Tokens', 'Tokens'), 400: refusal, 401: wrongClient },
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
    answers: {
      200: answersJson('Introspection', 'Whether it is, and what it says'),
      400: refusal,
      401: wrongClient,
    },
  },
  revoke: {
    summary: 'Revoke a token with its login (RFC 7009)',
    body: form({ ...one, properties: { ...one.properties, idle_seconds: idleSeconds } }),
    answers: {
      200: answersJson('Empty', 'Revoked, or there was nothing to revoke'),
      400: refusal,
      401: wrongClient,
    },
  },
  endSession: {
    summary: 'Sign a person out (OpenID Connect RP-Initiated Logout)',
    query: logout,
    answers: { 302: redirects('To the client, or to the own app') },
  },
  endSessionByPost: {
    summary: 'The same, with the parameters in a form',
    body: form({
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(logout).map(([name, description]) => [name, { type: 'string', description }]),
      ),
    }),
    answers: { 302: redirects('To the client, or to the own app') },
  },
};

const page = { description: 'A file of the app', content: { 'text/html': { type: 'string' } } };
const known = { description: 'The caller has it' };

export const site: Record<keyof typeof routes.site, Words> = {
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
