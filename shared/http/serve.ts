import { type Caller, callerOf, type Right } from '../access/access-token.ts';
import { recordAccess } from '../audit/record-access.ts';
import { recordRefused } from '../audit/refused.ts';
import type { Services } from '../services.ts';
import { newBudget } from '../table/budget.ts';
import { meteredTable } from '../table/metered.ts';
import { authenticate } from './authentication.ts';
import type { HttpRequest } from './request.ts';
import type { HttpResponse } from './response.ts';
import { call, type Guard, type Handler, type LambdaHandler, routeHandler } from './route-handler.ts';
import type { Row, Rows } from './row.ts';
import { byRoute, type RequestAt } from './serve-public.ts';

/** A route's request, with its caller unless the route is public. */
type Asked<R extends Row> = RequestAt<R> &
  (R['access'] extends Right ? { caller: Caller<R['access']> } : unknown);

/** What a function does at each of its routes. */
type Handlers<R extends Rows> = { readonly [Name in keyof R]: Handler<Asked<R[Name]>> };

/** A handler without a row is an error to the compiler. */
type NoOthers<H, R> = { readonly [Name in Exclude<keyof H, keyof R>]: never };

/**
 * A function of the API: its rows of the route table, and what it does at each; one too few or too many
 * does not compile.
 * @param handlersWith what it does, made anew for each request with the services of that request. An
 *   operation never sees an event and never builds a response; when it answers a caller, `admit` has found
 *   that they have the row's right.
 */
export function serve<S extends Services, const R extends Rows, H extends Handlers<R>>(
  services: S,
  rows: R,
  handlersWith: (services: S) => H & NoOthers<H, R>,
): LambdaHandler {
  const forms = handlersWith(services);
  return byRoute(services, rows, (name, { access }) => {
    const guard = access === 'public' ? undefined : guardOf(services, access);
    // The request has what the row says: the parameters of its path, and from the guard its caller.
    const handlerWith = (own: S) => handlersWith(own)[name] as Handler<HttpRequest>;
    return routeHandler(services, forms[name], metered(services, handlerWith), {
      guard,
      ended: (request, status, caller) =>
        recordAccess(services, caller ?? request.disclosure.viewer, {
          ...request,
          status,
          ...sourceOfRequest(services, request),
        }),
    });
  });
}

/** A tenth of the budget: a request that costs more is told of in the log. */
const costlyUnits = 1000;

/** Each request works on services of its own, whose table draws on the budget of that request. */
function metered<S extends Services>(
  services: S,
  handlerWith: (own: S) => Handler<HttpRequest>,
): (request: HttpRequest & { body?: unknown }) => Promise<HttpResponse> {
  return async (request) => {
    const budget = newBudget();
    try {
      const table = meteredTable(services.table, budget);
      const { traceId, disclosure } = request;
      const handler = handlerWith({ ...services, table, traceId, disclosure });
      return await call(handler, request);
    } finally {
      const units = Math.round(budget.units);
      const { traceId, route } = request;
      if (units >= costlyUnits)
        services.log.info('costly request', { traceId, route, units, ...budget.spent });
    }
  };
}

function sourceOfRequest({ sealSource }: Services, { sourceIp, headers }: HttpRequest): { source?: string } {
  return sealSource ? { source: sealSource({ sourceIp, forwardedFor: headers['x-forwarded-for'] }) } : {};
}

function guardOf(services: Services, right: Right): Guard {
  return {
    authenticate: async (request) =>
      callerOf(await authenticate(services, request), right, request.params.projectId),
    refused(caller, { route: routeKey, params: parameters, disclosure }, status) {
      const [method = '', route = ''] = routeKey.split(' ');
      return recordRefused({ ...services, disclosure }, caller, { method, route, parameters, status });
    },
  };
}
