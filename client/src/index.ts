// biome-ignore-all lint/performance/noBarrelFile: the one entry of a published package

export type { AccessTokens } from './access-tokens.ts';
export type { Identifier } from './bot-url.ts';
export { type ClientCredentials, clientCredentials } from './client-credentials.ts';
export { type CallOptions, createPortico, type Portico, type PorticoOptions } from './create-portico.ts';
export type {
  InviteAccess,
  InviteExtension,
  InviteRequest,
  ProjectMembership,
  Reference,
} from './invite-request.ts';
export { OAuthError } from './oauth-error.ts';
export {
  type OperationOutcome,
  OperationOutcomeError,
  type OutcomeIssue,
} from './operation-outcome-error.ts';
export type { BotInput } from './request-body.ts';
