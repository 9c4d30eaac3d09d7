// biome-ignore-all lint/performance/noBarrelFile: the one entry of a published package

export type { AccessTokens } from './access-tokens.ts';
export type { Identifier } from './bot-url.ts';
export { type ClientCredentials, clientCredentials } from './client-credentials.ts';
export {
  type ApiRequest,
  type CallOptions,
  createPortico,
  type Portico,
  type PorticoOptions,
} from './create-portico.ts';
export { type CodeExchange, exchangeCode } from './exchange-code.ts';
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
export { newPkce, type Pkce } from './pkce.ts';
export { type Refreshing, refreshingTokens } from './refreshing-tokens.ts';
export type { BotInput } from './request-body.ts';
export {
  type EnrolledStep,
  type MembershipChoice,
  type SignInRequest,
  type SignInStep,
  signIn,
  signInStep,
} from './sign-in.ts';
export type { Tokens } from './token-request.ts';
