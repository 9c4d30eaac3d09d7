import { coreServices } from '../../shared/core-services.ts';
import { requireVariable } from '../../shared/env.ts';
import { dispatch, routeKey } from '../../shared/http/dispatch.ts';
import { type LambdaHandler, lambdaHandler, open } from '../../shared/http/endpoint.ts';
import { type HttpResponse, jsonResponse } from '../../shared/http/response.ts';
import { openIssuerWeb } from '../../shared/issuer/issuer-web.ts';
import { openIssuers } from '../../shared/issuer/issuers.ts';
import { stageKeys } from '../../shared/stage-keys.ts';
import { routes } from '../routes.ts';
import type { WithIssuers } from './client-assertion.ts';
import { authorizationServer, openidConfiguration, smartConfiguration } from './discovery.ts';
import { introspect } from './introspect.ts';
import type { TokenServices } from './issue-tokens.ts';
import { OAuthError, oauthErrorResponse } from './oauth-error.ts';
import { supportedGrants, token } from './token.ts';

const core = coreServices(process.env);
const keys = stageKeys(requireVariable(process.env, 'KEYS'), core.table);
const services: WithIssuers<TokenServices> = {
  ...core,
  signer: keys.signer,
  issuers: openIssuers(openIssuerWeb(core), core.now),
};

export const handler = dispatch({
  [routeKey(routes.token)]: lambdaHandler(
    services,
    open(
      routes.token,
      'raw',
      (request) => token(services, { headers: request.headers, body: request.bytes() }).catch(oauthError),
      oauthAnswer,
    ),
  ),
  [routeKey(routes.introspect)]: lambdaHandler(
    services,
    open(
      routes.introspect,
      'raw',
      (request) =>
        introspect(services, { headers: request.headers, body: request.bytes() }).catch(oauthError),
      oauthAnswer,
    ),
  ),
  [routeKey(routes.openidConfiguration)]: published(routes.openidConfiguration, openidConfiguration),
  [routeKey(routes.authorizationServer)]: published(routes.authorizationServer, authorizationServer),
  [routeKey(routes.smartConfiguration)]: published(routes.smartConfiguration, smartConfiguration),
  [routeKey(routes.fhirSmartConfiguration)]: published(routes.fhirSmartConfiguration, smartConfiguration),
  [routeKey(routes.jwks)]: lambdaHandler(
    services,
    open(
      routes.jwks,
      'raw',
      async () => {
        await services.signer();
        return { keys: await services.publicKeys.list() };
      },
      (jwks) => jsonResponse(200, jwks, { 'cache-control': 'public, max-age=300' }),
    ),
  ),
});

/** Errors of these endpoints are OAuth's; every other one is ours. */
function oauthError(error: unknown): OAuthError {
  if (!(error instanceof OAuthError)) throw error;
  services.log.info('refused', { kind: error.code, reason: error.reason });
  return error;
}

function oauthAnswer(result: object): HttpResponse {
  if (result instanceof OAuthError) return oauthErrorResponse(result);
  return jsonResponse(200, result, { pragma: 'no-cache' });
}

function published(
  row: { access: 'public' },
  describe: (baseUrl: string, supported: typeof supportedGrants) => object,
): LambdaHandler {
  const document = describe(services.baseUrl, supportedGrants);
  return lambdaHandler(
    services,
    open(
      row,
      'raw',
      async () => document,
      () => jsonResponse(200, document, { 'cache-control': 'public, max-age=300' }),
    ),
  );
}
