import { coreServices } from '../../shared/composition/core-services.ts';
import { stageKeys } from '../../shared/composition/stage-keys.ts';
import { requireVariable } from '../../shared/env.ts';
import { decodeUtf8 } from '../../shared/http/request.ts';
import { type HttpResponse, jsonResponse, redirectResponse } from '../../shared/http/response.ts';
import { serve } from '../../shared/http/serve.ts';
import { openIssuerWeb } from '../../shared/issuer/issuer-web.ts';
import { openIssuers } from '../../shared/issuer/issuers.ts';
import { routes } from '../routes.ts';
import type { WithIssuers } from './client-assertion.ts';
import { authorizationServer, openidConfiguration, smartConfiguration } from './discovery.ts';
import { endSession } from './end-session.ts';
import { introspect } from './introspect.ts';
import type { TokenServices } from './issue-tokens.ts';
import { OAuthError, oauthErrorResponse } from './oauth-error.ts';
import { revoke } from './revoke.ts';
import { supportedGrants, token } from './token.ts';

const core = coreServices(process.env);
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
    redirectResponse(await endSession(services, new URLSearchParams(decodeUtf8(bytes() ?? Buffer.alloc(0))))),
  openidConfiguration: async () => published(openidConfiguration(services.baseUrl, supportedGrants)),
  authorizationServer: async () => published(authorizationServer(services.baseUrl, supportedGrants)),
  smartConfiguration: async () => published(smartConfiguration(services.baseUrl, supportedGrants)),
  fhirSmartConfiguration: async () => published(smartConfiguration(services.baseUrl, supportedGrants)),
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
