import type { LambdaHandler } from './endpoint.ts';

/** For a function that serves several routes: calls the handler of the event's own route. */
export function dispatch(handlers: Record<string, LambdaHandler>): LambdaHandler {
  return async (event, context) => {
    const handler = handlers[event.routeKey];
    if (!handler) throw new Error(`This function does not serve ${event.routeKey}`);
    return handler(event, context);
  };
}

/** A row of the route table as API Gateway writes it in `event.routeKey`. */
export function routeKey(route: { method: string; path: string }): string {
  return route.path === '$default' ? route.path : `${route.method} ${route.path}`;
}
