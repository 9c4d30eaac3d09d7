import { coreServices } from '../../shared/core-services.ts';
import { dispatch, routeKey } from '../../shared/http/dispatch.ts';
import { authenticated, lambdaHandler } from '../../shared/http/endpoint.ts';
import { jsonResponse } from '../../shared/http/response.ts';
import { routes } from '../routes.ts';
import { readMe } from './read-me.ts';

const services = coreServices(process.env);

export const handler = dispatch({
  [routeKey(routes.me)]: lambdaHandler(
    services,
    authenticated(
      routes.me,
      'raw',
      (caller) => readMe(services, caller),
      (me) => jsonResponse(200, me),
    ),
  ),
});
