import { projectFeatures } from '../../shared/identity/projects/settings.ts';
import type { JsonSchema } from './words.ts';

const text = { type: 'string' };
const flag = { type: 'boolean' };
const reference = { $ref: '#/components/schemas/Reference' };
const object = (properties: Record<string, JsonSchema>, required: readonly string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  ...(required.length > 0 ? { required } : {}),
});
const listOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
const ofType = (type: string, properties: Record<string, JsonSchema>): JsonSchema => ({
  allOf: [
    { $ref: '#/components/schemas/Resource' },
    object({ resourceType: { const: type }, ...properties }, ['resourceType']),
  ],
});

const failureCount = {
  looked: { type: 'integer', description: 'How many of the latest were looked at' },
  failed: { type: 'integer' },
  last: { type: 'string', format: 'date-time', description: 'When the latest that failed ended' },
};
const step = {
  login: { ...text, description: 'Names the login in what follows' },
  code: { ...text, description: 'To be exchanged for tokens' },
  mfaRequired: flag,
  memberships: listOf({ type: 'object' }),
  patients: listOf(reference),
};

/** What routes answer, and FHIR as far as its shape does not depend on the type. */
export const schemas: Readonly<Record<string, JsonSchema>> = {
  Empty: { type: 'object' },
  Metadata: { type: 'object' },
  Location: object({ location: { ...text, format: 'uri' } }, ['location']),
  Reference: object({ reference: text, display: text }, ['reference']),
  Resource: {
    type: 'object',
    description: 'A FHIR R4 resource',
    properties: { resourceType: text, id: text, meta: { type: 'object' } },
    required: ['resourceType'],
  },
  NewResource: { type: 'object', properties: { resourceType: text }, required: ['resourceType'] },
  Bundle: object({ resourceType: { const: 'Bundle' }, type: text, entry: listOf({ type: 'object' }) }, [
    'resourceType',
  ]),
  Parameters: object(
    { resourceType: { const: 'Parameters' }, parameter: listOf(object({ name: text }, ['name'])) },
    ['resourceType', 'parameter'],
  ),
  OperationOutcome: object(
    {
      resourceType: { const: 'OperationOutcome' },
      id: text,
      issue: listOf(
        object(
          {
            severity: { enum: ['fatal', 'error', 'warning', 'information'] },
            code: text,
            details: object({ text }, ['text']),
            diagnostics: text,
            expression: listOf(text),
          },
          ['severity', 'code', 'details'],
        ),
      ),
    },
    ['resourceType', 'issue'],
  ),
  PatchOperation: object(
    {
      op: { enum: ['add', 'remove', 'replace', 'move', 'copy', 'test'] },
      path: text,
      from: text,
      value: {},
    },
    ['op', 'path'],
  ),
  ProjectMembership: ofType('ProjectMembership', {
    project: reference,
    user: reference,
    profile: reference,
    active: flag,
    admin: flag,
    accessPolicy: reference,
    emergencyPolicy: reference,
    mayGrant: listOf(reference),
    access: listOf({ type: 'object' }),
    externalId: text,
    invitedBy: reference,
    patient: listOf(reference),
    mfaRequired: flag,
    extension: listOf({ type: 'object' }),
  }),
  ClientApplication: ofType('ClientApplication', {
    name: text,
    description: text,
    secret: { ...text, description: 'Shown once' },
    redirectUris: listOf(text),
  }),
  Bot: ofType('Bot', { name: text, description: text, identifier: listOf({ type: 'object' }) }),
  ProjectAnswer: object(
    {
      project: { $ref: '#/components/schemas/Resource' },
      auditReads: { type: 'boolean', description: 'Whether AuditEvents are kept of what is read' },
      emergencyMinutes: {
        type: 'integer',
        description: 'How long emergency access lasts; 0 where nobody can take it',
      },
      senderName: {
        ...text,
        description: 'From whom its mails come; left out when it is the name of the Project',
      },
      features: { ...listOf({ enum: projectFeatures }), description: 'What it may do' },
      idleMinutes: {
        type: 'integer',
        description: 'People are signed out after so many minutes without use; left out when they are not',
      },
      limits: { type: 'object', description: 'The numbers that hold for it' },
    },
    ['project', 'auditReads', 'emergencyMinutes', 'features', 'limits'],
  ),
  IssuerTest: object({ works: flag, problem: text, authorizationEndpoint: text, tokenEndpoint: text }, [
    'works',
  ]),
  OAuthError: object({ error: text, error_description: text }, ['error']),
  Tokens: object(
    {
      token_type: { const: 'Bearer' },
      expires_in: { type: 'integer', description: 'Seconds' },
      scope: text,
      access_token: text,
      id_token: text,
      refresh_token: text,
      issued_token_type: text,
      project: reference,
      profile: reference,
      patient: text,
    },
    ['token_type', 'expires_in', 'scope', 'access_token', 'project', 'profile'],
  ),
  KeySet: object({ keys: listOf(object({ kty: text, kid: text }, ['kty'])) }, ['keys']),
  Introspection: object({ active: flag, scope: text, client_id: text, sub: text, exp: { type: 'integer' } }, [
    'active',
  ]),
  UserInfo: object({ sub: text, fhirUser: text, name: text, email: text }, ['sub', 'fhirUser']),
  Me: object(
    {
      user: { type: 'object' },
      project: { type: 'object' },
      membership: { $ref: '#/components/schemas/Resource' },
      profile: { $ref: '#/components/schemas/Resource' },
      config: { type: 'object' },
      emergency: { $ref: '#/components/schemas/Emergency' },
      security: { type: 'object' },
    },
    ['project', 'membership', 'profile', 'config'],
  ),
  Emergency: object(
    {
      minutes: { type: 'integer', description: 'How long it lasts' },
      policy: reference,
      opens: { ...listOf(text), description: 'What it opens, a sentence for each entry of the policy' },
      active: object(
        {
          since: { type: 'string', format: 'date-time' },
          until: { type: 'string', format: 'date-time' },
          reason: text,
        },
        ['since', 'until', 'reason'],
      ),
    },
    ['minutes', 'policy', 'opens'],
  ),
  SignInStep: object(step, ['login']),
  ClientInfo: object({ welcomeString: text, logo: { type: 'object' } }),
  InvitationOfLink: object(
    {
      project: { $ref: '#/components/schemas/Reference' },
      name: text,
      email: text,
      inviter: text,
      profileType: text,
      expires: text,
      method: {},
    },
    ['project', 'profileType', 'expires', 'method'],
  ),
  MfaStatus: object(
    { enrolled: flag, recoveryCodes: { type: 'integer' }, enrollUri: text, enrollQrCode: text },
    ['enrolled'],
  ),
  Reauthenticated: object({ signedIn: { type: 'string', format: 'date-time' } }, ['signedIn']),
  EnrolledStep: {
    allOf: [{ $ref: '#/components/schemas/SignInStep' }, { $ref: '#/components/schemas/RecoveryCodes' }],
  },
  RecoveryCodes: object({ recoveryCodes: listOf(text) }, ['recoveryCodes']),
  ClientState: object(
    {
      client: reference,
      membership: reference,
      hasSecret: flag,
      rotated: text,
      oldSecretUntil: { ...text, description: 'The secret before is good until then' },
      expires: { ...text, description: 'From when on it is refused' },
      lastUsed: { ...text, description: 'To the hour; left out when it was never used' },
    },
    ['client', 'membership', 'hasSecret'],
  ),
  Issuer: object({ id: text, issuer: text, clientId: text, hasSecret: flag, redirectUri: text }, [
    ...['id', 'issuer', 'clientId', 'hasSecret', 'redirectUri'],
  ]),
  Issuers: object({ issuers: listOf({ $ref: '#/components/schemas/Issuer' }) }, ['issuers']),
  SecretNames: listOf(object({ name: text }, ['name'])),
  FetchHosts: object({ allow: listOf(text), deny: listOf(text) }),
  Failures: object(
    {
      since: { type: 'string', format: 'date-time' },
      bots: listOf(object({ bot: reference, ...failureCount }, ['bot', 'looked', 'failed'])),
      ran: listOf(
        object(
          {
            bot: reference,
            at: { type: 'string', format: 'date-time', description: 'When its latest run ended' },
          },
          ['bot', 'at'],
        ),
      ),
      subscriptions: listOf(
        object({ subscription: reference, status: text, error: text, endpoint: text, ...failureCount }, [
          'subscription',
          'status',
          'looked',
          'failed',
        ]),
      ),
      complete: flag,
    },
    ['since', 'bots', 'ran', 'subscriptions', 'complete'],
  ),
  BulkAnswer: object(
    {
      invited: { type: 'integer' },
      refused: { type: 'integer' },
      results: listOf(
        object(
          {
            row: { type: 'integer' },
            status: { type: 'integer' },
            membership: { $ref: '#/components/schemas/ProjectMembership' },
            outcome: { $ref: '#/components/schemas/OperationOutcome' },
          },
          ['row', 'status'],
        ),
      ),
    },
    ['invited', 'refused', 'results'],
  ),
};
