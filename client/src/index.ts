// biome-ignore-all lint/performance/noBarrelFile: the one entry of a published package

export {
  type ApiRequest,
  type CallOptions,
  createPortico,
  type Identifier,
  type Portico,
  type PorticoOptions,
} from './create-portico.ts';
export type * from './invite-request.ts';
export {
  type OperationOutcome,
  OperationOutcomeError,
  type OutcomeIssue,
} from './operation-outcome-error.ts';
export type { BotInput } from './request-body.ts';
export {
  type EnrolledStep,
  type MembershipChoice,
  newPkce,
  type Pkce,
  type SignInRequest,
  type SignInStep,
  signIn,
  signInStep,
} from './sign-in.ts';
export {
  type AccessTokens,
  type ClientCredentials,
  type CodeExchange,
  clientCredentials,
  exchangeCode,
  OAuthError,
  type Refreshing,
  refreshingTokens,
  type Tokens,
} from './tokens.ts';
