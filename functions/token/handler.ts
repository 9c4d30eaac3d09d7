import { coreServices } from '../../shared/core-services.ts';
import { requireVariable } from '../../shared/env.ts';
import { dispatch, routeKey } from '../../shared/http/dispatch.ts';
import { lambdaHandler, open } from '../../shared/http/endpoint.ts';
import { jsonResponse } from '../../shared/http/response.ts';
import { stageKeys } from '../../shared/stage-keys.ts';
import { routes } from '../routes.ts';
import type { TokenServices } from './issue-tokens.ts';
import { OAuthError, oauthErrorResponse } from './oauth-error.ts';
import { token } from './token.ts';

const core = coreServices(process.env);
const keys = stageKeys(requireVariable(process.env, 'KEYS'), core.table);
const services: TokenServices = { ...core, signer: keys.signer };

export const handler = dispatch({
  [routeKey(routes.token)]: lambdaHandler(
    services,
    open(
      routes.token,
      'raw',
      (request) =>
        token(services, { headers: request.headers, body: request.bytes() }).catch((error: unknown) => {
          if (error instanceof OAuthError) return error;
          throw error;
        }),
      (result) =>
        result instanceof OAuthError
          ? oauthErrorResponse(result)
          : jsonResponse(200, result, { pragma: 'no-cache' }),
    ),
  ),
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
