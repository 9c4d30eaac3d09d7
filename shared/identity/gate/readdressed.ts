import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { type HttpResponse, redirectResponse } from '../../carry/http/response.ts';
import { type MatchedRoute, matchRoute, type Row } from '../../carry/http/routes.ts';
import type { LambdaHandler } from './serve.ts';

/** The whole route table, and which of its routes the function of `$default` answers. */
interface Table<R extends Row> {
  routes: readonly R[];
  isOwn(route: R): boolean;
}

/**
 * Two kinds of request are meant for a route that API Gateway does not find, so that they come to the route
 * `$default`: a path with one slash at its end (it takes no route that ends so), and HEAD. Those for
 * routes of that function are answered as if they had been found; who asked another function is told the
 * path without the slash, to repeat method and body there.
 */
export function readdressed<R extends Row>(
  handler: LambdaHandler,
  { routes, isOwn }: Table<R>,
): LambdaHandler {
  return async (event, context) => {
    const { method } = event.requestContext.http;
    const path = withoutSlash(event.rawPath);
    const isSlashed = path !== event.rawPath;
    const isHead = method === 'HEAD' && event.routeKey === '$default';
    if (!isSlashed && !isHead) return handler(event, context);
    const matched = matchRoute(routes, isHead ? 'GET' : method, path);
    if (!matched || matched.routeKey === '$default') return handler(event, context);
    if (!isOwn(matched.route)) {
      // A client would take dot segments out of the path before it went there.
      const isElsewhere = isHead || /\/\.{1,2}(\/|$)/.test(path);
      return isElsewhere ? handler(event, context) : movedTo(path, event.rawQueryString);
    }
    const answer = await handler(addressed(event, path, matched), context);
    return isHead ? { ...answer, body: '', isBase64Encoded: false } : answer;
  };
}

/** Two slashes name an empty segment, which is another path. */
function withoutSlash(path: string): string {
  return /[^/]\/$/.test(path) ? path.slice(0, -1) : path;
}

function addressed(
  event: APIGatewayProxyEventV2,
  path: string,
  { route, routeKey, pathParameters }: MatchedRoute,
): APIGatewayProxyEventV2 {
  const { requestContext } = event;
  const http = { ...requestContext.http, method: route.method, path };
  return {
    ...event,
    routeKey,
    rawPath: path,
    pathParameters,
    requestContext: { ...requestContext, routeKey, http },
  };
}

/** Only a path of the route table gets here: it begins with a literal segment, and stays on this origin. */
function movedTo(path: string, query: string): HttpResponse {
  const location = path.split('/').map(encodeURIComponent).join('/');
  return { ...redirectResponse(query ? `${location}?${query}` : location), statusCode: 308 };
}
