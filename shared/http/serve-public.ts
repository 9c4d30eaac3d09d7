import { typedEntries } from '../typed-keys.ts';
import { frontDoor } from './front-door.ts';
import type { HttpRequest } from './request.ts';
import { call, type Edge, type Handler, type LambdaHandler, routeHandler } from './route-handler.ts';
import { type PathParams, type Row, type Rows, routeKey } from './row.ts';

/** A request at a row of the route table, with the parameters that its path names. */
export type RequestAt<R extends Row> = Omit<HttpRequest, 'params'> & { params: PathParams<R['path']> };

type PublicRows = Readonly<Record<string, Row & { access: 'public' }>>;

/** A function that has public routes only, and neither table nor keys; see `serve` for the others. */
export function servePublic<const R extends PublicRows>(
  edge: Edge,
  rows: R,
  handlers: { readonly [Name in keyof R]: Handler<RequestAt<R[Name]>> },
): LambdaHandler {
  // The gateway has matched the path, so the request has the parameters that the row names.
  return byRoute(edge, rows, (name) => {
    const handler = handlers[name] as Handler<HttpRequest>;
    return routeHandler(edge, handler, (request) => call(handler, request));
  });
}

/** A Lambda handler for each row, behind the front door; the event says which is meant. */
export function byRoute<R extends Rows>(
  edge: Edge,
  rows: R,
  handlerOf: (name: keyof R & string, row: Row) => LambdaHandler,
): LambdaHandler {
  const handlers = new Map(typedEntries(rows).map(([name, row]) => [routeKey(row), handlerOf(name, row)]));
  return frontDoor(edge, async (event, context) => {
    const handler = handlers.get(event.routeKey);
    if (!handler) throw new Error(`This function does not serve ${event.routeKey}`);
    return handler(event, context);
  });
}
