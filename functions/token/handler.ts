import { requireVariable } from '../../shared/base/env.ts';
import { readQuery } from '../../shared/base/schema.ts';
import { decodeUtf8 } from '../../shared/carry/http/request.ts';
import { type HttpResponse, jsonResponse, redirectResponse } from '../../shared/carry/http/response.ts';
import { coreServices } from '../../shared/composition/core-services.ts';
import { stageKeys } from '../../shared/composition/stage-keys.ts';
import { serve } from '../../shared/identity/gate/serve.ts';
import { openIssuerWeb } from '../../shared/identity/issuers/issuer-web.ts';
import { openIssuers } from '../../shared/identity/issuers/issuers.ts';
import type { WithIssuers } from '../../shared/identity/tokens/client-authentication.ts';
import { endSession, introspect, revoke } from '../../shared/identity/tokens/end-tokens.ts';
import type { TokenServices } from '../../shared/identity/tokens/issue-tokens.ts';
import {
  authorizationServer,
  openidConfiguration,
  smartConfiguration,
  token,
} from '../../shared/identity/tokens/token.ts';
import { OAuthError, oauthErrorResponse } from '../../shared/identity/tokens/token-request.ts';
import { routes } from '../routes.ts';

const core = coreServices(process.env, 'token');
const keys = stageKeys(requireVariable(process.env, 'KEYS'), core.table);
const services: WithIssuers<TokenServices> = {
  ...core,
  signer: keys.signer,
  issuers: openIssuers(openIssuerWeb(core), core.now),
};

export const handler = serve(services, routes.token, (services) => ({
  token: ({ headers, bytes }) => oauthAnswer(services, token(services, { headers, body: bytes() })),
  introspect: ({ headers, bytes }) => oauthAnswer(services, introspect(services, { headers, body: bytes() })),
  revoke: ({ headers, bytes }) => oauthAnswer(services, revoke(services, { headers, body: bytes() })),
  endSession: async ({ query }) => redirectResponse(await endSession(services, query)),
  endSessionByPost: async ({ bytes }) =>
    redirectResponse(await endSession(services, readQuery(decodeUtf8(bytes() ?? Buffer.alloc(0))))),
  openidConfiguration: async () => published(openidConfiguration(services.baseUrl)),
  authorizationServer: async () => published(authorizationServer(services.baseUrl)),
  smartConfiguration: async () => published(smartConfiguration(services.baseUrl)),
  fhirSmartConfiguration: async () => published(smartConfiguration(services.baseUrl)),
  jwks: async () => {
    await services.signer();
    return published({ keys: await services.publicKeys.list() });
  },
}));

/** Refusals of these endpoints are OAuth's; every other error is ours. */
async function oauthAnswer(
  { log }: Pick<TokenServices, 'log'>,
  result: Promise<object>,
): Promise<HttpResponse> {
  try {
    return jsonResponse(200, await result, { pragma: 'no-cache' });
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    log.info('refused', { kind: error.code, reason: error.reason });
    return oauthErrorResponse(error);
  }
}

function published(document: object): HttpResponse {
  return jsonResponse(200, document, { 'cache-control': 'public, max-age=300' });
}
