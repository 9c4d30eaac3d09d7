import { projectFeatures } from '../../shared/identity/projects/settings.ts';
import type { RightName } from '../../shared/store/fhir/membership.ts';
import { type JsonSchema, object, ref, text } from './words.ts';

const flag = { type: 'boolean' };
const number = { type: 'integer' };
const instant = { type: 'string', format: 'date-time' };
const anything = { type: 'object' };
const reference = ref('Reference');
const listOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
const said = (schema: JsonSchema, description: string): JsonSchema => ({ ...schema, description });
const resource = (type: string, properties: Record<string, JsonSchema>): JsonSchema =>
  object({ 'resourceType!': { const: type }, ...properties });
const ofType = (type: string, properties: Record<string, JsonSchema>): JsonSchema => ({
  allOf: [ref('Resource'), resource(type, properties)],
});

const failureCount = {
  'looked!': said(number, 'How many of the latest were looked at'),
  'failed!': number,
  last: said(instant, 'When the latest that failed ended'),
};

const rights: Readonly<Record<RightName, JsonSchema>> = {
  ...{ admin: flag, accessPolicy: reference, access: listOf(anything), emergencyPolicy: reference },
  ...{ mayGrant: listOf(reference), patient: listOf(reference), mfaRequired: flag },
  authentication: said({}, '`password`, or the issuer that must have signed the person in'),
};

/** What routes answer, and FHIR as far as its shape does not depend on the type. */
export const schemas: Readonly<Record<string, JsonSchema>> = {
  Empty: anything,
  Metadata: anything,
  Location: object({ 'location!': { ...text, format: 'uri' } }),
  Reference: object({ 'reference!': text, display: text }),
  Resource: {
    type: 'object',
    description: 'A FHIR R4 resource',
    properties: { resourceType: text, id: text, meta: anything },
    required: ['resourceType'],
  },
  NewResource: object({ 'resourceType!': text }),
  Bundle: resource('Bundle', { type: text, entry: listOf(anything) }),
  Parameters: resource('Parameters', { 'parameter!': listOf(object({ 'name!': text })) }),
  OperationOutcome: resource('OperationOutcome', {
    id: text,
    'issue!': listOf(
      object({
        'severity!': { enum: ['fatal', 'error', 'warning', 'information'] },
        'code!': text,
        'details!': object({ 'text!': text }),
        diagnostics: text,
        expression: listOf(text),
      }),
    ),
  }),
  PatchOperation: object({
    'op!': { enum: ['add', 'remove', 'replace', 'move', 'copy', 'test'] },
    'path!': text,
    from: text,
    value: {},
  }),
  ProjectMembership: ofType('ProjectMembership', {
    ...{ project: reference, user: reference, profile: reference, active: flag, ...rights },
    externalId: text,
    userName: said(text, 'The address that the Project knows the person by'),
    ...{ invitedBy: reference, extension: listOf(anything) },
  }),
  ClientApplication: ofType('ClientApplication', {
    ...{ name: text, description: text, secret: said(text, 'Shown once'), redirectUris: listOf(text) },
  }),
  Bot: ofType('Bot', { name: text, description: text, identifier: listOf(anything) }),
  ProjectAnswer: object({
    'project!': ref('Resource'),
    'auditReads!': said(flag, 'Whether AuditEvents are kept of what is read'),
    'emergencyMinutes!': said(number, 'How long emergency access lasts; 0 where nobody can take it'),
    senderName: said(text, 'From whom its mails come; left out when it is the name of the Project'),
    'features!': said(listOf({ enum: projectFeatures }), 'What it may do'),
    idleMinutes: said(
      number,
      'People are signed out after so many minutes without use; left out when they are not',
    ),
    'limits!': said(anything, 'The numbers that hold for it'),
  }),
  IssuerTest: object({ 'works!': flag, problem: text, authorizationEndpoint: text, tokenEndpoint: text }),
  OAuthError: object({ 'error!': text, error_description: text }),
  Tokens: object({
    'token_type!': { const: 'Bearer' },
    'expires_in!': said(number, 'Seconds'),
    ...{ 'scope!': text, 'access_token!': text, id_token: text, refresh_token: text },
    ...{ issued_token_type: text, 'project!': reference, 'profile!': reference, patient: text },
  }),
  KeySet: object({ 'keys!': listOf(object({ 'kty!': text, kid: text })) }),
  Introspection: object({ 'active!': flag, scope: text, client_id: text, sub: text, exp: number }),
  UserInfo: object({ 'sub!': text, 'fhirUser!': text, name: text, email: text }),
  Me: object({
    ...{ user: anything, 'project!': anything, 'membership!': ref('Resource') },
    ...{ 'profile!': ref('Resource'), 'config!': anything, emergency: ref('Emergency'), security: anything },
  }),
  Emergency: object({
    'minutes!': said(number, 'How long it lasts'),
    'policy!': reference,
    'opens!': said(listOf(text), 'What it opens, a sentence for each entry of the policy'),
    active: object({ 'since!': instant, 'until!': instant, 'reason!': text }),
  }),
  SignInStep: object({
    'login!': said(text, 'Names the login in what follows'),
    code: said(text, 'To be exchanged for tokens'),
    ...{ mfaRequired: flag, memberships: listOf(anything), patients: listOf(reference) },
  }),
  ClientInfo: object({ welcomeString: text, logo: anything }),
  InvitationOfLink: object({
    ...{ 'project!': reference, name: text, email: text, inviter: text },
    ...{ 'profileType!': text, 'expires!': text, 'method!': {} },
  }),
  MfaStatus: object({ 'enrolled!': flag, recoveryCodes: number, enrollUri: text, enrollQrCode: text }),
  Reauthenticated: object({ 'signedIn!': instant }),
  EnrolledStep: { allOf: [ref('SignInStep'), ref('RecoveryCodes')] },
  RecoveryCodes: object({ 'recoveryCodes!': listOf(text) }),
  ClientState: object({
    ...{ 'client!': reference, 'membership!': reference, 'hasSecret!': flag, rotated: text },
    oldSecretUntil: said(text, 'The secret before is good until then'),
    expires: said(text, 'From when on it is refused'),
    lastUsed: said(text, 'To the hour; left out when it was never used'),
  }),
  Issuer: object({
    ...{ 'id!': text, 'issuer!': text, 'clientId!': text, 'hasSecret!': flag, 'redirectUri!': text },
  }),
  Issuers: object({ 'issuers!': listOf(ref('Issuer')) }),
  SecretNames: listOf(object({ 'name!': text })),
  FetchHosts: object({ allow: listOf(text), deny: listOf(text) }),
  Failures: object({
    'since!': instant,
    'bots!': listOf(object({ 'bot!': reference, ...failureCount })),
    'ran!': listOf(object({ 'bot!': reference, 'at!': said(instant, 'When its latest run ended') })),
    'subscriptions!': listOf(
      object({ 'subscription!': reference, 'status!': text, error: text, endpoint: text, ...failureCount }),
    ),
    'complete!': flag,
  }),
  BulkAnswer: object({
    'invited!': number,
    'refused!': number,
    'results!': listOf(
      object({
        'row!': number,
        'status!': number,
        membership: ref('ProjectMembership'),
        outcome: ref('OperationOutcome'),
      }),
    ),
  }),
};
